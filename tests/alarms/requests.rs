//! Alarms on what clients are answered.

use std::{sync::atomic::Ordering, time::Instant};

use futures::{StreamExt, stream};
use local::{api_gateway::ApiGateway, database, patience::PATIENCE};
use serde_json::json;
use tests::{DatabaseProxy, Error, Sandbox, Stack, unused_email};
use tokio::time::timeout;

use super::{Seen, Tried, Tries, function, staged, template};

/// Nothing answers there.
const NOWHERE: &str = "http://127.0.0.1:9";

pub async fn tries(stack: &Stack) -> Result<Tries, Error> {
    // On a thread of its own, since it looks at the clock.
    let slow = tokio::spawn(slow_reads(staged(stack)));
    let (codes, budget, sign_ins, writes) =
        tokio::join!(codes_refused(stack), mail_budget(stack), sign_ins_refused(stack), failed_writes(stack));
    let mut tries = Tries::from([
        ("CodesRefusedAlarm", codes),
        ("MailBudgetAlarm", budget),
        ("SignInsRefusedAlarm", sign_ins),
        ("FailedWritesAlarm", writes),
        ("BouncedMailsAlarm", bounced_mails(stack)?),
        ("SlowReadsAlarm", slow.await??),
    ]);
    tries.extend(answers(stack).await?);
    Ok(tries)
}

/// Somebody asks for codes for more addresses than a client may.
async fn codes_refused(stack: &Stack) -> Tried {
    let (with, without) = (staged(stack), staged(stack));
    let sandbox = function(&with, "send-code", &[("CODES_PER_CLIENT_HOURLY", "1")]).await;
    together(103, async |_| {
        sandbox.post("192.0.2.1", &json!({"email": unused_email()})).await;
    })
    .await;
    let well = function(&without, "send-code", &[]).await;
    assert_eq!(well.post("192.0.2.2", &json!({"email": unused_email()})).await.0, 200);
    Tried { with: Seen::of(&with, &sandbox), without: Seen::of(&without, &well), times: 1 }
}

/// More mails are asked for than the service sends in an hour.
async fn mail_budget(stack: &Stack) -> Tried {
    let (with, without) = (staged(stack), staged(stack));
    let ask = async |stage: &Stack, hourly: &str| {
        let sandbox = function(stage, "send-code", &[("CODES_TOTAL_HOURLY", hourly)]).await;
        let (status, _) = sandbox.post("192.0.2.4", &json!({"email": unused_email()})).await;
        (status, Seen::of(stage, &sandbox))
    };
    let ((refused, with), (sent, without)) = (ask(&with, "0").await, ask(&without, "3000").await);
    assert_eq!((refused, sent), (429, 200));
    Tried { with, without, times: 1 }
}

/// Many clients guess codes.
async fn sign_ins_refused(stack: &Stack) -> Tried {
    let (with, without) = (staged(stack), staged(stack));
    let sandbox = function(&with, "log-in", &[]).await;
    let guess = async |sandbox: &Sandbox, number: usize| {
        let body = json!({"email": unused_email(), "code": "000000"});
        assert_eq!(sandbox.post(&format!("192.0.2.{}", number % 250), &body).await.0, 401);
    };
    together(201, async |number| guess(&sandbox, number).await).await;
    let well = function(&without, "log-in", &[]).await;
    guess(&well, 0).await;
    Tried { with: Seen::of(&with, &sandbox), without: Seen::of(&without, &well), times: 1 }
}

/// No node answers.
async fn failed_writes(stack: &Stack) -> Tried {
    let (with, without) = (staged(stack), staged(stack));
    let writer = stack.new_writer().await;
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    let body = json!({"moment": moment, "newUri": "ar://alarming"});
    let write = async |sandbox: &Sandbox| sandbox.post_with("192.0.2.3", &body, &[("x-api-key", &writer.key)]).await.0;
    let nodes = json!({"8453": [NOWHERE]}).to_string();
    let sandbox = function(&with, "update-moment-uri", &[("RPC_URLS", &nodes)]).await;
    together(6, async |_| assert!(write(&sandbox).await >= 500)).await;
    let well = function(&without, "update-moment-uri", &[]).await;
    // It may be mined later.
    assert!([200, 202].contains(&write(&well).await));
    Tried { with: Seen::of(&with, &sandbox), without: Seen::of(&without, &well), times: 1 }
}

