//! A function for the tests. It does what its event's `do` says, or for a request of a gateway, its query's.

use std::{fs, path::Path, process::exit, time::Duration};

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde_json::{Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    if std::env::var("START").is_ok_and(|start| start == "fails") {
        exit(3);
    }
    lambda_runtime::run(service_fn(answer)).await
}

async fn answer(event: LambdaEvent<Value>) -> Result<Value, Error> {
    let LambdaEvent { payload, context } = event;
    let query = &payload["queryStringParameters"];
    let ask = if query.is_object() { query } else { &payload };
    let number = |name: &str| {
        ask[name].as_u64().or_else(|| ask[name].as_str().and_then(|text| text.parse().ok())).unwrap_or_default()
    };
    match ask["do"].as_str().unwrap_or_default() {
        "wait" => tokio::time::sleep(Duration::from_millis(number("ms"))).await,
        "hold" => {
            let gate = Path::new(ask["gate"].as_str().unwrap_or_default());
            fs::write(gate.join(&context.request_id), "")?;
            while !gate.join("open").exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        "crash" => exit(1),
        "fail" => return Err("it failed".into()),
        "grow" => return Ok("x".repeat(usize::try_from(number("bytes"))?).into()),
        "respond" => return Ok(serde_json::from_str(ask["response"].as_str().unwrap_or_default())?),
        "body" => {
            let (body, is_encoded) = (&payload["body"], &payload["isBase64Encoded"]);
            return Ok(json!({"statusCode": 200, "body": body, "isBase64Encoded": is_encoded}));
        }
        "context" => {
            return Ok(json!({
                "requestId": context.request_id,
                "arn": context.invoked_function_arn,
                "deadline": context.deadline,
                "traceId": context.xray_trace_id,
                "client": context.client_context,
                "name": context.env_config.function_name,
                "version": context.env_config.version,
                "memory": context.env_config.memory,
                "home": std::env::var("HOME").ok(),
                "given": std::env::var("GIVEN").ok(),
            }));
        }
        _ => {}
    }
    Ok(json!({"event": payload, "process": std::process::id()}))
}
