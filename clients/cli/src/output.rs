//! What commands print: lines for people, or the service's answer as JSON.

use std::io::{self, IsTerminal, Write};

use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use crate::failure::{Failure, one_line};

/// How often a spinner turns.
const TURN: std::time::Duration = std::time::Duration::from_millis(120);

/// Where results go.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Answers are printed as JSON, one a line, and nothing else is.
    pub is_json: bool,
}

impl Output {
    /// Prints an answer: as it is, or the lines that say the same to people.
    pub fn answer<T: Serialize>(self, answer: &T, lines: impl FnOnce(&T) -> Vec<String>) -> Result<(), Failure> {
        if self.is_json {
            let json = serde_json::to_string(answer).map_err(|error| Failure::Strange(error.to_string()))?;
            return print(&format!("{json}\n"));
        }
        let lines = lines(answer).iter().map(|line| format!("{}\n", one_line(line))).collect::<String>();
        print(&lines)
    }
}

/// Prints a text as it is.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::Closed,
        _ => Failure::Here(format!("The output can't be written: {error}")),
    })
}

/// Tells the person at the terminal something, apart from the results.
pub fn tell(text: &str) {
    // Without a terminal there is nobody to tell.
    let _ = writeln!(io::stderr(), "{}", one_line(text));
}

/// Asks the person at the terminal for a line. Empty if there is none.
pub fn question(text: &str) -> Result<String, Failure> {
    let unread = |error: io::Error| Failure::Here(format!("The answer can't be read: {error}"));
    let mut errors = io::stderr();
    write!(errors, "{text}").and_then(|()| errors.flush()).map_err(unread)?;
    let mut line = String::new();
    io::stdin().read_line(&mut line).map_err(unread)?;
    if !io::stdin().is_terminal() {
        // Nobody pressed Enter.
        tell("");
    }
    Ok(line.trim().to_owned())
}

/// A bar for something that has so many bytes.
pub fn bar(name: &str, size: u64) -> ProgressBar {
    let style = "{prefix} [{bar:30}] {bytes}/{total_bytes} {msg}";
    let style = ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(size).with_style(style.progress_chars("=> ")).with_prefix(one_line(name))
}

/// A spinner for something that takes as long as it takes.
pub fn spinner(text: &'static str) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(text);
    spinner.enable_steady_tick(TURN);
    spinner
}
