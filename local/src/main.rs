//! `local run` starts the stack and keeps it until Ctrl-C. `local test <command…>` starts another one on free ports, runs
//! the command against it and stops it.

use std::{env, future::pending, process::ExitCode, time::Duration};

use local::{
    Error,
    paths::Paths,
    stack::{Options, Stack},
};
use tokio::{
    process::Command,
    signal::unix::{SignalKind, signal},
};

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    // Whatever ends this drops the stack, and the stack's processes end with it.
    let outcome = tokio::select! {
        outcome = command(&arguments) => outcome,
        () = stop_signal() => Ok(ExitCode::SUCCESS),
    };
    // The processes are killed by now; the runtime needs a moment to collect them, so that not even their names are left.
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
            let port = env::var("PORT").unwrap_or_else(|_| "3000".to_owned());
            let port = port.parse().map_err(|_| format!("PORT is {port}: give a port from 1 to 65535"))?;
            let stack = Stack::start(&paths, &Options { folder: paths.local("run"), port: Some(port) }).await?;
            std::fs::copy(paths.local("run/stack.json"), paths.local("stack.json"))?;
            println!("ready: {}", stack.map.api);
            pending().await
        }
        [command, program, arguments @ ..] if command == "test" => {
            let folder = paths.local("test");
            let _stack = Stack::start(&paths, &Options { folder: folder.clone(), port: None }).await?;
            let mut tests = Command::new(program);
            tests.args(arguments).env("MOMENTS_STACK", folder.join("stack.json")).kill_on_drop(true);
            let status = tests.status().await.map_err(|error| format!("{program} can't be started: {error}"))?;
            Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
        }
        _ => Err("usage: local run | local test <command> [argument…]".into()),
    }
}

/// Waits for Ctrl-C, or for being asked to end in any other way.
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
