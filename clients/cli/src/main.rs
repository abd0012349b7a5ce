//! `moments`: the service from a terminal.

mod address;
mod amount;
mod arguments;
mod commands;
mod credentials;
mod failure;
mod instant;
mod moment;
mod output;
mod service;
mod session;
mod upload;

use std::process::ExitCode;

use clap::Parser;

use crate::{arguments::Arguments, failure::Failure};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match commands::run(Arguments::parse()).await {
        Ok(()) | Err(Failure::Closed) => ExitCode::SUCCESS,
        Err(failure) => {
            output::tell(&format!("error: {failure}"));
            if matches!(failure, Failure::Usage(_)) { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}
