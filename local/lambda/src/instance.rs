//! An instance of a function: its process, from start to end.

use std::{fs::File, io::Write, os::unix::process::ExitStatusExt, process::ExitStatus, sync::Arc};

use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use uuid::Uuid;

use crate::{function::Function, pool::Pools};

/// Runs an instance until its process ends, its deadline passes, or its pool drops the deadline's sender. The process
/// is killed when this future is dropped.
pub(crate) async fn run(pools: Arc<Pools>, id: Uuid, function: Arc<Function>, mut deadline: watch::Receiver<Instant>) {
    // lambda_runtime understands a path in this address only behind a scheme.
    let runtime_api = format!("{}/{}/{id}", pools.runtime_api, function.name);
    let child = match function.command(&runtime_api) {
        Ok(command) => pools.spawner.spawn(command).await,
        Err(error) => Err(error),
    };
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            let how = format!("before it started: {}: {error}", function.program.display());
            note(&function, &how);
            pools.ended(id, &how);
            return;
        }
    };
    pools.started(id, child.id());
    loop {
        let until = *deadline.borrow_and_update();
        tokio::select! {
            status = child.wait() => {
                let how = status.map_or_else(|error| format!("unseen: {error}"), end_of);
                let error = pools.ended(id, &how);
                note(&function, &error.unwrap_or_else(|| format!("instance {id}: process exited {how}")));
                return;
            }
            changed = deadline.changed() => if changed.is_err() { break },
            () = sleep_until(until) => if pools.expire(id) { break },
        }
    }
    // It may have just ended on its own.
    let _ = child.kill().await;
}

fn end_of(status: ExitStatus) -> String {
    match status.signal() {
        Some(9) => "with error: signal: killed".to_owned(),
        Some(signal) => format!("with error: signal: {signal}"),
        None if status.success() => "without providing a reason".to_owned(),
        None => format!("with error: exit status {}", status.code().unwrap_or_default()),
    }
}

/// Adds a line to a function's log.
fn note(function: &Function, line: &str) {
    let Some(log) = &function.log else { return };
    if let Ok(mut log) = File::options().create(true).append(true).open(log) {
        // The log is for people: without it everything else goes on.
        let _ = writeln!(log, "lambda: {line}");
    }
}
