//! Measures each deployed function: time to the first answer, time of later answers, memory and AWS calls. Runs under
//! `local bench`, against its stack. Arguments select functions by name; `FUNCTION_PROFILE` selects a cargo profile other
//! than `release`. A run of all functions writes `benches/results/functions.md`.

mod requests;
mod runtime;
mod setup;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    time::{Duration, Instant},
};

use local::{Error, cloud::Endpoints, functions::environment, paths::Paths, process::Process, recorder::Recorder};
use serde_json::Value;
use template::Function;
use tests::Stack;

use self::{requests::Caller, runtime::Runtime};

/// Process starts; the table shows the median.
const STARTS: usize = 5;
/// Requests after the first; fewer for those that wait for a chain, read a whole chain, or need a long setup.
const REQUESTS: usize = 100;
const SLOW_REQUESTS: usize = 20;
/// Requests whose AWS calls are counted.
const COUNTED: usize = 5;

/// Where a run of all functions writes its results.
const RESULTS: &str = "benches/results/functions.md";
const HEADER: &str = "\
| function | first answer (ms) | CPU (ms) | p50 (ms) | p99 (ms) | CPU, mean (ms) | memory (MB) | AWS calls |
| --- | --- | --- | --- | --- | --- | --- | --- |";

#[tokio::main]
async fn main() -> Result<(), Error> {
    let (paths, stack) = (Paths::of_checkout(), Stack::connect());
    let template = paths.template()?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let profile = std::env::var("FUNCTION_PROFILE").unwrap_or_else(|_| "release".to_owned());
    println!("{HEADER}");
    let (mut rows, mut failures) = (Vec::new(), 0);
    for function in template.functions()? {
        if wanted.is_empty() || wanted.contains(&function.binary) {
            // Each function has its own artist, so that limits and lanes aren't shared.
            let mut bench =
                Bench { paths: &paths, stack: &stack, caller: Caller::new(&stack).await?, function: &function };
            match bench.run(&profile).await {
                Ok(row) => {
                    println!("{row}");
                    rows.push(row);
                }
                Err(error) => {
                    failures += 1;
                    println!("| `{}` | {error} | | | | | | |", function.binary);
                }
            }
        }
    }
    if failures > 0 {
        return Err(format!("{failures} functions gave unexpected answers").into());
    }
    if wanted.is_empty() {
        fs::write(paths.root().join(RESULTS), results(&profile, &rows))?;
    }
    Ok(())
}

/// The document of the results, with the commands that make it.
fn results(profile: &str, rows: &[String]) -> String {
    format!(
        "# Functions\n\n\
         Each function as a process of its own behind Lambda's runtime API, against the local stack; {STARTS} starts, then \
         {REQUESTS} requests,\nor {SLOW_REQUESTS} where they are slow. \"First answer\" is from the process's start to its first \
         answer. Profile `{profile}`:\n\n\
         ```sh\ncargo build --profile {profile} --workspace --exclude tests --bins\n\
         FUNCTION_PROFILE={profile} target/{profile}/local bench target/{profile}/function-bench\n```\n\n\
         {HEADER}\n{}\n",
        rows.join("\n")
    )
}

struct Bench<'a> {
    paths: &'a Paths,
    stack: &'a Stack,
    caller: Caller<'a>,
    function: &'a Function,
}

