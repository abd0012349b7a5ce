//! Every function starts with the environment that a deployment gives it, and the local stack's values are those of the
//! template, except for the ones listed here.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Stdio,
};

use futures::{StreamExt, stream};
use local::{functions::environment, paths::Paths, patience::PATIENCE};
use template::{Function, Template, stage_parameters};
use tests::Stack;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    process::Command,
};

type Names = BTreeMap<String, String>;

/// What `samconfig.toml` needn't set: the parameter without a default.
const SENDER: (&str, &str) = ("MailSender", "moments@example.com");

/// Parameters that `make deploy` and an operator set once the keys and the operator Safe are there.
const SET_LATER: [&str; 3] = ["OperatorLanes", "OperatorSafe", "TokenPublicKeys"];

/// Variables that differ in the local stack, and why.
const DIFFERENCES: [(&str, &str); 30] = [
    ("ARTIST_TABLE", "the account's own name"),
    ("CHAINS", "local chains begin at block 0, are final at once and spend the local coin"),
    ("CHAIN_TABLE", "the account's own name"),
    ("CHALLENGES_PER_CLIENT_HOURLY", "all tests are one client"),
    ("CODES_PER_CLIENT_HOURLY", "all tests are one client"),
    ("CODES_TOTAL_HOURLY", "all tests are one client"),
    ("CODE_KEY_IDS", "the account's own id"),
    ("DOCUMENT_TABLE", "the account's own name"),
    ("FILES_ADDRESS", "a host of this machine"),
    ("IPFS_GATEWAYS", "no document of the tests is public"),
    ("LOG_LEVEL", "tests look for secrets in all that functions can log"),
    ("MAIL_SETTINGS", "the account's own name"),
    ("MEDIA_BUCKET", "the account's own name"),
    ("OPERATOR_LANE_KEYS", "the account's own ids"),
    ("PAGES_PATH", "pages are at the host's root, as behind a distribution"),
    ("PINNING_ENDPOINT", "a service of this machine"),
    ("PINNING_SECRET", "the account's own name"),
    ("PRIVATE_GATEWAYS", "the local gateway's address isn't public"),
    ("PRIVATE_WEBHOOKS", "receivers of the tests aren't public"),
    ("PROPOSALS_PER_CLIENT_HOURLY", "all tests are one client"),
    ("REFRESHES_PER_CLIENT_HOURLY", "all tests are one client"),
    ("REPORTS_PER_CLIENT_HOURLY", "all tests are one client"),
    ("RPC_URLS", "local nodes"),
    ("SECRET_TABLE", "the account's own name"),
    ("SIGN_INS_PER_CLIENT_HOURLY", "all tests are one client"),
    ("TOKEN_ISSUER", "the local base address, as make deploy sets the deployed one"),
    ("TOKEN_KEY_ID", "the account's own id"),
    ("WALLET_READS_PER_CLIENT_MINUTELY", "all tests are one client"),
    ("WEBHOOK_KEY_IDS", "the account's own id"),
    ("WRITES_PER_CLIENT_MINUTELY", "all tests are one client"),
];

fn read(path: &str) -> String {
    fs::read_to_string(Paths::of_checkout().root().join(path)).expect(path)
}

fn template() -> Template {
    Paths::of_checkout().template().expect("a template")
}

/// The names of a deployment with these parameters, after the last step of the operator's guide.
fn deployed(template: &Template, parameters: Names, stack: &Stack) -> Names {
    let later = SET_LATER.map(|name| (name.to_owned(), stack.map.names[name].clone()));
    template.deployed(parameters.into_iter().chain(later).collect()).expect("names")
}

fn defaults() -> Names {
    [SENDER].map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

#[tokio::test]
async fn every_function_starts_as_each_stage_deploys_it() {
    let (stack, template, samconfig) = (Stack::connect(), template(), read("samconfig.toml"));
    let stages = ["staging", "production"].map(|stage| stage_parameters(&samconfig, stage).expect(stage));
    let functions = template.functions().expect("functions");
    let mut starts = Vec::new();
    for parameters in [defaults()].into_iter().chain(stages) {
        let names = deployed(&template, parameters, &stack);
        for function in &functions {
            let own = environment(function, &names, stack.endpoints().environment()).expect("an environment");
            starts.push(start(function, own));
        }
    }
    let failures: Vec<_> = stream::iter(starts).buffer_unordered(8).filter_map(async |failure| failure).collect().await;
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Runs a function until it asks for its first event; otherwise why it ended.
async fn start(function: &Function, environment: Names) -> Option<String> {
    let runtime = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut process = Command::new(Paths::of_checkout().binary(&function.binary))
        .env_clear()
        .envs(environment)
        .env("AWS_LAMBDA_RUNTIME_API", runtime.local_addr().expect("an address").to_string())
        .envs([("AWS_LAMBDA_FUNCTION_NAME", "deployed"), ("AWS_LAMBDA_FUNCTION_VERSION", "1")])
        .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap_or_else(|error| panic!("{}: {error}: run make binaries", function.binary));
    let asked = async {
        loop {
            let (connection, _) = runtime.accept().await.expect("a connection");
            let request = request_line(connection).await;
            if request.contains("/invocation/next") {
                return None;
            } else if request.contains("/init/error") {
                return Some(format!("{} reports that it can't start", function.binary));
            }
        }
    };
    let outcome = tokio::select! {
        outcome = asked => outcome,
        status = process.wait() => Some(format!("{} ended: {status:?}", function.binary)),
        () = tokio::time::sleep(PATIENCE) => Some(format!("{} asks for no event", function.binary)),
    };
    let outcome = outcome?;
    process.start_kill().ok();
    let output = process.wait_with_output().await.expect("its output");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Some(format!("{outcome}: {} {}", text(&output.stdout), text(&output.stderr)))
}

async fn request_line(mut connection: TcpStream) -> String {
    let mut start = [0; 256];
    let length = connection.read(&mut start).await.unwrap_or_default();
    let line = String::from_utf8_lossy(&start[..length]).lines().next().unwrap_or_default().to_owned();
    if line.contains("/init/error") {
        connection.write_all(b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n").await.ok();
    }
    line
}

#[tokio::test]
async fn the_local_stack_differs_from_a_deployment_only_as_listed() {
    let (stack, template) = (Stack::connect(), template());
    let names = deployed(&template, defaults(), &stack);
    let mut differing = BTreeSet::new();
    for function in template.functions().expect("functions") {
        let values = |names: &Names| environment(&function, names, []).expect("an environment");
        let (there, here) = (values(&names), values(&stack.map.names));
        differing.extend(there.into_iter().filter(|(name, value)| here.get(name) != Some(value)).map(|(name, _)| name));
    }
    let listed: BTreeSet<_> = DIFFERENCES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(differing, listed, "variables that differ, and those that are listed");
}
