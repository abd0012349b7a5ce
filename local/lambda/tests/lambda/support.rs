use std::{path::PathBuf, time::Duration};

use local_lambda::{Function, Invocation, Lambda, Limits, Outcome, Refusal};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

/// Longest wait: that of `local::patience`, which depends on this crate.
pub const PATIENCE: Duration = Duration::from_secs(180);

/// The probe.
pub fn probe() -> Function {
    example("probe")
}

/// A function that `cargo test` builds with the examples.
pub fn example(name: &str) -> Function {
    let tests = std::env::current_exe().expect("a path");
    let target = tests.parent().and_then(|deps| deps.parent()).expect("cargo's folder");
    let mut function = Function::new(name, target.join("examples").join(name));
    assert!(function.program.exists(), "{} is missing: cargo test --package local-lambda", function.program.display());
    function.timeout = PATIENCE;
    function
}

/// A service with the probe, as `change` configures it.
pub async fn service(limits: Limits, change: impl FnOnce(&mut Function)) -> Lambda {
    let lambda = Lambda::start(0, limits).await.expect("a free port");
    let mut function = probe();
    change(&mut function);
    lambda.add(function);
    lambda
}

/// An answer of the Invoke API.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
}

impl Answer {
    pub async fn of(request: reqwest::RequestBuilder) -> Self {
        let answer = request.send().await.expect("an answer");
        let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
        let body = answer.bytes().await.expect("a body");
        let text = || Value::String(String::from_utf8_lossy(&body).into_owned());
        Self { status, headers, body: serde_json::from_slice(&body).unwrap_or_else(|_| text()) }
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Invokes the probe over HTTP.
pub async fn invoke(lambda: &Lambda, event: &Value) -> Answer {
    Answer::of(request(lambda, "probe").body(event.to_string())).await
}

pub fn request(lambda: &Lambda, function: &str) -> reqwest::RequestBuilder {
    reqwest::Client::new().post(format!("{}/2015-03-31/functions/{function}/invocations", lambda.url()))
}

/// The probe's process ids.
pub fn processes(lambda: &Lambda) -> Vec<u32> {
    processes_of(lambda, "probe")
}

/// A function's process ids.
pub fn processes_of(lambda: &Lambda, function: &str) -> Vec<u32> {
    lambda.processes().borrow().get(function).cloned().unwrap_or_default()
}

/// Whether a process runs.
pub fn is_alive(id: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

/// Waits for a state.
pub async fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let held = async {
        while !is_so() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, held).await.is_ok(), "not within {} s: {what}", PATIENCE.as_secs());
}

/// Holds invocations of the probe until it is opened.
pub struct Gate(PathBuf);

impl Gate {
    /// A closed one, with a name of its own.
    pub fn closed(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("local-lambda-{}-gate-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    /// The event of an invocation that it holds.
    pub fn event(&self) -> Value {
        json!({"do": "hold", "gate": self.0})
    }

    /// The query of a request that it holds.
    pub fn query(&self) -> String {
        format!("do=hold&gate={}", self.0.display())
    }

    /// Starts an invocation that it holds.
    pub fn hold(&self, lambda: &Lambda, function: &str) -> JoinHandle<Result<Outcome, Refusal>> {
        let (invoker, invocation) = (lambda.invoker(), Invocation::new(function, self.event().to_string()));
        tokio::spawn(async move { invoker.invoke(invocation).await })
    }

    /// How many invocations have reached it.
    pub fn reached(&self) -> usize {
        let names = std::fs::read_dir(&self.0).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        names.filter(|name| name != "open").count()
    }

    /// Waits until so many invocations have reached it.
    pub async fn holds(&self, count: usize) {
        wait_until(&format!("{count} at the gate"), || self.reached() >= count).await;
    }

    /// Lets all go on, those to come as well.
    pub fn open(&self) {
        std::fs::write(self.0.join("open"), "").expect("the gate opens");
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A file of this test run.
pub fn scratch(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("local-lambda-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}
