//! The template's functions on the emulated Lambda service, each with its time-out, memory size and reserved
//! concurrency.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use local_lambda::{AsyncPolicy, Lambda, Limits, Pace, Processes, Schedule, gateway::Target};
use serde_json::Value;
use template::{Function, Template, resolve};
use tokio::{process::Command, sync::watch};

use crate::{Error, paths::Paths};

/// How long an idle process is kept. Lambda keeps them longer, but doesn't take the memory from this machine.
const IDLE: Duration = Duration::from_secs(60);

/// Longest wait for a scheduled run before the next one starts.
const SCHEDULED_RUN: Duration = Duration::from_secs(75);

/// Pauses before invocations that were refused for want of concurrency are sent again, as SDKs do, in milliseconds.
const THROTTLE_PAUSES: [u64; 8] = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400];

/// The emulated Lambda service, with its functions; dropping it stops them.
pub struct Emulator {
    lambda: Lambda,
    logs: PathBuf,
    dead_letters: PathBuf,
    paths: Paths,
    functions: BTreeMap<String, Function>,
}

impl Emulator {
    /// Starts it on `port` with no function running. `name` names its file of dead letters in `logs`.
    pub async fn start(paths: &Paths, logs: &Path, name: &str, port: u16, template: &Template) -> Result<Self, Error> {
        fs::create_dir_all(logs)?;
        let functions = template.functions()?.into_iter();
        Ok(Self {
            lambda: Lambda::start(port, Limits { idle: IDLE, ..Limits::default() }).await?,
            logs: logs.to_owned(),
            dead_letters: logs.join(format!("{name}-dead-letters.jsonl")),
            paths: paths.clone(),
            functions: functions.map(|function| (function.binary.clone(), function)).collect(),
        })
    }

    /// Base URL of the Invoke API.
    pub fn url(&self) -> &str {
        self.lambda.url()
    }

    /// The functions, for a gateway in this process.
    pub fn target(&self) -> Target {
        Target::Local(self.lambda.invoker())
    }

    /// The ids of the functions' processes, as they change.
    pub fn processes(&self) -> watch::Receiver<Processes> {
        self.lambda.processes()
    }

    /// Lets a function be invoked, with exactly this environment and at most `instances` processes. The first one
    /// starts with the first request.
    pub fn run(&mut self, binary: &str, instances: usize, environment: &BTreeMap<String, String>) -> Result<(), Error> {
        let configured = self.functions.get(binary).ok_or_else(|| format!("template.yaml: no function {binary}"))?;
        let program = self.paths.binary(binary);
        if !program.exists() {
            return Err(format!("{} is missing: run make binaries", program.display()).into());
        }
        let mut function = local_lambda::Function::new(binary, program);
        function.environment.clone_from(environment);
        function.log = Some(self.logs.join(format!("{binary}.log")));
        function.timeout = Duration::from_secs(configured.timeout);
        function.memory_size = configured.memory_size;
        function.reserved_concurrency = configured.reserved_concurrency;
        function.max_instances = Some(instances);
        function.asynchronous = AsyncPolicy {
            max_retries: configured.max_retries,
            dead_letters: Some(self.dead_letters.clone()),
            ..AsyncPolicy::default()
        };
        self.lambda.add(function);
        Ok(())
    }

    /// Kills one instance of a function with SIGKILL; `pick` chooses which. It is replaced like any that ends.
    pub async fn crash(&self, binary: &str, pick: usize) -> Result<(), Error> {
        let ids = self.lambda.processes().borrow().get(binary).cloned().unwrap_or_default();
        if let Some(id) = ids.get(pick % ids.len().max(1)) {
            // The instance may have just ended on its own, so the status doesn't count.
            Command::new("kill").args(["-KILL", &id.to_string()]).stderr(Stdio::null()).status().await?;
        }
        Ok(())
    }

    /// Invokes a function again and again, with a pause of `every`: more often than its schedule would, and never while
    /// its last run goes on.
    pub fn schedule(&mut self, binary: &str, every: Duration) {
        self.schedule_with(binary, None, every);
    }

    /// [`Emulator::schedule`] with a payload in place of the scheduler's own event.
    pub fn schedule_with(&mut self, binary: &str, input: Option<String>, every: Duration) {
        let pace = Pace::Pause { pause: every, patience: SCHEDULED_RUN };
        self.lambda.schedule(Schedule { function: binary.to_owned(), input: input.map(Into::into), pace });
    }
}

/// Invokes a function directly, without a route.
pub struct Invocation {
    url: String,
}

impl Invocation {
    /// Addresses `binary` at the emulator at `url`.
    pub fn of(url: &str, binary: &str) -> Self {
        Self { url: format!("{url}/2015-03-31/functions/{binary}/invocations") }
    }

    /// Sends an event and returns the function's result. While the function is at its concurrency, this waits and tries
    /// again.
    pub async fn send(&self, event: &Value) -> Result<Value, Error> {
        let client = reqwest::Client::new();
        let mut pauses = THROTTLE_PAUSES.into_iter();
        loop {
            let answer = client.post(&self.url).json(event).send().await?;
            let (status, is_error) = (answer.status(), answer.headers().contains_key("x-amz-function-error"));
            if status.as_u16() == 429
                && let Some(pause) = pauses.next()
            {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                continue;
            }
            let text = answer.text().await?;
            if !status.is_success() || is_error {
                return Err(format!("{} failed with {status}: {text}", self.url).into());
            }
            return Ok(serde_json::from_str(&text)?);
        }
    }
}

/// A function's environment: the `aws` variables and the template's, with references resolved by `names`.
pub fn environment(
    function: &Function,
    names: &BTreeMap<String, String>,
    aws: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<BTreeMap<String, String>, Error> {
    let mut environment: BTreeMap<_, _> = aws.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    // The access key id tells the recorder which function calls, as roles do in an account.
    environment.insert("AWS_ACCESS_KEY_ID".to_owned(), function.binary.clone());
    for (name, value) in &function.environment {
        environment.insert(name.clone(), resolve(value, names)?);
    }
    Ok(environment)
}
