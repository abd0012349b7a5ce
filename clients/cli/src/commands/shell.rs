//! `moments completions` and `moments man`: what makes the command at home in a shell.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::{arguments::Arguments, failure::Failure, output};

/// Prints a shell's script of completions.
pub fn completions(shell: Shell) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "moments", &mut script);
    output::print(&String::from_utf8_lossy(&script))
}

/// Prints the man page, or that of one command.
pub fn man(name: Option<&str>) -> Result<(), Failure> {
    let mut command = Arguments::command();
    command.build();
    let described = match name {
        None => command,
        Some(name) => {
            let found = command.find_subcommand(name).cloned();
            found.ok_or_else(|| Failure::Usage(format!("there is no command {name}: `moments help` lists them")))?
        }
    };
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(described).render(&mut page);
    rendered.map_err(|error| Failure::Here(format!("The man page can't be made: {error}")))?;
    output::print(&String::from_utf8_lossy(&page))
}
