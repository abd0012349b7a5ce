//! The commands.

mod account;
mod collect;
mod publish;
mod shell;
mod sign_in;
mod sign_out;
mod watch;

use crate::{
    arguments::{Arguments, Command, Common},
    failure::Failure,
    output::Output,
};

/// Runs a command.
pub async fn run(Arguments { common: Common { api, json }, command }: Arguments) -> Result<(), Failure> {
    let (api, output) = (api.as_ref(), Output { is_json: json });
    match command {
        Command::SignIn(arguments) => sign_in::run(arguments, api, output).await,
        Command::SignOut(arguments) => sign_out::run(&arguments, api, output).await,
        Command::Publish(arguments) => publish::run(&arguments, api, output).await,
        Command::Collect(arguments) => collect::run(arguments, api, output).await,
        Command::Watch(arguments) => watch::run(&arguments, api, output).await,
        Command::Whoami => account::whoami(api, output).await,
        Command::Transactions(arguments) => account::transactions(&arguments, api, output).await,
        Command::Completions { shell } => shell::completions(shell),
        Command::Man { command } => shell::man(command.as_deref()),
    }
}
