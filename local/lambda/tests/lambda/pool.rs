//! How many instances there are, and what becomes of them.

use std::time::{Duration, Instant, SystemTime};

use local_lambda::{Function, Invocation, Limits, Outcome, Refusal};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{Answer, Gate, invoke, is_alive, probe, processes, request, scratch, service, wait_until};

fn waiting(milliseconds: u64) -> Value {
    json!({"do": "wait", "ms": milliseconds})
}

fn error_type(outcome: Result<Outcome, Refusal>) -> (String, String) {
    let Ok(Outcome::Failed(error)) = outcome else { panic!("no failure: {outcome:?}") };
    let error: Value = serde_json::from_slice(&error).expect("JSON");
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    (text("errorType"), text("errorMessage"))
}

#[tokio::test]
async fn one_instance_serves_one_request_after_another() {
    let lambda = service(Limits::default(), |_| {}).await;
    let first = invoke(&lambda, &json!({})).await.body["process"].clone();
    for _ in 0..20 {
        assert_eq!(invoke(&lambda, &json!({})).await.body["process"], first);
    }
    assert_eq!(processes(&lambda).len(), 1);
}

#[tokio::test]
async fn replaced_program_answers_the_next_request() {
    let folder = std::env::temp_dir().join(format!("replaced-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let program = folder.join("probe");
    // As cargo does: a new file takes the place of the old one.
    let build = || {
        let (new, built) = (folder.join("new"), probe().program);
        std::fs::copy(built, &new).and_then(|_| std::fs::rename(&new, &program)).expect("a copy");
        // A new file has the time of its own creation.
        std::fs::File::options().write(true).open(&program).and_then(|file| file.set_modified(SystemTime::now()))
    };
    build().expect("a program");
    let lambda = service(Limits::default(), |function| function.program = program.clone()).await;
    let answered_by = async || {
        let process = invoke(&lambda, &json!({})).await.body["process"].as_u64();
        u32::try_from(process.expect("a process")).expect("an id")
    };
    let old = answered_by().await;
    let gate = Gate::closed("replaced");
    let running = gate.hold(&lambda, "probe");
    gate.holds(1).await;
    build().expect("a program");
    assert_ne!(answered_by().await, old);
    gate.open();
    let Ok(Ok(Outcome::Returned(body))) = running.await else { panic!("the running request isn't answered") };
    assert_eq!(serde_json::from_slice::<Value>(&body).expect("JSON")["process"], old);
    let new = answered_by().await;
    wait_until("the replaced process ends", || !is_alive(old)).await;
    std::fs::remove_file(&program).expect("a program");
    assert_eq!(answered_by().await, new, "a build that hasn't ended takes nothing away");
    std::fs::remove_dir_all(&folder).expect("a folder");
}

#[tokio::test]
async fn each_of_several_requests_at_once_has_its_own_instance() {
    let lambda = service(Limits::default(), |_| {}).await;
    let gate = Gate::closed("several");
    let running: Vec<_> = (0..12).map(|_| gate.hold(&lambda, "probe")).collect();
    gate.holds(12).await;
    gate.open();
    let mut seen = Vec::new();
    for held in running {
        let outcome = held.await;
        let Ok(Ok(Outcome::Returned(body))) = outcome else { panic!("{outcome:?}") };
        seen.push(serde_json::from_slice::<Value>(&body).expect("JSON")["process"].as_u64());
    }
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 12);
}

#[tokio::test]
async fn requests_beyond_the_reserved_concurrency_are_refused() {
    let lambda = service(Limits::default(), |function| function.reserved_concurrency = Some(2)).await;
    let gate = Gate::closed("reserved");
    let held = [gate.hold(&lambda, "probe"), gate.hold(&lambda, "probe")];
    gate.holds(2).await;
    let refused = lambda.invoker().invoke(Invocation::new("probe", "{}")).await;
    assert_eq!(refused, Err(Refusal::ReservedConcurrency));
    let refused = invoke(&lambda, &json!({})).await;
    assert_eq!((refused.status, refused.header("x-amzn-errortype")), (429, "TooManyRequestsException"));
    assert_eq!(refused.body["Reason"], "ReservedFunctionConcurrentInvocationLimitExceeded");
    gate.open();
    for held in held {
        assert!(matches!(held.await, Ok(Ok(Outcome::Returned(_)))));
    }
    for _ in 0..5 {
        assert_eq!(invoke(&lambda, &json!({})).await.status, 200, "one after another is never too many");
    }
}

#[tokio::test]
async fn reserved_concurrency_is_taken_from_the_accounts() {
    let lambda = service(Limits { concurrency: 3, ..Limits::default() }, |function| {
        function.reserved_concurrency = Some(2);
    })
    .await;
    let mut other = probe();
    other.name = "other".to_owned();
    lambda.add(other);
    let gate = Gate::closed("account");
    let held = ["other", "probe", "probe"].map(|name| gate.hold(&lambda, name));
    gate.holds(3).await;
    let refused = lambda.invoker().invoke(Invocation::new("other", "{}")).await;
    assert_eq!(refused, Err(Refusal::AccountConcurrency));
    gate.open();
    for held in held {
        assert!(matches!(held.await, Ok(Ok(Outcome::Returned(_)))));
    }
}

#[tokio::test]
async fn an_instance_that_crashes_is_replaced() {
    let lambda = service(Limits::default(), |_| {}).await;
    let before = invoke(&lambda, &json!({})).await.body["process"].clone();
    let (kind, message) = error_type(lambda.invoker().invoke(Invocation::new("probe", r#"{"do": "crash"}"#)).await);
    assert_eq!(kind, "Runtime.ExitError");
    assert!(message.ends_with("Error: Runtime exited with error: exit status 1"), "{message}");
    let after = invoke(&lambda, &json!({})).await;
    assert_eq!(after.status, 200);
    assert_ne!(after.body["process"], before);
}

#[tokio::test]
async fn an_idle_instance_that_is_killed_is_replaced() {
    let lambda = service(Limits::default(), |_| {}).await;
    for _ in 0..3 {
        assert_eq!(invoke(&lambda, &json!({})).await.header("x-amz-function-error"), "");
        let id = processes(&lambda)[0];
        let status = tokio::process::Command::new("kill").args(["-KILL", &id.to_string()]).status().await;
        assert!(status.expect("kill").success());
        let answer = invoke(&lambda, &json!({})).await;
        // The request may still have reached the instance just before it died.
        let is_lost = answer.body["errorType"] == "Runtime.ExitError";
        assert!(is_lost || answer.body["process"] != id, "{answer:?}");
    }
}

#[tokio::test]
async fn an_instance_is_killed_at_its_time_out_and_replaced() {
    let lambda = service(Limits::default(), |_| {}).await;
    let first = invoke(&lambda, &json!({})).await.body["process"].as_u64().expect("an id");
    let hasty = Function { timeout: Duration::from_millis(100), ..probe() };
    lambda.add(hasty);
    let (gate, started) = (Gate::closed("time-out"), Instant::now());
    let (kind, message) = error_type(lambda.invoker().invoke(Invocation::new("probe", gate.event().to_string())).await);
    assert!(started.elapsed() >= Duration::from_millis(100), "not before");
    assert_eq!(kind, "Sandbox.Timedout");
    assert!(message.ends_with("Error: Task timed out after 0.10 seconds"), "{message}");
    let id = u32::try_from(first).expect("an id");
    wait_until("the process is gone", || !is_alive(id)).await;
    lambda.add(probe());
    assert_eq!(invoke(&lambda, &json!({})).await.header("x-amz-function-error"), "");
}

#[tokio::test]
async fn a_function_that_cannot_start_fails_each_request_and_starts_no_loop() {
    let log = scratch("start.log");
    let lambda = service(Limits::default(), |function| {
        function.environment = [("START".to_owned(), "fails".to_owned())].into();
        function.log = Some(log.clone());
    })
    .await;
    for _ in 0..3 {
        let (kind, message) = error_type(lambda.invoker().invoke(Invocation::new("probe", "{}")).await);
        assert_eq!(kind, "Runtime.ExitError");
        assert!(message.ends_with("exit status 3"), "{message}");
    }
    let starts = || std::fs::read_to_string(&log).expect("a log").lines().count();
    wait_until("three starts", || starts() >= 3).await;
    // Another function starts meanwhile and answers, which takes longer than to fail at it.
    lambda.add(Function { name: "other".to_owned(), ..probe() });
    let answer = Answer::of(request(&lambda, "other")).await;
    assert_eq!((answer.status, starts()), (200, 3));
    let lambda = service(Limits::default(), |function| function.program = "/nowhere/at-all".into()).await;
    let (kind, message) = error_type(lambda.invoker().invoke(Invocation::new("probe", "{}")).await);
    assert!(kind == "Runtime.ExitError" && message.contains("/nowhere/at-all"), "{message}");
}

#[tokio::test]
async fn idle_instances_are_stopped() {
    let lambda = service(Limits { idle: Duration::from_millis(300), ..Limits::default() }, |_| {}).await;
    let id = invoke(&lambda, &json!({})).await.body["process"].as_u64().expect("an id");
    let id = u32::try_from(id).expect("an id");
    wait_until("the process is gone", || !is_alive(id) && processes(&lambda).is_empty()).await;
    assert_eq!(invoke(&lambda, &json!({})).await.status, 200);
}

#[tokio::test]
async fn at_the_machines_limit_requests_wait_and_functions_share() {
    let lambda = service(Limits { instances: 2, ..Limits::default() }, |_| {}).await;
    let mut other = probe();
    other.name = "other".to_owned();
    lambda.add(other);
    let mut running = JoinSet::new();
    for name in ["probe"; 8].into_iter().chain(["other"; 2]) {
        let invoker = lambda.invoker();
        running.spawn(async move { invoker.invoke(Invocation::new(name, waiting(50).to_string())).await });
    }
    while let Some(outcome) = running.join_next().await {
        assert!(matches!(outcome, Ok(Ok(Outcome::Returned(_)))), "{outcome:?}");
        assert!(lambda.processes().borrow().values().map(Vec::len).sum::<usize>() <= 2);
    }
}

#[tokio::test]
async fn a_request_withdrawn_before_it_has_an_instance_is_not_run_and_frees_its_place() {
    let lambda = service(Limits { concurrency: 2, ..Limits::default() }, |function| {
        function.max_instances = Some(1);
    })
    .await;
    let invoker = lambda.invoker();
    let run = |event: Value| invoker.invoke(Invocation::new("probe", event.to_string()));
    let (gate, never) = (Gate::closed("busy"), Gate::closed("withdrawn"));
    let busy = gate.hold(&lambda, "probe");
    gate.holds(1).await;
    assert!(tokio::time::timeout(Duration::from_millis(50), run(never.event())).await.is_err());
    gate.open();
    assert!(matches!(busy.await, Ok(Ok(Outcome::Returned(_)))));
    assert!(run(json!({})).await.is_ok());
    let (first, second) = tokio::join!(run(waiting(1)), run(waiting(1)));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(never.reached(), 0);
}

#[tokio::test]
async fn no_process_outlives_the_service() {
    let lambda = service(Limits::default(), |_| {}).await;
    let gate = Gate::closed("outlived");
    let busy = gate.hold(&lambda, "probe");
    gate.holds(1).await;
    invoke(&lambda, &json!({})).await;
    wait_until("two processes", || processes(&lambda).len() == 2).await;
    let ids = processes(&lambda);
    drop(lambda);
    assert_eq!(busy.await.expect("the task ends"), Err(Refusal::Unavailable));
    wait_until("both are gone", || !ids.iter().any(|id| is_alive(*id))).await;
}

#[tokio::test]
async fn no_process_outlives_a_service_that_is_killed() {
    use tokio::io::{AsyncBufReadExt, BufReader};

    let host = probe().program.with_file_name("host");
    let mut host = tokio::process::Command::new(host)
        .arg(probe().program)
        .stdout(std::process::Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("the host starts");
    let mut lines = BufReader::new(host.stdout.take().expect("its output")).lines();
    let line = lines.next_line().await.expect("readable").expect("a line");
    let ids: Vec<u32> = line.split_whitespace().map(|id| id.parse().expect("an id")).collect();
    assert!(ids.len() == 2 && ids.iter().all(|id| is_alive(*id)), "one idle, one busy: {line}");
    host.kill().await.expect("killed");
    wait_until("both are gone", || !ids.iter().any(|id| is_alive(*id))).await;
}
