//! Programs that the stack starts. Each ends with the value that stands for it.

use std::{fs, net::TcpListener, path::Path, process::Stdio, time::Duration};

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

/// A port that nobody listens on.
///
/// # Errors
/// When there is none.
pub fn free_port() -> Result<u16, Error> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
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

/// Whether `url` answers, whatever it answers.
pub async fn answers(url: &str) -> bool {
    reqwest::get(url).await.is_ok()
}

/// Whether somebody listens on a port.
pub async fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).await.is_ok()
}
