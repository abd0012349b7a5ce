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
    for milliseconds in [60_000, 100] {
        let (invoker, event) = (lambda.invoker(), format!(r#"{{"do": "wait", "ms": {milliseconds}}}"#));
        let run = tokio::spawn(async move { invoker.invoke(Invocation::new("probe", event)).await });
        if milliseconds == 100 {
            run.await??;
        }
    }
    let ids = lambda.processes().borrow().get("probe").cloned().unwrap_or_default();
    println!("{}", ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" "));
    println!("{}", lambda.url());
    std::future::pending().await
}
