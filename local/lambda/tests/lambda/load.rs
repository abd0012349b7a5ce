//! Many requests at once, whose clients give up.

use std::time::Duration;

use local_lambda::{
    Invocation, Lambda, Limits, Outcome,
    gateway::{Gateway, HttpApi, Route, Target},
};
use tokio::task::JoinSet;

use crate::support::{Gate, PATIENCE, processes, service};

const REQUESTS: usize = 2_000;

/// Requests that this process may have open at once, each with two connections' ends in it.
async fn most_at_once() -> usize {
    let limit = tokio::process::Command::new("sh").args(["-c", "ulimit -n"]).output().await.expect("a limit");
    let limit = String::from_utf8_lossy(&limit.stdout).trim().parse().unwrap_or(usize::MAX);
    (limit.saturating_sub(200) / 2).min(REQUESTS)
}

/// Whether so many invocations at once all have a place.
async fn are_free(lambda: &Lambda, places: usize) -> bool {
    let mut crowd = JoinSet::new();
    for _ in 0..places {
        let invoker = lambda.invoker();
        crowd.spawn(async move { invoker.invoke(Invocation::new("probe", "{}")).await });
    }
    crowd.join_all().await.iter().all(|outcome| matches!(outcome, Ok(Outcome::Returned(_))))
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
        outside: None,
        cors: None,
        timeout: PATIENCE,
    };
    let gateway = Gateway::start(0, api, Target::Local(lambda.invoker())).await.expect("a free port");
    let http = reqwest::Client::new();
    let gate = Gate::closed("load");
    let url = format!("{}/api/x?{}", gateway.url, gate.query());
    let requests = most_at_once().await;
    let (mut patient, mut hasty) = (JoinSet::new(), JoinSet::new());
    for number in 0..requests {
        let request = http.get(&url);
        if number % 2 == 1 {
            let request = request.timeout(Duration::from_millis(100 + u64::try_from(number).expect("small") / 10));
            hasty.spawn(async move { request.send().await.map(|answer| answer.status().as_u16()) });
        } else {
            patient.spawn(async move { request.send().await.map(|answer| answer.status().as_u16()) });
        }
    }
    // The account's concurrency is a thousand, beyond which requests are refused.
    let (mut answered, mut refused, mut gave_up) = (0, 0, 0);
    while let Some(ended) = hasty.join_next().await {
        match ended.expect("a client") {
            Ok(503) => refused += 1,
            Err(error) if error.is_timeout() => gave_up += 1,
            other => panic!("{other:?}"),
        }
    }
    gate.open();
    while let Some(ended) = patient.join_next().await {
        match ended.expect("a client") {
            Ok(200) => answered += 1,
            Ok(503) => refused += 1,
            other => panic!("{other:?}"),
        }
    }
    println!("{answered} answered, {refused} refused, {gave_up} gave up");
    assert_eq!(answered + refused + gave_up, requests);
    assert!(answered >= 100 && gave_up >= 1, "{answered} and {gave_up}");
    // A place is free again once the connection of the client that gave up has ended.
    let all_free = async { while !are_free(&lambda, limits.concurrency).await {} };
    assert!(tokio::time::timeout(PATIENCE, all_free).await.is_ok(), "those who gave up keep their places");
    for _ in 0..20 {
        assert_eq!(http.get(&url).send().await.expect("an answer").status(), 200);
    }
    assert!((1..=16).contains(&processes(&lambda).len()));
}