impl Bench<'_> {
    /// Measures one function, and returns its row of the table.
    async fn run(&mut self, profile: &str) -> Result<String, Error> {
        let binary = &self.function.binary;
        let path = self.paths.target(profile).join(binary);
        let event = fs::read_to_string(self.paths.root().join(format!("events/{binary}.json")))?;
        let event: Value = serde_json::from_str(&event)?;

        let (mut first, mut first_work, mut later) = (Vec::new(), Vec::new(), Vec::new());
        let (mut later_work, mut memory) = (Duration::ZERO, 0);
        for start in 0..STARTS {
            let request = self.caller.request(binary, &event).await?;
            let mut runtime = Runtime::start().await?;
            let started = Instant::now();
            let process = self.start(&path, &runtime, &self.stack.endpoints())?;
            self.expect_success(&runtime.invoke(&request).await?)?;
            first.push(started.elapsed());
            let id = process.id().ok_or("the function ended")?;
            first_work.push(work(id)?);
            if start + 1 < STARTS {
                continue;
            }
            for _ in 0..self.requests() {
                let request = self.caller.request(binary, &event).await?;
                let (asked, worked) = (Instant::now(), work(id)?);
                self.expect_success(&runtime.invoke(&request).await?)?;
                later.push(asked.elapsed());
                later_work += work(id)?.saturating_sub(worked);
            }
            memory = most_memory(id)?;
        }
        let calls = self.calls(&path, &event).await?;
        Ok(format!(
            "| `{binary}` | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {calls:.0} |",
            quantile(&mut first, 50),
            quantile(&mut first_work, 50),
            quantile(&mut later, 50),
            quantile(&mut later, 99),
            later_work.as_secs_f64() * 1e3 / later.len() as f64,
            memory as f64 / 1e3,
        ))
    }

    /// Mean AWS calls per request after the first.
    async fn calls(&mut self, path: &Path, event: &Value) -> Result<f64, Error> {
        let stack = self.stack.endpoints();
        let (aws, dynamodb) = (Recorder::in_front_of(&stack.aws).await?, Recorder::in_front_of(&stack.dynamodb).await?);
        let mut runtime = Runtime::start().await?;
        let endpoints = Endpoints { aws: aws.url.clone(), dynamodb: dynamodb.url.clone() };
        let _process = self.start(path, &runtime, &endpoints)?;
        let mut calls = 0;
        for number in 0..=COUNTED {
            let request = self.caller.request(&self.function.binary, event).await?;
            runtime.invoke(&request).await?;
            let made = aws.take().len() + dynamodb.take().len();
            calls += if number == 0 { 0 } else { made };
        }
        Ok(calls as f64 / COUNTED as f64)
    }

    fn start(&self, path: &Path, runtime: &Runtime, endpoints: &Endpoints) -> Result<Process, Error> {
        let environment: BTreeMap<_, _> = environment(self.function, &self.stack.map.names, endpoints.environment())?;
        let mut command = tokio::process::Command::new(path);
        command.env_clear().envs(environment).env("AWS_LAMBDA_RUNTIME_API", &runtime.authority);
        command.env("AWS_LAMBDA_FUNCTION_NAME", &self.function.binary).env("AWS_LAMBDA_FUNCTION_VERSION", "1");
        command.env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256");
        command.env("AWS_LAMBDA_LOG_GROUP_NAME", "measured").env("AWS_LAMBDA_LOG_STREAM_NAME", "measured");
        Process::start(&self.function.binary, &self.paths.local("bench/measured"), &mut command)
    }

    /// Writes wait for a chain, and scheduled functions read all of it.
    fn requests(&self) -> usize {
        let is_slow = self.function.is_scheduled || self.function.environment.contains_key("MAX_GAS_PER_WRITE");
        if is_slow || Caller::takes_long(&self.function.binary) { SLOW_REQUESTS } else { REQUESTS }
    }

    /// A refused request would do only part of the work.
    fn expect_success(&self, answer: &Value) -> Result<(), Error> {
        let is_meant = |status: u64| match self.function.is_default_route {
            true => status == 404,
            false => (200..300).contains(&status),
        };
        if self.function.is_scheduled || answer["statusCode"].as_u64().is_some_and(is_meant) {
            return Ok(());
        }
        Err(format!("{} {}", answer["statusCode"], answer["body"]).into())
    }
}

/// A quantile, in milliseconds.
fn quantile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort();
    times
        .get((times.len() * percent / 100).min(times.len().saturating_sub(1)))
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// Processor time of all threads of a process.
fn work(id: u32) -> Result<Duration, Error> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(format!("/proc/{id}/task"))? {
        let statistics = fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += statistics.split_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// Peak memory of a process, in kilobytes.
fn most_memory(id: u32) -> Result<u64, Error> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0))
}
