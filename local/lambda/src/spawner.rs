//! Starts processes so that they end with this one, however it ends.
//!
//! A process can ask the kernel for a signal when the thread that started it ends. Threads of an async runtime come and
//! go, so that one thread of the service's own starts all processes.

use std::{io, path::Path, process, sync::mpsc, thread};

use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::oneshot,
};

/// Sets the signal and becomes the program; part of util-linux. Without it, processes end only when this one ends in
/// order, or when they next ask for an invocation.
const SETPRIV: &str = "/usr/bin/setpriv";

/// The thread; it ends when the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Spawner {
    commands: mpsc::Sender<Order>,
}

type Order = (Command, oneshot::Sender<io::Result<Child>>);

impl Spawner {
    /// Starts the thread. Must be called inside a runtime, which then watches the processes.
    pub(crate) fn start() -> io::Result<Self> {
        let (commands, orders) = mpsc::channel::<Order>();
        let runtime = Handle::current();
        thread::Builder::new().name("spawner".to_owned()).spawn(move || {
            let _entered = runtime.enter();
            for (mut command, child) in orders {
                // Nobody waits for a process of an instance that is no longer wanted: it is killed when it is dropped.
                let _ = child.send(command.spawn());
            }
        })?;
        Ok(Self { commands })
    }

    /// Starts a program.
    pub(crate) async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (child, started) = oneshot::channel();
        let ended = || io::Error::other("the service ends");
        self.commands.send((command, child)).map_err(|_| ended())?;
        started.await.map_err(|_| ended())?
    }
}

/// A command for `program` that is killed when the thread that starts it ends.
pub(crate) fn bound(program: &Path) -> process::Command {
    if !Path::new(SETPRIV).exists() || !program.exists() {
        return process::Command::new(program);
    }
    let mut command = process::Command::new(SETPRIV);
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}
