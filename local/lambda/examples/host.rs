//! A service for the tests to kill: prints the process ids of an idle and of a busy instance of the given program, and
//! its URL.

use std::{error::Error, time::Duration};

use local_lambda::{Function, Invocation, Lambda, Limits};

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let program = std::env::args_os().nth(1).ok_or("usage: host <program>")?;
    let lambda = Lambda::start(0, Limits::default()).await?;
    let mut function = Function::new("probe", program);
    function.timeout = Duration::from_secs(60);
    lambda.add(function);
    let invoker = lambda.invoker();
    tokio::spawn(async move { invoker.invoke(Invocation::new("probe", r#"{"do": "wait", "ms": 60000}"#)).await });
    // The second has a process of its own, since the first is before it.
    lambda.processes().wait_for(|processes| !processes.is_empty()).await?;
    lambda.invoker().invoke(Invocation::new("probe", "{}")).await?;
    let ids = lambda.processes().borrow().get("probe").cloned().unwrap_or_default();
    println!("{}", ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    println!("{}", lambda.url());
    std::future::pending().await
}
