//! Programs that the stack starts. Each ends with the value that stands for it.

use std::{
    fs,
    net::TcpListener,
    ops::Range,
    path::Path,
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use tokio::{
    net::TcpStream,
    process::{Child, Command},
};

use crate::Error;

/// A running program, killed when this is dropped.
pub struct Process {
    name: String,
    child: Child,
    log: std::path::PathBuf,
}

impl Process {
    /// Starts a program, its output going to `<logs>/<name>.log`.
    ///
    /// # Errors
    /// When it can't be started.
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

    /// Waits until `is_ready` says so.
    ///
    /// # Errors
    /// When the program ends before, or isn't ready after 30 seconds.
    pub async fn ready(&mut self, is_ready: impl AsyncFn() -> bool) -> Result<(), Error> {
        let deadline = tokio::time::Instant::now() + Duration::from_secs(30);
        while !is_ready().await {
            if let Some(status) = self.child.try_wait()? {
                return Err(format!("{} ended at once ({status}): see {}", self.name, self.log.display()).into());
            }
            if tokio::time::Instant::now() > deadline {
                return Err(format!("{} isn't ready after 30 s: see {}", self.name, self.log.display()).into());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// The operating system's number for it, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the program's end.
    ///
    /// # Errors
    /// When the operating system can't tell.
    pub async fn ended(&mut self) -> Result<(), Error> {
        self.child.wait().await?;
        Ok(())
    }
}

/// Below the ports that systems hand out to whoever asks for any, from 32768 on or higher: none of those can be taken by
/// somebody else before the program that was told of it listens there.
const PORTS: Range<u16> = 20_000..32_000;

/// A port that nobody listens on, for a program that must be told one. Each call gives another; each process begins at a
/// place of its own among them, so that two seldom try the same.
///
/// # Errors
/// When there is none.
pub fn free_port() -> Result<u16, Error> {
    static GIVEN: AtomicU32 = AtomicU32::new(0);
    let (first, count) = (std::process::id().wrapping_mul(101), u32::try_from(PORTS.len())?);
    for _ in PORTS {
        let next = first.wrapping_add(GIVEN.fetch_add(1, Ordering::Relaxed)) % count;
        let port = PORTS.start + u16::try_from(next)?;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    Err(format!("no port from {} to {} is free", PORTS.start, PORTS.end).into())
}

/// The port that a user asked for.
///
/// # Errors
/// When somebody listens there already.
pub fn wanted_port(port: u16) -> Result<u16, Error> {
    let other = port.saturating_add(1);
    let taken = |_| format!("port {port} is taken: stop what uses it, or run `PORT={other} make run`");
    TcpListener::bind(("127.0.0.1", port)).map_err(taken)?;
    Ok(port)
}

/// Whether `url` answers, and well.
pub async fn answers(url: &str) -> bool {
    reqwest::get(url).await.is_ok_and(|answer| answer.status().is_success())
}

/// Whether somebody listens on a port.
pub async fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).await.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_given_once_and_never_one_that_is_taken() -> Result<(), Error> {
        let first = free_port()?;
        let next = PORTS.start + (first + 1 - PORTS.start) % (PORTS.end - PORTS.start);
        let _taken = TcpListener::bind(("127.0.0.1", next));
        let others = [free_port()?, free_port()?];
        assert!(PORTS.contains(&first) && others.iter().all(|port| PORTS.contains(port)));
        assert!(others[0] != first && others[1] != first && others[0] != others[1] && !others.contains(&next));
        Ok(())
    }
}
