//! Child processes of the stack, and ports for them.

use std::{
    fmt,
    fs::{self, File},
    io::{self, BufRead, BufReader, PipeReader, Write},
    net::{SocketAddr, TcpListener, UdpSocket},
    ops::Range,
    path::{Path, PathBuf},
    process::Stdio,
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use tokio::{
    process::{Child, Command},
    sync::oneshot,
    time::timeout,
};

use crate::{
    Error, http,
    patience::{PATIENCE, eventually},
};

/// A running program, killed when this is dropped.
pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
    _port: Option<Port>,
}

impl Process {
    /// Starts a program, with its output appended to `<logs>/<name>.log`.
    pub fn start(name: &str, logs: &Path, command: &mut Command) -> Result<Self, Error> {
        let (log, output) = log(name, logs)?;
        Self::spawn(name, log, command.stdout(output.try_clone()?).stderr(output))
    }

    /// The same for a server that says `Listening on <address>` once it does, such as on a port of its own choice.
    pub async fn listening(name: &str, logs: &Path, command: &mut Command) -> Result<(Self, SocketAddr), Error> {
        let (log, output) = log(name, logs)?;
        let (said, writer) = io::pipe()?;
        let process = Self::spawn(name, log, command.stdout(writer).stderr(output.try_clone()?))?;
        // The command would keep the pipe open when the program has ended.
        command.stdout(Stdio::null());
        let (tell, told) = oneshot::channel();
        thread::Builder::new().name(name.to_owned()).spawn(move || copy(said, output, tell))?;
        let log = process.log.display();
        let late = |_| format!("{name} doesn't listen within {} s: see {log}", PATIENCE.as_secs());
        let address = timeout(PATIENCE, told).await.map_err(late)?;
        let address = address.map_err(|_| format!("{name} ended at once: see {log}"))?;
        Ok((process, address))
    }

    fn spawn(name: &str, log: PathBuf, command: &mut Command) -> Result<Self, Error> {
        let program = command.as_std().get_program().to_owned();
        let child =
            command.stdin(Stdio::null()).kill_on_drop(true).spawn().map_err(|error| {
                format!("{name}: {} can't be started ({error}): run `make tools`", program.display())
            })?;
        Ok(Self { name: name.to_owned(), child, log, _port: None })
    }

    /// Holds the program's port as long as it runs.
    pub fn with_port(self, port: Port) -> Self {
        Self { _port: Some(port), ..self }
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

/// A free port for a program that needs a fixed one, and no other process of ours gets it while this is held.
pub struct Port {
    number: u16,
    /// Of the same number, since programs listen on TCP alone.
    _udp: UdpSocket,
}

impl fmt::Display for Port {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.number, formatter)
    }
}

impl Port {
    /// Whether a program listens on it.
    pub(crate) fn is_taken(&self) -> bool {
        TcpListener::bind(("127.0.0.1", self.number)).is_err()
    }
}

/// Finds a port. Each process starts at a different offset, so two processes seldom try the same one.
pub fn free_port() -> Result<Port, Error> {
    static RETURNED: AtomicU32 = AtomicU32::new(0);
    let (first, count) = (std::process::id().wrapping_mul(101), u32::try_from(PORTS.len())?);
    for _ in PORTS {
        let next = first.wrapping_add(RETURNED.fetch_add(1, Ordering::Relaxed)) % count;
        let number = PORTS.start + u16::try_from(next)?;
        let Ok(udp) = UdpSocket::bind(("127.0.0.1", number)) else { continue };
        let port = Port { number, _udp: udp };
        if !port.is_taken() {
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
    http::client().get(url).send().await.is_ok_and(|answer| answer.status().is_success())
}

/// Opens a program's log, to be appended to.
fn log(name: &str, logs: &Path) -> Result<(PathBuf, File), Error> {
    fs::create_dir_all(logs)?;
    let log = logs.join(format!("{name}.log"));
    let file = File::options().create(true).append(true).open(&log)?;
    Ok((log, file))
}

/// Copies a program's output to its log, and tells the address that is in it.
fn copy(said: PipeReader, mut log: File, address: oneshot::Sender<SocketAddr>) {
    let mut address = Some(address);
    for mut line in BufReader::new(said).split(b'\n').map_while(Result::ok) {
        let text = str::from_utf8(&line).unwrap_or_default();
        let listening = text.strip_prefix("Listening on ").and_then(|text| text.trim().parse().ok());
        if let Some(listening) = listening
            && let Some(address) = address.take()
        {
            // Nobody may wait any more.
            let _ = address.send(listening);
        }
        line.push(b'\n');
        // The log is for people: without it everything else goes on.
        let _ = log.write_all(&line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_ports_are_distinct_and_not_taken() -> Result<(), Error> {
        let first = free_port()?.number;
        let next = PORTS.start + (first + 1 - PORTS.start) % (PORTS.end - PORTS.start);
        let _taken = TcpListener::bind(("127.0.0.1", next));
        let others = [free_port()?.number, free_port()?.number];
        assert!(PORTS.contains(&first) && others.iter().all(|port| PORTS.contains(port)));
        assert!(others[0] != first && others[1] != first && others[0] != others[1] && !others.contains(&next));
        Ok(())
    }

    #[test]
    fn held_port_is_given_to_no_other_process() -> Result<(), Error> {
        let port = free_port()?;
        assert!(!port.is_taken());
        assert!(UdpSocket::bind(("127.0.0.1", port.number)).is_err());
        Ok(())
    }

    #[tokio::test]
    async fn address_of_a_listening_server_is_read_and_its_output_logged() -> Result<(), Error> {
        let logs = std::env::temp_dir().join(format!("moments-{}-listening", std::process::id()));
        let mut server = Command::new("sh");
        server.args(["-c", "echo Hello; echo Listening on 127.0.0.1:7; echo Bye; exec sleep 600"]);
        let (_process, address) = Process::listening("server", &logs, &mut server).await?;
        assert_eq!(address.to_string(), "127.0.0.1:7");
        eventually("the log", async || {
            Ok((fs::read_to_string(logs.join("server.log"))? == "Hello\nListening on 127.0.0.1:7\nBye\n").then_some(()))
        })
        .await?;
        let ended = Process::listening("other", &logs, Command::new("sh").args(["-c", "echo Oh >&2"])).await;
        assert!(ended.err().ok_or("it listens")?.to_string().contains("other ended at once: see"));
        assert_eq!(fs::read_to_string(logs.join("other.log"))?, "Oh\n");
        Ok(fs::remove_dir_all(&logs)?)
    }
}
