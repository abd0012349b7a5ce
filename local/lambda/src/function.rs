//! A function's configuration.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    path::PathBuf,
    process::Stdio,
    time::{Duration, SystemTime},
};

use tokio::process::Command;

use crate::spawner;

/// A function: a program that asks the runtime API for its requests.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name, by which it is invoked.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its whole environment, apart from Lambda's own variables.
    pub environment: BTreeMap<String, String>,
    /// File that its output is appended to; `None` drops the output.
    pub log: Option<PathBuf>,
    /// Longest run of one invocation.
    pub timeout: Duration,
    /// Memory size in MB, for the environment; not enforced.
    pub memory_size: u32,
    /// Most invocations at a time, taken from the account's; `None` shares the account's with all others.
    pub reserved_concurrency: Option<usize>,
    /// Most processes at a time; invocations beyond them wait. `None` for as many as the service may have.
    pub max_instances: Option<usize>,
    /// What happens to asynchronous invocations that fail.
    pub asynchronous: AsyncPolicy,
}

/// Retries of asynchronous invocations.
#[derive(Clone, Debug)]
pub struct AsyncPolicy {
    /// Retries after an error of the function: 0 to 2.
    pub max_retries: u32,
    /// Pause before the first retry; the second waits twice as long.
    pub retry_pause: Duration,
    /// Age at which an event is dropped, even if retries are left.
    pub max_age: Duration,
    /// File that records of events given up are appended to, one JSON object a line.
    pub dead_letters: Option<PathBuf>,
}

impl Default for AsyncPolicy {
    /// Lambda's: two retries, after one and two minutes, within six hours.
    fn default() -> Self {
        Self {
            max_retries: 2,
            retry_pause: Duration::from_secs(60),
            max_age: Duration::from_secs(6 * 60 * 60),
            dead_letters: None,
        }
    }
}

impl Function {
    /// A function with Lambda's defaults: 3 seconds, 128 MB, the account's concurrency, no environment.
    pub fn new(name: &str, program: impl Into<PathBuf>) -> Self {
        Self {
            name: name.to_owned(),
            program: program.into(),
            environment: BTreeMap::new(),
            log: None,
            timeout: Duration::from_secs(3),
            memory_size: 128,
            reserved_concurrency: None,
            max_instances: None,
            asynchronous: AsyncPolicy::default(),
        }
    }

    /// When the program was built; `None` while a build replaces it.
    pub(crate) fn built(&self) -> Option<SystemTime> {
        fs::metadata(&self.program).and_then(|program| program.modified()).ok()
    }

    /// The command that starts an instance, whose runtime API is at `runtime_api`.
    pub(crate) fn command(&self, runtime_api: &str) -> std::io::Result<Command> {
        let output = || match &self.log {
            Some(log) => File::options().create(true).append(true).open(log).map(Stdio::from),
            None => Ok(Stdio::null()),
        };
        let mut command = Command::from(spawner::bound(&self.program));
        command.env_clear().envs(&self.environment);
        command.env("AWS_LAMBDA_RUNTIME_API", runtime_api).env("AWS_LAMBDA_FUNCTION_NAME", &self.name);
        command.env("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST");
        command.env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", self.memory_size.to_string());
        command.env("AWS_LAMBDA_INITIALIZATION_TYPE", "on-demand").env("_HANDLER", "bootstrap").env("TZ", ":UTC");
        command.env("AWS_LAMBDA_LOG_GROUP_NAME", "local").env("AWS_LAMBDA_LOG_STREAM_NAME", "local");
        command.stdin(Stdio::null()).stdout(output()?).stderr(output()?).kill_on_drop(true);
        Ok(command)
    }

    /// Adds a line of the service's own to the log.
    pub(crate) fn note(&self, line: &str) {
        let Some(log) = &self.log else { return };
        if let Ok(mut log) = File::options().create(true).append(true).open(log) {
            // The log is for people: without it everything else goes on.
            let _ = writeln!(log, "lambda: {line}");
        }
    }
}
