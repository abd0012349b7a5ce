//! `POST /reports`, the operator's desk, and `GET /moderation`.

use aws_sdk_dynamodb::types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType};
use local::{
    cloud::{self, Endpoints},
    desk::Desk,
    paths::Paths,
};
use serde_json::{Value, json};
use tests::{Answer, Error, Sandbox, Stack, python};

const REPORTER: &str = "reporter@example.com";

fn subject_of(collection: &str) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}})
}

fn has(count: usize) -> impl Fn(&Value) -> bool {
    move |body| body["moments"].as_array().is_some_and(|moments| moments.len() == count)
}

async fn run(desk: &Desk, arguments: &[&str]) -> Result<String, String> {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    desk.run(&arguments).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn reported_moment_is_hidden_by_the_operator_alone_and_shown_again() {
    let stack = Stack::connect();
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let artist = stack.new_writer().await;
    let collection = stack.release(&artist.key, "Somebody else's", &["ar://1".to_owned()]).await;
    let (listed, subject) = (format!("/timeline?collection={collection}"), format!("moment#8453#{collection}#1"));
    stack.wait_until(&listed, has(1)).await;

    let words = json!({"subject": subject_of(&collection), "reason": "copyright", "text": "Mine.", "email": REPORTER});
    for _ in 0..2 {
        let answer = stack.post_json("/reports", &words).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        assert_eq!(answer.body["reportId"].as_str().map(str::len), Some(36), "{answer:?}");
    }
    let reported = run(&desk, &["list"]).await.expect("a list");
    assert!(reported.contains(&format!("{subject}  2 reports, the last for copyright")), "{reported}");
    let shown = run(&desk, &["show", &subject]).await.expect("the reports");
    assert!(
        shown.contains("nothing is decided") && shown.contains(&format!("copyright from {REPORTER}: Mine.")),
        "{shown}"
    );

    run(&desk, &["hide", &subject, "copyright", "a", "claim"]).await.expect("a decision");
    assert!(run(&desk, &["hide", &subject, "spam", "again"]).await.is_err(), "decided twice");
    stack.wait_until(&listed, has(0)).await;
    stack.wait_until(&format!("{listed}&hidden=true"), has(0)).await;
    let root = stack.map.api.trim_end_matches("/api").to_owned();
    let page = format!("{root}/m/8453/{collection}/1");
    let answer = stack.http.get(&page).send().await.expect("an answer");
    assert_eq!(answer.status(), 404);
    assert!(answer.text().await.expect("a page").contains("The operator of this site"), "the page says so");
    let card = format!("{root}/card/m/8453/{collection}/1.png");
    assert_eq!(stack.http.get(&card).send().await.expect("an answer").status(), 404);
    for hidden in [true, false] {
        let body = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "hidden": hidden});
        Answer::of(stack.post("/moment/hide").header("x-api-key", &artist.key).json(&body)).await.expect_error(403);
    }

    let numbers = Answer::of(stack.get("/moderation")).await.expect_success().body;
    let copyright =
        numbers["decisions"].as_array().expect("months").iter().find(|month| month["reason"] == "copyright");
    assert!(copyright.is_some_and(|month| month["count"].as_u64() >= Some(1)), "{numbers}");

    run(&desk, &["undo", &subject]).await.expect("an end");
    stack.wait_until(&listed, has(1)).await;
    assert_eq!(stack.http.get(&page).send().await.expect("an answer").status(), 200);
    assert!(run(&desk, &["undo", &subject]).await.is_err(), "undone twice");
    let log = run(&desk, &["log"]).await.expect("the log");
    let lines: Vec<_> = log.lines().filter(|line| line.contains(&subject)).collect();
    assert!(lines[0].ends_with("hidden by the night shift (copyright: a claim)"), "{lines:?}");
    assert!(lines[1].contains("shown again by the night shift"), "{lines:?}");
}

