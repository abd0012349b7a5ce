//! Commands:
//! - `local run` starts the stack and keeps it running until Ctrl-C; if one runs already, it says where. `PORT`, `RPC_URLS` and `NODE_PORTS` choose the API's
//!   port, the nodes' URLs for functions, and the nodes' ports.
//! - `local test <command…>` runs a command against a stack on free ports and records the functions' AWS calls. The functions
//!   log all that they can; the command fails if a secret is in it.
//! - `local try <command…>` and `local bench <command…>` do the same without recording, in a folder of their own; with
//!   `KEEP_SCHEDULE` workers run as often as in an account.
//! - `local load <command…>` does it with production's limits.
//! - `local roles` compares the template's roles with the recorded calls: each role must allow exactly those.
//! - `local containers <address> <command…>` starts a stack that containers reach at `address`, for `sam local`.
//! - `local operator plan|execute|verify` prints, makes and checks the guardian's transactions for the operator's accounts.
//! - `local invoke <function>` sends a function of the running stack its test event, with values of the stack, and prints
//!   the answer; `local event <function> [stack.json]` prints the event instead, for `sam local invoke`.
//! - `local desk …` shows what was reported and decided, and decides: of the running stack, or of the account's table
//!   `ARTIST_TABLE` (`local/sam/desk`). `local desk page` serves a page for it until Ctrl-C.
//! - `local address <public key…>` prints the addresses of KMS public keys (base64 SubjectPublicKeyInfo).

use std::{
    env, fs,
    future::pending,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{ExitCode, ExitStatus},
    time::Duration,
};

use local::{
    Error,
    chains::NodeSettings,
    cloud, containers,
    desk::{Desk, DeskPage, LOCAL_OPERATOR},
    gallery, mail, operator,
    paths::Paths,
    roles, secrets,
    stack::{LIMIT_FACTOR, Options, Stack},
    stack_map::StackMap,
    test_events::TestEvents,
    watch, welcome,
};
use tokio::{
    process::Command,
    signal::unix::{SignalKind, signal},
};

/// File of the recorded AWS calls, beside `stack.json`.
const NEEDS: &str = "needs.json";

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // Both branches drop the stack, which kills its processes.
    let outcome = tokio::select! {
        outcome = command(&arguments) => outcome,
        () = stop_signal() => Ok(ExitCode::SUCCESS),
    };
    // The runtime needs a moment to reap the killed processes.
    tokio::time::sleep(Duration::from_millis(200)).await;
    outcome.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        ExitCode::FAILURE
    })
}

