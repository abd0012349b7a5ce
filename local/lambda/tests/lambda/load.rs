//! Many requests at once, whose clients give up.

use std::time::{Duration, Instant};

use local_lambda::{
    Limits,
    gateway::{Gateway, HttpApi, Route, Target},
};
use tokio::task::JoinSet;

use crate::support::{processes, service};

const REQUESTS: usize = 2_000;

/// Requests that this process may have open at once, each with two connections' ends in it.
async fn most_at_once() -> usize {
    let limit = tokio::process::Command::new("sh").args(["-c", "ulimit -n"]).output().await.expect("a limit");
    let limit = String::from_utf8_lossy(&limit.stdout).trim().parse().unwrap_or(usize::MAX);
    (limit.saturating_sub(200) / 2).min(REQUESTS)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_thousand_requests_at_once_each_is_answered_or_refused_though_half_give_up() {
    let limits = Limits { instances: 16, ..Limits::default() };
    let lambda = service(limits, |_| {}).await;
    let route = Route { method: "GET".to_owned(), path: "/x".to_owned(), function: "probe".to_owned(), throttle: None };
    let api = HttpApi {
        stage: "api".to_owned(),
        routes: vec![route],
        default_function: None,
        default_throttle: None,
        cors: None,
        home: None,
        timeout: Duration::from_secs(30),
    };
    let gateway = Gateway::start(0, api, Target::Local(lambda.invoker())).await.expect("a free port");
    let http = reqwest::Client::new();
    let url = format!("{}/api/x?do=wait&ms=20", gateway.url);
    let requests = most_at_once().await;
    let (mut clients, started) = (JoinSet::new(), Instant::now());
    for number in 0..requests {
        let mut request = http.get(&url);
        if number % 2 == 1 {
            request = request.timeout(Duration::from_millis(100 + u64::try_from(number).expect("small") / 10));
        }
        clients.spawn(async move { (number, request.send().await.map(|answer| answer.status().as_u16())) });
    }
    let (mut answered, mut refused, mut gave_up) = (0, 0, 0);
    while let Some(ended) = clients.join_next().await {
        match ended.expect("a client") {
            (_, Ok(200)) => answered += 1,
            // The account's concurrency is a thousand.
            (_, Ok(503)) => refused += 1,
            (number, Err(error)) if number % 2 == 1 && error.is_timeout() => gave_up += 1,
            other => panic!("{other:?}"),
        }
    }
    println!("{answered} answered, {refused} refused, {gave_up} gave up in {:?}", started.elapsed());
    assert_eq!(answered + refused + gave_up, requests);
    assert!(answered >= 100, "{answered}");
    tokio::time::sleep(Duration::from_secs(1)).await;
    let started = Instant::now();
    for _ in 0..20 {
        assert_eq!(http.get(&url).send().await.expect("an answer").status(), 200);
    }
    println!("20 more in {:?}", started.elapsed());
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    assert!((1..=16).contains(&processes(&lambda).len()));
}