#[tokio::test]
async fn moment_that_its_artist_hid_stays_hidden_when_the_operator_lets_go_of_it() {
    let stack = Stack::connect();
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let artist = stack.new_writer().await;
    let collection = stack.release(&artist.key, "Hidden twice", &["ar://1".to_owned()]).await;
    let (listed, subject) = (format!("/timeline?collection={collection}"), format!("moment#8453#{collection}#1"));
    stack.wait_until(&listed, has(1)).await;
    let body = json!({"moment": {"collectionAddress": collection, "tokenId": "1"}});
    Answer::of(stack.post("/moment/hide").header("x-api-key", &artist.key).json(&body)).await.expect_success();
    stack.wait_until(&listed, has(0)).await;
    run(&desk, &["hide", &subject, "other", "twice"]).await.expect("a decision");
    stack.wait_until(&format!("{listed}&hidden=true"), has(0)).await;
    run(&desk, &["undo", &subject]).await.expect("an end");
    stack.wait_until(&format!("{listed}&hidden=true"), has(1)).await;
    stack.wait_until(&listed, has(0)).await;
}

#[tokio::test]
async fn report_names_one_thing_and_a_reason_and_comes_from_a_client_a_few_times_an_hour() {
    let stack = Stack::connect();
    let artist = "0x540c18b7f99b3b599c6feb99964498931c211858";
    for (body, fields) in [
        (json!({}), &["subject", "reason"][..]),
        (json!({"subject": {}, "reason": "spam"}), &["subject"]),
        (
            json!({"subject": {"artist": artist, "cid": "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy"}, "reason": "spam"}),
            &["subject"],
        ),
        (
            json!({"subject": {"artist": artist}, "reason": "ugly", "text": "", "email": "nobody"}),
            &["reason", "text", "email"],
        ),
        (
            json!({"subject": {"moment": {"collectionAddress": artist, "tokenId": "-1"}}, "reason": "spam"}),
            &["subject.moment.tokenId"],
        ),
    ] {
        let answer = stack.post_json("/reports", &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
    let sandbox = Sandbox::with_variables(&stack, "create-report", &[("REPORTS_PER_CLIENT_HOURLY", "2")]).await;
    let body = json!({"subject": {"artist": artist}, "reason": "impersonation"});
    let mut statuses = Vec::new();
    for _ in 0..3 {
        statuses.push(sandbox.post("192.0.2.77", &body).await.0);
    }
    assert_eq!(statuses, [202, 202, 429]);
    assert_eq!(sandbox.post("198.51.100.77", &body).await.0, 202, "another client");
}

/// The table of a stage's artists in a cloud of its own.
async fn create_table(cloud: &str) -> Result<(), Error> {
    let endpoints = Endpoints { aws: cloud.to_owned(), dynamodb: cloud.to_owned() };
    let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(cloud).await);
    let call = client.create_table().table_name("moments-staging-artists").billing_mode(BillingMode::PayPerRequest);
    let key = |name: &str, kind: KeyType| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
    let text =
        |name: &str| AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build();
    let call = call.key_schema(key("pk", KeyType::Hash)?).key_schema(key("sk", KeyType::Range)?);
    call.attribute_definitions(text("pk")?).attribute_definitions(text("sk")?).send().await?;
    Ok(())
}

#[tokio::test]
async fn operator_of_a_stage_decides_by_the_identity_of_their_own() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("desk")).await.expect("a cloud");
    create_table(&cloud).await.expect("a table");
    let subject = format!("moment#8453#0x{}#1", "54".repeat(20));
    let desk = async |arguments: &[&str]| {
        let output = python(&cloud, &[&["local/sam/desk", "staging"], arguments].concat()).await.expect("python runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    assert_eq!(desk(&["list"]).await, (true, "nothing is reported or decided\n".to_owned()));
    let (is_done, said) = desk(&["hide", &subject, "spam", "the", "same", "again"]).await;
    assert!(is_done && said.contains("is hidden"), "{said}");
    let (is_done, said) = desk(&["show", &subject]).await;
    assert!(is_done && said.contains("hidden for spam by arn:aws:"), "{said}");
    let (is_done, said) = desk(&["hide", &subject, "ugly", "it", "is"]).await;
    assert!(!is_done && said.contains("must be copyright, illegal"), "{said}");
}