/// The database takes its time.
async fn slow_reads(stage: Stack) -> Result<Tried, Error> {
    let proxy = DatabaseProxy::start().await?;
    proxy.lead_to(&stage.map.dynamodb);
    let sandbox = Sandbox::with_database(&stage, "list-timeline", &proxy.url).await;
    let read = async |delay: u64| {
        proxy.delay.store(delay, Ordering::Relaxed);
        let start = Instant::now();
        assert_eq!(sandbox.get("limit=1").await["statusCode"], 200);
        start.elapsed().as_millis() as f64
    };
    let seen = |milliseconds| {
        Seen::of_aws(&stage, ("AWS/Lambda", "Duration"), ("FunctionName", "ListTimelineFunction"), &[milliseconds])
    };
    // The first starts the function, and what else this machine does can make a read slow.
    let fast = async {
        loop {
            let milliseconds = read(0).await;
            if milliseconds < 2_000.0 {
                break milliseconds;
            }
        }
    };
    let fast = timeout(PATIENCE, fast).await.map_err(|_| "every read takes two seconds")?;
    let without = seen(fast);
    Ok(Tried { with: seen(read(2_001).await), without, times: 1 })
}

/// The tables are gone; and a client asks very often. The gateway counts its answers.
async fn answers(stack: &Stack) -> Result<Tries, Error> {
    let (failing, well) = (staged(stack), staged(stack));
    let broken = Sandbox::crowd(&failing, "list-comments", &[], &database::start().await?, 8).await;
    let working = function(&well, "list-comments", &[]).await;
    let collection = stack.demo_collection(0);
    let get = async |sandbox: &Sandbox, count: usize| -> Result<Vec<u16>, Error> {
        let gateway = ApiGateway::start(0, sandbox.url(), None).await?;
        let url = format!("{}/api/comments?collectionAddress={collection:#x}&tokenId=1", gateway.url);
        let answers = stream::iter(0..count).map(|_| stack.http.get(&url).send()).buffer_unordered(8);
        let answers: Vec<_> = answers.collect().await;
        answers.into_iter().map(|answer| Ok(answer?.status().as_u16())).collect()
    };
    let failures = get(&broken, 11).await?;
    let successes = get(&working, 11).await?;
    let seen = |stage: &Stack, metric: &str, answers: &[u16]| {
        let value = |status: &u16| f64::from(u8::from(metric == "Count" || *status >= 500));
        let values: Vec<f64> = answers.iter().map(value).collect();
        Seen::of_aws(stage, ("AWS/ApiGateway", metric), ("ApiId", "Api"), &values)
    };
    let few = &successes[..10];
    Ok(Tries::from([
        (
            "ServerErrorsAlarm",
            Tried {
                with: seen(&failing, "5xx", &failures).and(seen(&failing, "Count", &failures)),
                without: seen(&well, "5xx", &successes).and(seen(&well, "Count", &successes)),
                times: 1,
            },
        ),
        (
            "RequestsAlarm",
            Tried { with: seen(&well, "Count", &successes), without: seen(&well, "Count", few), times: 1 },
        ),
    ]))
}

/// SES measures the rate by configuration set: the identity's own.
fn bounced_mails(stack: &Stack) -> Result<Tried, Error> {
    let template = template()?;
    let property = |r#type: &str, path: [&str; 2]| {
        let resource = template.resources(r#type).next().ok_or("no such resource")?;
        let value = resource.properties.get(path[0]).and_then(|part| part.get(path[1])).cloned();
        Ok::<_, Error>(template::resolve(&value.ok_or("no such property")?, &super::names(stack))?)
    };
    let used = property("AWS::SES::EmailIdentity", ["ConfigurationSetAttributes", "ConfigurationSetName"])?;
    assert_eq!(used, super::names(stack)["MailSettings"], "the sender's mails are counted elsewhere");
    let is_measured = property("AWS::SES::ConfigurationSet", ["ReputationOptions", "ReputationMetricsEnabled"])?;
    assert_eq!(is_measured, "true");
    let rate = |rate: f64| {
        let metric = ("AWS/SES", "Reputation.BounceRate");
        Seen::of_aws(&staged(stack), metric, ("ses:configuration-set", "MailSettings"), &[rate])
    };
    Ok(Tried { with: rate(0.06), without: rate(0.05), times: 1 })
}

async fn together(count: usize, each: impl AsyncFn(usize)) {
    let each = &each;
    stream::iter(0..count).map(|number| each(number)).buffer_unordered(8).for_each(async |()| {}).await;
}
