//! The functions' own binaries behind cargo-lambda's runtime API, with the template's routes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde_json::Value;
use template::{Function, Route, Template, resolve};
use tokio::{process::Command, task::JoinSet};

use crate::{
    Error,
    paths::Paths,
    process::{Process, listens},
};

/// Every method that a client may send.
const METHODS: [&str; 8] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];

/// How long a scheduled run is waited for before the next one.
const SCHEDULED_RUN: Duration = Duration::from_secs(15);

/// The Lambda service: takes requests and invocations, and hands them to whichever functions ask.
pub struct Emulator {
    url: String,
    logs: PathBuf,
    paths: Paths,
    functions: JoinSet<()>,
    running: Arc<Mutex<Vec<Instance>>>,
    _process: Process,
}

/// A process of a function.
struct Instance {
    binary: String,
    id: Option<u32>,
}

impl Emulator {
    /// Starts it on a port, with the template's routes. `name` sets it apart from others of this checkout.
    ///
    /// # Errors
    /// When cargo-lambda can't be started.
    pub async fn start(paths: &Paths, logs: &Path, name: &str, port: u16, template: &Template) -> Result<Self, Error> {
        let config = logs.join(format!("{name}.toml"));
        fs::create_dir_all(logs)?;
        fs::write(&config, router(template)?)?;
        let mut command = Command::new(paths.python_program("cargo-lambda"));
        command.current_dir(paths.root()).arg("lambda").arg("--global").arg(&config);
        command.args(["watch", "--only-lambda-apis", "--ignore-changes", "--disable-cors"]);
        command.args(["--invoke-address", "127.0.0.1", "--invoke-port", &port.to_string()]);
        let mut process = Process::start(name, logs, &mut command)?;
        let url = format!("http://127.0.0.1:{port}");
        process.ready(async || listens(port).await).await?;
        Ok(Self {
            url,
            logs: logs.to_owned(),
            paths: paths.clone(),
            functions: JoinSet::new(),
            running: Arc::default(),
            _process: process,
        })
    }

    /// Where requests go.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Keeps `instances` of a function running, with this environment and nothing else. As in Lambda, each instance
    /// takes one request at a time, and one that ends is replaced.
    ///
    /// # Errors
    /// When the binary can't be started.
    pub fn run(&mut self, binary: &str, instances: usize, environment: &BTreeMap<String, String>) -> Result<(), Error> {
        for _ in 0..instances {
            let mut command = Command::new(self.paths.binary(binary));
            command.env_clear().envs(environment);
            command.env("AWS_LAMBDA_RUNTIME_API", format!("{}/.rt/{binary}", self.url));
            command.env("AWS_LAMBDA_FUNCTION_NAME", binary);
            command.env("AWS_LAMBDA_FUNCTION_VERSION", "1").env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256");
            command.env("AWS_LAMBDA_LOG_GROUP_NAME", "local").env("AWS_LAMBDA_LOG_STREAM_NAME", "local");
            let (name, logs) = (binary.to_owned(), self.logs.clone());
            let mut process = Process::start(&name, &logs, &mut command)?;
            let running = Arc::clone(&self.running);
            let slot = {
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                running.push(Instance { binary: binary.to_owned(), id: process.id() });
                running.len() - 1
            };
            self.functions.spawn(async move {
                while process.ended().await.is_ok() {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    match Process::start(&name, &logs, &mut command) {
                        Ok(next) => process = next,
                        Err(_) => break,
                    }
                    running.lock().unwrap_or_else(PoisonError::into_inner)[slot].id = process.id();
                }
            });
        }
        Ok(())
    }

    /// Kills one instance of a function with SIGKILL, whatever it is doing; `pick` chooses which. It is replaced like any
    /// that ends.
    ///
    /// # Errors
    /// When the operating system has no `kill`.
    pub async fn crash(&self, binary: &str, pick: usize) -> Result<(), Error> {
        let id = {
            let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            let instances: Vec<_> = running.iter().filter(|instance| instance.binary == binary).collect();
            instances.get(pick % instances.len().max(1)).and_then(|instance| instance.id)
        };
        if let Some(id) = id {
            // One that has just ended on its own is no failure.
            Command::new("kill").args(["-KILL", &id.to_string()]).stderr(Stdio::null()).status().await?;
        }
        Ok(())
    }

    /// Invokes a function every so often, as its schedule would.
    pub fn schedule(&mut self, binary: &str, every: Duration) {
        let (invocation, event) = (Invocation::of(&self.url, binary), Value::Object(serde_json::Map::new()));
        self.functions.spawn(async move {
            loop {
                // A run that fails is in the function's log, one that was killed never answers; the next one starts where
                // it stopped.
                let _ = tokio::time::timeout(SCHEDULED_RUN, invocation.send(&event)).await;
                tokio::time::sleep(every).await;
            }
        });
    }
}

/// An invocation of a function, past its routes.
pub struct Invocation {
    url: String,
}

impl Invocation {
    /// An invocation of `binary` at the emulator at `url`.
    pub fn of(url: &str, binary: &str) -> Self {
        Self { url: format!("{url}/2015-03-31/functions/{binary}/invocations") }
    }

    /// Sends an event and gives what the function returns.
    ///
    /// # Errors
    /// When the function fails or can't be reached.
    pub async fn send(&self, event: &Value) -> Result<Value, Error> {
        let answer = reqwest::Client::new().post(&self.url).json(event).send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        if !status.is_success() {
            return Err(format!("{} failed with {status}: {text}", self.url).into());
        }
        Ok(serde_json::from_str(&text)?)
    }
}

/// A function's environment: what the template gives it, and nothing that it doesn't.
///
/// # Errors
/// When the template refers to what isn't there.
pub fn environment(
    function: &Function,
    names: &BTreeMap<String, String>,
    aws: impl IntoIterator<Item = (&'static str, String)>,
) -> Result<BTreeMap<String, String>, Error> {
    let mut environment: BTreeMap<_, _> = aws.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    // Each function has a name of its own towards AWS, as it has a role of its own in an account.
    environment.insert("AWS_ACCESS_KEY_ID".to_owned(), function.binary.clone());
    for (name, value) in &function.environment {
        environment.insert(name.clone(), resolve(value, names)?);
    }
    Ok(environment)
}

/// The routes as cargo-lambda wants them. What no route takes goes to the function of the default route, as in API
/// Gateway; cargo-lambda has none, so every other method and path is named.
fn router(template: &Template) -> Result<String, Error> {
    let routes = template.routes()?;
    let functions = template.functions()?;
    let default = functions.iter().find(|function| function.is_default_route);
    let default = &default.ok_or("template.yaml: no function has the default route")?.binary;
    let url = |route: &Route| format!("/{}{}", route.stage, route.path);
    let mut toml = String::new();
    let mut add = |path: &str, methods: &[&str], binary: &str| {
        let methods = if methods.is_empty() { String::new() } else { format!("methods = {methods:?}\n") };
        toml += &format!("[[watch.router]]\npath = {path:?}\n{methods}function = {binary:?}\n\n");
    };
    for route in &routes {
        add(&url(route), &[&route.method], &route.binary);
    }
    for path in routes.iter().map(url).collect::<BTreeSet<_>>() {
        let taken: Vec<_> =
            routes.iter().filter(|route| url(route) == path).map(|route| route.method.as_str()).collect();
        let others: Vec<_> = METHODS.into_iter().filter(|method| !taken.contains(method)).collect();
        add(&path, &others, default);
    }
    for path in ["/", "/{*path}"] {
        add(path, &[], default);
    }
    Ok(toml)
}
