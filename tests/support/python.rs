//! The project's Python commands, run against emulated services.

use std::process::Output;

use local::paths::Paths;
use tokio::process::Command;

use crate::Error;

/// Runs a command of the checkout, with its arguments, against the services of an endpoint.
pub async fn python(endpoint: &str, arguments: &[&str]) -> Result<Output, Error> {
    let paths = Paths::of_checkout();
    let mut command = Command::new(paths.python_program("python"));
    command.args(arguments).current_dir(paths.root()).env("AWS_ENDPOINT_URL", endpoint);
    command.envs([("AWS_ACCESS_KEY_ID", "local"), ("AWS_SECRET_ACCESS_KEY", "local")]);
    Ok(command.env("AWS_DEFAULT_REGION", "us-east-1").output().await?)
}
