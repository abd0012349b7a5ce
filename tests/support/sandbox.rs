use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use local::{
    cloud::Endpoints,
    database::LocalDatabase,
    functions::{Emulator, Invocation, environment},
    paths::{Paths, running_test},
};
use serde_json::{Value, json};
use template::Template;
use tokio::process::Command;
use uuid::Uuid;

use crate::Stack;

/// A separate instance of one function, with another environment or other tables.
pub struct Sandbox {
    emulator: Emulator,
    binary: String,
    /// Its own, so that no other test's lines are in it.
    log: PathBuf,
    /// The AWS endpoints that it uses.
    pub endpoints: Endpoints,
}

impl Sandbox {
    /// Runs `binary` with the stack's tables and the given variables in place of its own.
    pub async fn with_variables(stack: &Stack, binary: &str, variables: &[(&str, &str)]) -> Self {
        Self::with(stack, binary, variables, &stack.map.dynamodb).await
    }

    /// Runs `binary` with its own empty tables.
    pub async fn with_empty_tables(stack: &Stack, binary: &str) -> Self {
        let database = empty_tables(stack).await;
        Self::with_database(stack, binary, &database.endpoint).await
    }

    /// Runs `binary` with the tables at another endpoint.
    pub async fn with_database(stack: &Stack, binary: &str, dynamodb: &str) -> Self {
        Self::with(stack, binary, &[], dynamodb).await
    }

    /// Runs `binary` with the given variables in place of its own and the tables at an endpoint.
    pub async fn with(stack: &Stack, binary: &str, variables: &[(&str, &str)], dynamodb: &str) -> Self {
        Self::crowd(stack, binary, variables, dynamodb, 1).await
    }

    /// The same, for so many calls at once.
    pub async fn crowd(
        stack: &Stack,
        binary: &str,
        variables: &[(&str, &str)],
        dynamodb: &str,
        instances: usize,
    ) -> Self {
        Self::of(&template(), stack, binary, variables, dynamodb, instances).await
    }

    /// Runs `binary` with the stack's tables, and with so many seconds for each of so many calls at once.
    pub async fn hurried(stack: &Stack, binary: &str, seconds: u64, instances: usize) -> Self {
        let text = template_text().replace("    Timeout: 29\n", &format!("    Timeout: {seconds}\n"));
        Self::of(&text.parse().expect("a template"), stack, binary, &[], &stack.map.dynamodb, instances).await
    }

    async fn of(
        template: &Template,
        stack: &Stack,
        binary: &str,
        variables: &[(&str, &str)],
        dynamodb: &str,
        instances: usize,
    ) -> Self {
        let endpoints = Endpoints { dynamodb: dynamodb.to_owned(), ..stack.endpoints() };
        let paths = Paths::of_checkout();
        let name = format!("sandbox-{}", Uuid::new_v4().simple());
        let logs = stack.logs().join("sandboxes").join(running_test()).join(&name);
        let mut emulator = Emulator::start(&paths, &logs, &name, 0, template).await.expect("an emulator");
        let functions = template.functions().expect("functions");
        let function = functions.iter().find(|function| function.binary == binary).expect("the template's function");
        let mut variables_of_function: BTreeMap<_, _> =
            environment(function, &stack.map.names, endpoints.environment()).expect("its environment");
        for (name, value) in variables {
            // The template names every variable except the endpoints of AWS services and what Lambda sets.
            let is_known = name.starts_with("AWS_ENDPOINT_URL_") || *name == "AWS_XRAY_DAEMON_ADDRESS";
            assert!(
                is_known | variables_of_function.insert((*name).to_owned(), (*value).to_owned()).is_some(),
                "no variable {name}"
            );
        }
        emulator.run(binary, instances, &variables_of_function).expect("the function runs");
        Self { emulator, binary: binary.to_owned(), log: logs.join(format!("{binary}.log")), endpoints }
    }

