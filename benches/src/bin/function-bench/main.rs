//! What each function takes, as it is deployed: time from the start of its process to its first answer, time of later
//! ones, memory, size, and calls of AWS. Run by `local bench`, whose stack it measures against. With names of functions,
//! only these; `FUNCTION_PROFILE` names another profile of cargo's than that of deployed functions.

mod requests;
mod runtime;

use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use local::{Error, cloud::Endpoints, functions::environment, paths::Paths, process::Process, recorder::Recorder};
use serde_json::Value;
use template::{Function, Template};
use tests::Stack;

use self::{requests::Caller, runtime::Runtime};

/// Processes started, of which the median counts.
const STARTS: usize = 5;
/// Requests after the first; fewer of those that wait for a chain, read all of one, or take much before.
const REQUESTS: usize = 100;
const SLOW_REQUESTS: usize = 20;
/// Requests whose calls of AWS are counted.
const COUNTED: usize = 5;

#[tokio::main]
async fn main() -> Result<(), Error> {
    let (paths, stack) = (Paths::of_checkout(), Stack::connect());
    let template: Template = fs::read_to_string(paths.root().join("template.yaml"))?.parse()?;
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    println!(
        "| function | first answer (ms) | of it CPU | then p50 (ms) | p99 (ms) | of it CPU, mean | memory (MB) | size, zipped (MB) \
         | AWS calls a request |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut failures = 0;
    for function in template.functions()? {
        if wanted.is_empty() || wanted.contains(&function.binary) {
            // Each has an artist of its own, whose limits and lane it shares with no other.
            let mut bench =
                Bench { paths: &paths, stack: &stack, caller: Caller::new(&stack).await, function: &function };
            match bench.run().await {
                Ok(row) => println!("{row}"),
                Err(error) => {
                    failures += 1;
                    println!("| `{}` | {error} | | | | | | | |", function.binary);
                }
            }
        }
    }
    if failures > 0 { Err(format!("{failures} functions answered otherwise than they should").into()) } else { Ok(()) }
}

struct Bench<'a> {
    paths: &'a Paths,
    stack: &'a Stack,
    caller: Caller<'a>,
    function: &'a Function,
}

impl Bench<'_> {
    /// A function's row of the table.
    async fn run(&mut self) -> Result<String, Error> {
        let binary = &self.function.binary;
        let profile = std::env::var("FUNCTION_PROFILE").unwrap_or_else(|_| "release".to_owned());
        let path = self.paths.target(&profile).join(binary);
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
            "| `{binary}` | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.2} | {calls:.1} |",
            quantile(&mut first, 50),
            quantile(&mut first_work, 50),
            quantile(&mut later, 50),
            quantile(&mut later, 99),
            later_work.as_secs_f64() * 1e3 / later.len() as f64,
            memory as f64 / 1e3,
            zipped_size(&path)? as f64 / 1e6,
        ))
    }

    /// Calls of AWS for a request, after the first.
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
        let mut environment: BTreeMap<_, _> =
            environment(self.function, &self.stack.map.names, endpoints.environment())?;
        // What is asked here in a minute would use up a day's gas.
        environment
            .extend(["ARTIST_GAS_DAILY", "TOTAL_GAS_DAILY"].map(|limit| (limit.to_owned(), u64::MAX.to_string())));
        let mut command = tokio::process::Command::new(path);
        command.env_clear().envs(environment).env("AWS_LAMBDA_RUNTIME_API", &runtime.authority);
        command.env("AWS_LAMBDA_FUNCTION_NAME", &self.function.binary).env("AWS_LAMBDA_FUNCTION_VERSION", "1");
        command.env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256");
        command.env("AWS_LAMBDA_LOG_GROUP_NAME", "measured").env("AWS_LAMBDA_LOG_STREAM_NAME", "measured");
        Process::start(&self.function.binary, &self.paths.local("bench/measured"), &mut command)
    }

    /// Writes wait for a chain, and what is scheduled looks at all of it.
    fn requests(&self) -> usize {
        let is_slow = self.function.is_scheduled || self.function.environment.contains_key("OPERATOR_LANE_KEYS");
        if is_slow || Caller::takes_long(&self.function.binary) { SLOW_REQUESTS } else { REQUESTS }
    }

    /// A request that is refused does only part of the work.
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

/// In milliseconds.
fn quantile(times: &mut [Duration], percent: usize) -> f64 {
    times.sort();
    times
        .get((times.len() * percent / 100).min(times.len().saturating_sub(1)))
        .map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

/// How long a process has been on a processor, all its threads together.
fn work(id: u32) -> Result<Duration, Error> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir(format!("/proc/{id}/task"))? {
        let statistics = fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += statistics.split_whitespace().next().and_then(|time| time.parse().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// Most memory that a process has had, in kilobytes.
fn most_memory(id: u32) -> Result<u64, Error> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    Ok(line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0))
}

fn zipped_size(path: &Path) -> Result<usize, Error> {
    let zip = Command::new("gzip").args(["-9", "-c"]).arg(path).stderr(Stdio::inherit()).output()?;
    Ok(zip.stdout.len())
}
