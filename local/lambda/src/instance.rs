//! An instance of a function: its process, from start to end.

use std::{future::pending, os::unix::process::ExitStatusExt, process::ExitStatus, sync::Arc};

use tokio::{
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

use crate::{function::Function, spawner::Spawner};

/// A change of an instance's process.
#[derive(Debug)]
pub(crate) enum Report {
    /// It runs, under this id.
    Started(Option<u32>),
    /// It ended on its own, or could not be started; how, in words that follow "exited".
    Ended(String),
    /// Its deadline has passed.
    Expired,
}

/// Runs an instance until its process ends or `deadline` loses its sender, and reports what happens to it. The process
/// is killed when this future is dropped.
pub(crate) async fn run(
    function: Arc<Function>,
    runtime_api: String,
    spawner: Spawner,
    mut deadline: watch::Receiver<Instant>,
    reports: mpsc::Sender<Report>,
) {
    let report = async |report| {
        // Without a receiver the service ends, and this future with it.
        let _ = reports.send(report).await;
    };
    let child = match function.command(&runtime_api) {
        Ok(command) => spawner.spawn(command).await,
        Err(error) => Err(error),
    };
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            return report(Report::Ended(format!("before it started: {}: {error}", function.program.display()))).await;
        }
    };
    report(Report::Started(child.id())).await;
    loop {
        let until = *deadline.borrow_and_update();
        let expiry = async {
            sleep_until(until).await;
            report(Report::Expired).await;
            // The answer is a later deadline, or none.
            pending::<()>().await;
        };
        tokio::select! {
            status = child.wait() => {
                let how = status.map_or_else(|error| format!("unseen: {error}"), end_of);
                return report(Report::Ended(how)).await;
            }
            changed = deadline.changed() => if changed.is_err() { break },
            () = expiry => {}
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
