//! The template's functions on the emulated Lambda service, each with its time-out, memory size and reserved
//! concurrency.

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

use local_lambda::{
    AsyncPolicy, Lambda, Limits, Pace, Processes, Rate, Schedule, StartingPosition, StreamMapping, gateway::Target,
};
use serde_json::Value;
use template::{Function, StreamEvent, Template, resolve};
use tokio::{process::Command, sync::watch};

use crate::{Error, database::LocalDatabase, http, paths::Paths, patience::PATIENCE};

/// How long an idle process is kept. Lambda keeps them longer, but doesn't take the memory from this machine.
const IDLE: Duration = Duration::from_secs(60);

/// Longest wait for a scheduled run before the next one starts.
const SCHEDULED_RUN: Duration = Duration::from_secs(75);

/// Pauses before a batch of a stream is sent again: the first, and the longest. Lambda's may be a minute.
const STREAM_PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(2));

/// Names a file of the certificates that clients trust in place of the system's.
const CERTIFICATES: &str = "SSL_CERT_FILE";

/// Pauses before invocations that were refused for want of concurrency are sent again: the first, and the longest.
const THROTTLE_PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// The emulated Lambda service, with its functions; dropping it stops them.
pub struct Emulator {
    lambda: Lambda,
    logs: PathBuf,
    dead_letters: PathBuf,
    paths: Paths,
    functions: BTreeMap<String, Function>,
}

impl Emulator {
    /// Starts it on `port` (0 picks a free one) with no function running. `name` names its file of dead letters in `logs`.
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

