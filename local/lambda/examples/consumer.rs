//! A function for the tests, driven by a stream. It writes the start and the end of each invocation to the file that
//! `LOG` names, and does with each item what its attribute `do` says. `WORD-once` and `WORD-twice` do it only the first
//! times.

use std::{fs::File, io::Write, process::exit, time::Duration};

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    lambda_runtime::run(service_fn(answer)).await
}

async fn answer(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = event;
    let path = std::env::var("LOG")?;
    let before = std::fs::read_to_string(&path).unwrap_or_default();
    note(&path, &json!({"start": context.request_id, "event": payload}))?;
    let mut failures = Vec::new();
    let mut response = None;
    for record in payload["Records"].as_array().into_iter().flatten() {
        let asked = record["dynamodb"]["NewImage"]["do"]["S"].as_str().unwrap_or_default();
        let id = record["eventID"].as_str().unwrap_or_default();
        let (word, most) = match asked.rsplit_once('-') {
            Some((word, "once")) => (word, 1),
            Some((word, "twice")) => (word, 2),
            _ => (asked, usize::MAX),
        };
        if before.matches(id).count() >= most {
            continue;
        }
        match word {
            "fail" => return Err("it failed".into()),
            "crash" => exit(1),
            "hang" => std::future::pending::<()>().await,
            "wait" => tokio::time::sleep(Duration::from_millis(20)).await,
            "meet" => {
                while starts(&path)? < 2 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            "report" => failures.push(json!({"itemIdentifier": record["dynamodb"]["SequenceNumber"]})),
            "respond" => response = record["dynamodb"]["NewImage"]["response"]["S"].as_str(),
            _ => {}
        }
    }
    note(&path, &json!({"end": context.request_id}))?;
    Ok(match response {
        Some(response) => serde_json::from_str(response)?,
        None => json!({"batchItemFailures": failures}),
    })
}

/// How many invocations have started so far.
fn starts(path: &str) -> std::io::Result<usize> {
    Ok(std::fs::read_to_string(path)?.lines().filter(|line| line.contains(r#""start":"#)).count())
}

fn note(path: &str, line: &Value) -> std::io::Result<()> {
    // In one write, so that lines of several processes don't mix.
    File::options().create(true).append(true).open(path)?.write_all(format!("{line}\n").as_bytes())
}