    /// Lets the streams of the tables of `database` drive the function, as the template says.
    pub async fn follow_streams(&self, stack: &Stack, database: &str) {
        let client = aws_sdk_dynamodb::Client::new(&self.endpoints.sdk_config(database).await);
        let (template, mut names) = (template(), stack.map.names.clone());
        for table in ["ArtistTable", "ChainTable"] {
            let described = client.describe_table().table_name(table).send().await.expect("a table");
            let stream = described.table().and_then(|table| table.latest_stream_arn()).expect("a stream");
            names.insert(format!("{table}.StreamArn"), stream.to_owned());
        }
        template.hand_over(&mut names);
        let streams = template.streams(&names).expect("streams");
        for stream in streams.iter().filter(|stream| stream.binary == self.binary) {
            self.emulator.map_stream(stream, database).await.expect("a mapping");
        }
    }

    /// Invokes the function with an event.
    pub async fn invoke(&self, event: &Value) -> Value {
        Invocation::of(self.emulator.url(), &self.binary).send(event).await.expect("the function returns")
    }

    /// Invokes the function without waiting for it, as a schedule does.
    pub async fn start(&self, event: &Value) {
        Invocation::of(self.emulator.url(), &self.binary).start(event).await.expect("the event is queued");
    }

    /// URL of its Invoke API.
    pub fn url(&self) -> &str {
        self.emulator.url()
    }

    /// What the function logged so far.
    pub fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// The file of dead letters.
    pub fn dead_letters(&self) -> &Path {
        self.emulator.dead_letters()
    }

    /// Kills the function's process with SIGKILL once `moment` has come while it runs; an invocation under way fails.
    pub async fn kill_when(&self, moment: impl Future<Output = ()>, event: &Value) {
        let mut processes = self.emulator.processes();
        let invocation = Invocation::of(self.emulator.url(), &self.binary);
        let killing = async {
            let running = processes.wait_for(|all| all.get(&self.binary).is_some_and(|ids| !ids.is_empty())).await;
            drop(running.expect("an emulator"));
            moment.await;
            let ids = processes.borrow().get(&self.binary).cloned().unwrap_or_default();
            let ids = ids.iter().map(u32::to_string);
            Command::new("kill").arg("-9").args(ids).status().await.expect("kill runs");
        };
        let (_, ()) = tokio::join!(invocation.send(event), killing);
    }

    /// Invokes the function with its event file and this query string.
    pub async fn get(&self, query: &str) -> Value {
        let mut event = self.event();
        event["rawQueryString"] = json!(query);
        self.invoke(&event).await
    }

    /// Sends a JSON body as API Gateway would, from a client at `source_ip`. Returns the status and the body.
    pub async fn post(&self, source_ip: &str, body: &Value) -> (u16, Value) {
        self.post_with(source_ip, body, &[]).await
    }

    /// [`Sandbox::post`] with headers.
    pub async fn post_with(&self, source_ip: &str, body: &Value, headers: &[(&str, &str)]) -> (u16, Value) {
        let mut event = self.event();
        for (name, value) in headers {
            event["headers"][name] = json!(value);
        }
        event["requestContext"]["http"]["sourceIp"] = json!(source_ip);
        event["body"] = json!(body.to_string());
        let answer = self.invoke(&event).await;
        let status = answer["statusCode"].as_u64().and_then(|status| u16::try_from(status).ok()).expect("a status");
        let body = answer["body"].as_str().and_then(|body| serde_json::from_str(body).ok()).unwrap_or_default();
        (status, body)
    }

    /// The content of the function's event file.
    pub fn event(&self) -> Value {
        event_of(&self.binary)
    }
}

/// The content of a function's event file.
pub(crate) fn event_of(binary: &str) -> Value {
    let path = Paths::of_checkout().root().join(format!("events/{binary}.json"));
    serde_json::from_str(&fs::read_to_string(path).expect("an event")).expect("JSON")
}

/// A separate database with the template's tables, empty.
pub async fn empty_tables(stack: &Stack) -> LocalDatabase {
    let database = LocalDatabase::start().await.expect("a database");
    let endpoints = Endpoints { dynamodb: database.endpoint.clone(), ..stack.endpoints() };
    for table in template().resources("AWS::DynamoDB::Table") {
        endpoints.create_table(table).await.expect("a table");
    }
    database
}

fn template() -> Template {
    Paths::of_checkout().template().expect("a template")
}

fn template_text() -> String {
    fs::read_to_string(Paths::of_checkout().root().join("template.yaml")).expect("template.yaml")
}