    /// The file of dead letters: JSON, one in a line.
    pub fn dead_letters(&self) -> &Path {
        &self.dead_letters
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
        // Functions trust the same certificates as this process.
        if let Ok(file) = env::var(CERTIFICATES) {
            function.environment.insert(CERTIFICATES.to_owned(), file);
        }
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

    /// Invokes a function as its schedule does in an account.
    pub fn keep_schedule(&mut self, binary: &str, input: Option<String>, rate: Rate) {
        let (function, input) = (binary.to_owned(), input.map(Into::into));
        self.lambda.schedule(Schedule { function, input, pace: Pace::Rate(rate) });
    }

    /// Lets a stream of the database at `dynamodb` drive its function. Records given up are in the file of dead letters.
    pub async fn map_stream(&self, event: &StreamEvent, dynamodb: &str) -> Result<(), Error> {
        Ok(self.lambda.map_stream(mapping(event, dynamodb, &self.dead_letters)?).await?)
    }

    /// The same with a database in this process.
    pub async fn map_own_stream(&self, event: &StreamEvent, database: &LocalDatabase) -> Result<(), Error> {
        let mapping = mapping(event, &database.endpoint, &self.dead_letters)?;
        Ok(self.lambda.map_stream(StreamMapping { database: Some(database.streams()), ..mapping }).await?)
    }
}

/// A mapping as the template describes it.
fn mapping(event: &StreamEvent, dynamodb: &str, discarded: &Path) -> Result<StreamMapping, Error> {
    let start = match event.starting_position.as_str() {
        "TRIM_HORIZON" => StartingPosition::TrimHorizon,
        "LATEST" => StartingPosition::Latest,
        other => return Err(format!("template.yaml: {}: no stream starts at {other}", event.binary).into()),
    };
    let defaults = StreamMapping::new(&event.binary, dynamodb, &event.stream, start);
    let patterns = event.patterns.iter().map(|pattern| pattern.parse());
    Ok(StreamMapping {
        batch_size: event.batch_size.unwrap_or(defaults.batch_size),
        window: event.batching_window.map_or(defaults.window, Duration::from_secs),
        parallelization: event.parallelization_factor.unwrap_or(defaults.parallelization),
        filters: patterns.collect::<Result<_, _>>().map_err(|error| format!("template.yaml: {error}"))?,
        max_age: event.max_record_age.map(Duration::from_secs),
        max_retries: event.max_retries,
        bisects: event.bisects,
        reports_failures: event.reports_failures,
        pauses: STREAM_PAUSES,
        discarded: Some(discarded.to_owned()),
        ..defaults
    })
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

    /// Queues an event, as a schedule does.
    pub async fn start(&self, event: &Value) -> Result<(), Error> {
        let request = http::client().post(&self.url).header("x-amz-invocation-type", "Event").json(event);
        Ok(request.send().await?.error_for_status().map(drop)?)
    }

    /// Sends an event and returns the function's result. While the function is at its concurrency, this waits and tries
    /// again, for three minutes at most.
    pub async fn send(&self, event: &Value) -> Result<Value, Error> {
        let (start, (mut pause, longest)) = (Instant::now(), THROTTLE_PAUSES);
        loop {
            let answer = http::client().post(&self.url).json(event).send().await?;
            let (status, is_error) = (answer.status(), answer.headers().contains_key("x-amz-function-error"));
            if status.as_u16() == 429 && start.elapsed() < PATIENCE {
                tokio::time::sleep(pause).await;
                pause = longest.min(pause * 2);
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

#[cfg(test)]
mod tests {
    use aws_sdk_dynamodb::types::AttributeValue;

    use super::*;
    use crate::{cloud::Endpoints, patience::eventually};

    const TEMPLATE: &str = r#"
Resources:
  ThingTable:
    Type: AWS::DynamoDB::Table
    Properties:
      BillingMode: PAY_PER_REQUEST
      AttributeDefinitions: [{ AttributeName: pk, AttributeType: S }]
      KeySchema: [{ AttributeName: pk, KeyType: HASH }]
      StreamSpecification: { StreamViewType: NEW_IMAGE }
  ConsumerFunction:
    Type: AWS::Serverless::Function
    Metadata: { BuildProperties: { Binary: consumer } }
    Properties:
      Events:
        Things:
          Type: DynamoDB
          Properties:
            Stream: !GetAtt ThingTable.StreamArn
            StartingPosition: LATEST
            BatchSize: 10
            FilterCriteria: { Filters: [{ Pattern: '{"dynamodb": {"Keys": {"pk": {"S": [{"prefix": "QUEUE#"}]}}}}' }] }
"#;

    #[tokio::test]
    async fn the_templates_stream_drives_its_function() -> Result<(), Error> {
        let (paths, template) = (Paths::of_checkout(), TEMPLATE.parse::<Template>()?);
        let logs = paths.local("streams");
        let database = LocalDatabase::start().await?;
        let endpoints = Endpoints { aws: String::new(), dynamodb: database.endpoint.clone() };
        let names = endpoints.provision(&template, BTreeMap::new()).await?;
        let emulator = Emulator::start(&paths, &logs, "lambda", 0, &template).await?;
        let program = paths.binary("examples/consumer");
        assert!(program.exists(), "build it: cargo build --workspace --examples");
        let (mut function, seen) = (local_lambda::Function::new("consumer", program), logs.join("seen.jsonl"));
        fs::write(&seen, "")?;
        function.environment.insert("LOG".to_owned(), seen.display().to_string());
        emulator.lambda.add(function);
        for event in template.streams(&names)? {
            emulator.map_own_stream(&event, &database).await?;
        }
        let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(&database.endpoint).await);
        for key in ["OTHER#1", "QUEUE#1"] {
            client.put_item().table_name("ThingTable").item("pk", AttributeValue::S(key.to_owned())).send().await?;
        }
        let line = eventually("the function is invoked", async || {
            let text = fs::read_to_string(&seen)?;
            Ok(text.lines().next().filter(|_| text.ends_with('\n')).map(str::to_owned))
        });
        let event: Value = serde_json::from_str(&line.await?)?;
        let [record] = event["event"]["Records"].as_array().map(Vec::as_slice).unwrap_or_default() else {
            return Err(format!("one record is expected: {event}").into());
        };
        assert_eq!(record["dynamodb"]["NewImage"]["pk"]["S"], "QUEUE#1");
        assert_eq!(record["eventSourceARN"], names["ThingTable.StreamArn"].as_str());
        assert_eq!(record["dynamodb"]["StreamViewType"], "NEW_IMAGE");
        Ok(())
    }
}
