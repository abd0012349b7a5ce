//! Child processes of the stack, and ports for them.

use std::{
    fs,
    net::TcpListener,
    ops::Range,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering},
};

use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::{Error, patience::eventually};

/// A running program, killed when this is dropped.
pub struct Process {
    name: String,
    child: Child,
    log: std::path::PathBuf,
}

impl Process {
    /// Starts a program, with its output appended to `<logs>/<name>.log`.
    pub fn start(name: &str, logs: &Path, command: &mut Command) -> Result<Self, Error> {
        fs::create_dir_all(logs)?;
        let log = logs.join(format!("{name}.log"));
        let output = fs::File::options().create(true).append(true).open(&log)?;
        let program = command.as_std().get_program().to_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| format!("{name}: {} can't be started ({error}): run `make tools`", program.display()))?;
        Ok(Self { name: name.to_owned(), child, log })
    }

    /// Waits until `is_ready` returns true. A program that ends before is an error.
    pub async fn ready(&mut self, is_ready: impl AsyncFn() -> bool) -> Result<(), Error> {
        let (name, log, child) = (&self.name, self.log.display(), &mut self.child);
        eventually(format!("{name} is ready, see {log}"), async || {
            if is_ready().await {
                return Ok(Some(()));
            }
            match child.try_wait()? {
                Some(status) => Err(format!("{name} ended at once ({status}): see {log}").into()),
                None => Ok(None),
            }
        })
        .await
    }

    /// Process id, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }
}

/// Below the ephemeral ports (32768 and up), so the system gives none of these to another program before ours listens.
const PORTS: Range<u16> = 20_000..32_000;

/// A free port for a program that needs a fixed one. Each call returns another, and each process starts at a different
/// offset, so two processes seldom try the same port.
pub fn free_port() -> Result<u16, Error> {
    static RETURNED: AtomicU32 = AtomicU32::new(0);
    let (first, count) = (std::process::id().wrapping_mul(101), u32::try_from(PORTS.len())?);
    for _ in PORTS {
        let next = first.wrapping_add(RETURNED.fetch_add(1, Ordering::Relaxed)) % count;
        let port = PORTS.start + u16::try_from(next)?;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(format!("no port from {} to {} is free", PORTS.start, PORTS.end).into())
}

/// `port`, or an error if it is taken.
pub fn requested_port(port: u16) -> Result<u16, Error> {
    let other = port.saturating_add(1);
    let taken = |_| format!("port {port} is taken: stop what uses it, or run `PORT={other} make run`");
    TcpListener::bind(("127.0.0.1", port)).map_err(taken)?;
    Ok(port)
}

/// Whether `url` answers with a success status.
pub async fn answers(url: &str) -> bool {
    reqwest::get(url).await.is_ok_and(|answer| answer.status().is_success())
}

/// Whether a program listens on `port`.
pub async fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_are_distinct_and_not_taken() -> Result<(), Error> {
        let first = free_port()?;
        let next = PORTS.start + (first + 1 - PORTS.start) % (PORTS.end - PORTS.start);
        let _taken = TcpListener::bind(("127.0.0.1", next));
        let others = [free_port()?, free_port()?];
        assert!(PORTS.contains(&first) && others.iter().all(|port| PORTS.contains(port)));
        assert!(others[0] != first && others[1] != first && others[0] != others[1] && !others.contains(&next));
        Ok(())
    }
}