async fn command(arguments: &[String]) -> Result<ExitCode, Error> {
    let paths = Paths::of_checkout();
    match arguments {
        [command] if command == "run" => {
            if let Some(text) = welcome::already_up(&paths.local("run")).await {
                println!("Moments runs here already:\n\n{text}");
                return Ok(ExitCode::SUCCESS);
            }
            let port = env::var("PORT").unwrap_or_else(|_| "3000".to_owned());
            let port = port.parse().map_err(|_| format!("PORT is {port}: give a port from 1 to 65535"))?;
            let (folder, nodes) = (paths.local("run"), NodeSettings::from_env()?);
            let options = Options { port: Some(port), nodes, ..Options::at(folder.clone()) };
            let stack = Stack::start(&paths, &options).await?;
            let _link = MapLink::create(paths.local("stack.json"))?;
            let artists = gallery::artists(&paths, &stack.map, &stack.artists).await?;
            gallery::publish(&paths, &stack.map, &artists).await?;
            let text = welcome::prepare(&folder, &stack.map, &artists).await?;
            println!("\nMoments runs until Ctrl-C, and prints each code that it mails.\n\n{text}");
            tokio::select! {
                ended = welcome::print_codes(&stack.map) => match ended? {},
                ended = watch::rebuild(&paths) => match ended? {},
            }
        }
        [command, program, arguments @ ..] if ["test", "try", "bench", "load"].contains(&command.as_str()) => {
            let (folder, is_recorded) = (paths.local(command), command == "test");
            let limit_factor = if command == "load" { 1 } else { LIMIT_FACTOR };
            let keeps_schedule = env::var_os("KEEP_SCHEDULE").is_some();
            let options = Options { is_recorded, keeps_schedule, limit_factor, ..Options::at(folder.clone()) };
            let stack = Stack::start(&paths, &options).await?;
            let mut client = Command::new(program);
            client.args(arguments).env("MOMENTS_STACK", folder.join("stack.json")).kill_on_drop(true);
            let status = client.status().await.map_err(|error| format!("{program} can't be started: {error}"))?;
            if is_recorded {
                fs::write(folder.join(NEEDS), serde_json::to_string_pretty(&stack.needs())?)?;
                let template = paths.template()?;
                let mails = mail::all(&stack.map.mail).await?;
                let findings = secrets::findings(&folder.join("logs"), &template, &mails)?;
                findings.iter().for_each(|finding| println!("{finding} is logged"));
                if !findings.is_empty() {
                    return Ok(ExitCode::FAILURE);
                }
            }
            exit_code(status)
        }
        [command, host, program, arguments @ ..] if command == "containers" => {
            let folder = paths.local("sam");
            let options = Options::at(folder.clone());
            let stack = Stack::start(&paths, &options).await?;
            let template = paths.template()?;
            let host = host.parse().map_err(|_| format!("{host} is not an IPv4 address"))?;
            let environments = containers::open(&stack.map, &template, host).await?;
            fs::write(folder.join("environments.json"), serde_json::to_string_pretty(&environments)?)?;
            let status = Command::new(program).args(arguments).kill_on_drop(true).status().await;
            exit_code(status.map_err(|error| format!("{program} can't be started: {error}"))?)
        }
        [command, what] if command == "operator" => operator::command::run(&paths, what).await,
        [command, keys @ ..] if command == "address" => {
            for key in keys {
                println!("{}", cloud::lane_address(key)?.to_string().to_lowercase());
            }
            Ok(ExitCode::SUCCESS)
        }
        [command, arguments @ ..] if command == "desk" => {
            let desk = match env::var_os("ARTIST_TABLE") {
                Some(_) => Desk::of_account().await?,
                None => Desk::of_stack(&running(&paths.local("stack.json"))?, LOCAL_OPERATOR).await?,
            };
            if arguments == ["page"] {
                let page = DeskPage::start(desk).await?;
                println!("{}", page.url);
                page.wait().await;
            } else {
                println!("{}", desk.run(arguments).await?);
            }
            Ok(ExitCode::SUCCESS)
        }
        [command, function] if command == "invoke" => {
            let stack = running(&paths.local("stack.json"))?;
            let answer = TestEvents::prepare(&paths, &stack).await?.send_to(function).await?;
            println!("{}", serde_json::to_string_pretty(&answer)?);
            Ok(ExitCode::SUCCESS)
        }
        [command, function, file @ ..] if command == "event" && file.len() < 2 => {
            let file = file.first().map_or_else(|| paths.local("stack.json"), PathBuf::from);
            let event = TestEvents::prepare(&paths, &running(&file)?).await?.event(function).await?;
            println!("{event}");
            Ok(ExitCode::SUCCESS)
        }
        [command] if command == "roles" => {
            let folder = paths.local("test");
            let needs = fs::read_to_string(folder.join(NEEDS)).map_err(|_| "nothing is recorded: run `make test`")?;
            let map: StackMap = serde_json::from_str(&fs::read_to_string(folder.join("stack.json"))?)?;
            let template = paths.template()?;
            let findings = roles::findings(&template, &map.names, &serde_json::from_str(&needs)?)?;
            findings.iter().for_each(|finding| println!("template.yaml: {finding}"));
            Ok(if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        _ => Err(
            "usage: local run | local test|try|bench|load <command> [argument…] | local roles | local operator plan|execute|verify | \
             local containers <address> <command> [argument…] | local invoke|event <function> | local desk … | local address <public key>…"
                .into(),
        ),
    }
}

/// The addresses of the stack that wrote this file.
fn running(file: &Path) -> Result<StackMap, Error> {
    let text = fs::read_to_string(file).map_err(|_| "no stack runs here: start one with make run")?;
    Ok(serde_json::from_str(&text)?)
}

/// `.local/stack.json`: a link, since the stack writes its map again when processes change. Gone when the stack stops.
struct MapLink(PathBuf);

impl MapLink {
    fn create(path: PathBuf) -> Result<Self, Error> {
        if path.symlink_metadata().is_ok() {
            fs::remove_file(&path)?;
        }
        symlink("run/stack.json", &path)?;
        Ok(Self(path))
    }
}

impl Drop for MapLink {
    fn drop(&mut self) {
        // Gone already is as good.
        fs::remove_file(&self.0).ok();
    }
}

fn exit_code(status: ExitStatus) -> Result<ExitCode, Error> {
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}

/// Waits for SIGINT, SIGTERM or SIGHUP.
async fn stop_signal() {
    let wait = async |kind| match signal(kind) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => pending().await,
    };
    tokio::select! {
        () = wait(SignalKind::interrupt()) => {}
        () = wait(SignalKind::terminate()) => {}
        () = wait(SignalKind::hangup()) => {}
    }
}
