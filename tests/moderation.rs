//! `POST /reports`, the operator's desk, and `GET /moderation`.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use aws_sdk_dynamodb::types::{
    AttributeDefinition, AttributeValue, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType,
};
use local::{
    cloud::{self, Endpoints},
    desk::Desk,
    paths::Paths,
    pinning_service::TOKEN,
};
use reqwest::Url;
use serde_json::{Value, json};
use shared::{
    model::{Dag, LEAF},
    store::artist::{ArtistTable, Outbox},
};
use tests::{Answer, Error, Stack, Writer, eventually, python};
use uuid::Uuid;

use crate::reports::reported;

const REPORTER: &str = "reporter@example.com";

fn subject_of(collection: &str) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}})
}

fn has(count: usize) -> impl Fn(&Value) -> bool {
    move |body| body["moments"].as_array().is_some_and(|moments| moments.len() == count)
}

/// A desk, and an artist whose only moment is in the list at the path.
async fn listed_writer(stack: &Stack) -> (Desk, Writer, String) {
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let artist = stack.new_writer().await;
    let listed = format!("/timeline?collection={}", artist.collection);
    stack.wait_until(&listed, has(1)).await;
    (desk, artist, listed)
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

    let forged = "Mine.\nmoment#1#0x0#1  9 reports, the last for spam";
    let words = json!({"subject": subject_of(&collection), "reason": "copyright", "text": forged, "email": REPORTER});
    for _ in 0..2 {
        let answer = stack.post_json("/reports", &words).await;
        assert_eq!(answer.status, 202, "{answer:?}");
        assert_eq!(answer.body["reportId"].as_str().map(str::len), Some(36), "{answer:?}");
    }
    let reported = run(&desk, &["list"]).await.expect("a list");
    assert!(reported.contains(&format!("{subject}  2 reports, the last for copyright")), "{reported}");
    let shown = run(&desk, &["show", &subject]).await.expect("the reports");
    assert!(
        shown.contains("nothing is decided") && shown.contains(&format!("copyright from {REPORTER}: Mine. moment#1")),
        "{shown}"
    );
    assert_eq!(shown.lines().count(), 3, "a report is a line: {shown}");

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
async fn moments_that_come_later_are_hidden_with_their_collection() {
    let stack = Stack::connect();
    let (desk, artist, listed) = listed_writer(&stack).await;
    let collection = artist.collection;
    let subject = format!("collection#8453#{collection}");
    run(&desk, &["hide", &subject, "spam", "more", "will", "come"]).await.expect("a decision");
    let answer = Answer::of(stack.get(&format!("/collections/eip155:8453/erc1155:{collection}"))).await;
    assert!(answer.expect_error(404).body["message"].as_str().is_some_and(|message| message.contains("operator")));
    let body = json!({"contract": {"address": collection}, "token": {"tokenMetadataURI": "ar://2",
        "createReferral": artist.artist.wallet, "salesConfig": {"type": "fixedPrice", "pricePerToken": "0",
        "saleStart": 0, "saleEnd": "18446744073709551615"}, "mintToCreatorCount": 1}, "account": artist.artist.wallet});
    let created = stack.write("/moment/create", &artist.key, &body, &[]).await.expect_success().body;
    let later = format!(
        "/moment?collectionAddress={collection}&tokenId={}&chainId=8453",
        created["tokenId"].as_str().expect("a token")
    );
    eventually("it is indexed, and hidden", async || {
        let message = Answer::of(stack.get(&later)).await.expect_error(404).body["message"].clone();
        message.as_str().is_some_and(|message| message.contains("operator")).then_some(())
    })
    .await;
    assert!(has(0)(&Answer::of(stack.get(&listed)).await.expect_success().body), "it isn't listed");
    run(&desk, &["undo", &subject]).await.expect("an end");
    assert!(has(2)(&Answer::of(stack.get(&listed)).await.expect_success().body), "both are listed");
}

#[tokio::test]
async fn name_and_profile_go_with_a_hidden_artist_and_a_comment_loses_its_text() {
    let stack = Stack::connect();
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let artist = stack.new_writer().await;
    let name = format!("rude{}", &artist.artist.wallet[2..12].to_lowercase());
    let rename = json!({"username": name, "bio": "Worse."});
    Answer::of(stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&rename)).await.expect_success();
    let (collection, wallet) = (artist.collection, &artist.artist.wallet);
    let comments = format!("/comments?collectionAddress={collection}&tokenId=1");
    let text = json!({"tokenId": "1", "text": "Rude."});
    let path = format!("/comments/eip155:8453/erc1155:{collection}");
    stack.write(&path, &artist.key, &text, &[]).await.expect_success();
    let comment = stack.wait_for_comment(&comments, |comment| comment["username"] == name.as_str()).await;

    let rude = format!("comment#8453#{}", comment["commentId"].as_str().expect("an id"));
    run(&desk, &["hide", &rude, "other", "rude"]).await.expect("a decision");
    let hidden = stack.wait_for_comment(&comments, |found| found["commentId"] == comment["commentId"]).await;
    assert_eq!(hidden["comment"], "");
    run(&desk, &["undo", &rude]).await.expect("an end");
    let shown = stack.wait_for_comment(&comments, |found| found["commentId"] == comment["commentId"]).await;
    assert_eq!(shown["comment"], "Rude.");

    let subject = format!("artist#{wallet}");
    run(&desk, &["hide", &subject, "impersonation", "not", "her"]).await.expect("a decision");
    let search = format!("/artists/search?query={name}");
    assert_eq!(Answer::of(stack.get(&search)).await.expect_success().body["artists"], json!([]));
    for of in [wallet, &name] {
        Answer::of(stack.get(&format!("/artists/{of}"))).await.expect_error(404);
    }
    let unnamed = stack.wait_for_comment(&comments, |found| found["username"] == "").await;
    assert_eq!(unnamed["comment"], "Rude.");
    // A new name is as hidden as the old one.
    let again = json!({"username": format!("{name}x")});
    Answer::of(stack.patch("/artists/me").bearer_auth(&artist.artist.token).json(&again)).await.expect_success();
    assert_eq!(Answer::of(stack.get(&search)).await.expect_success().body["artists"], json!([]));

    run(&desk, &["undo", &subject]).await.expect("an end");
    let found = Answer::of(stack.get(&search)).await.expect_success().body;
    assert_eq!(found["artists"][0]["username"], format!("{name}x"));
    stack.wait_for_comment(&comments, |found| found["username"] == format!("{name}x")).await;
}

#[tokio::test]
async fn removed_file_is_unavailable_unpinned_and_not_taken_again() {
    let stack = Stack::connect();
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let artist = stack.new_artist().await;
    let mut content = [b"\x89PNG\r\n\x1a\n".as_slice(), Uuid::new_v4().as_bytes()].concat();
    content.resize(LEAF + 1_000, 7);
    let upload = async || {
        let id = stack.finished_upload(&artist, content.clone()).await;
        stack.complete_upload(&artist, &id).await
    };
    let stored = upload().await.expect_success().body;
    let cid = stored["uri"].as_str().and_then(|uri| uri.strip_prefix("ipfs://")).expect("a URI").to_owned();
    let leaf = format!("/ipfs/{}?format=raw", Dag::cid_of(&content[..LEAF]));
    let pins = async |count: usize| {
        let url = format!("{}/pins?cid={cid}&status=queued,pinning,pinned,failed", stack.map.pinning);
        eventually(format!("{cid} has {count} pins"), async || {
            let answer = Answer::of(stack.http.get(&url).bearer_auth(TOKEN)).await.expect_success().body;
            answer["results"].as_array().is_some_and(|found| found.len() == count).then_some(())
        })
        .await;
    };
    pins(1).await;
    assert_eq!(stack.get(&leaf).send().await.expect("an answer").status(), 200);

    let file = format!("cid#{cid}");
    let said = run(&desk, &["hide", &file, "copyright", "a", "claim"]).await.expect("a decision");
    assert!(said.ends_with(" is removed"), "{said}");
    let gone = Answer::of(stack.get(&format!("/ipfs/{cid}"))).await;
    assert_eq!(gone.status, 451, "{gone:?}");
    assert_eq!(gone.headers["link"], format!("<{}/moderation>; rel=\"blocked-by\"", stack.map.api));
    let served = format!("{}/ipfs/{cid}", stack.map.files);
    let elsewhere = Answer::of(stack.http.get(&served)).await;
    assert_eq!((elsewhere.status, &elsewhere.headers["link"]), (451, &gone.headers["link"]), "where files are");
    assert_eq!(stack.get(&leaf).send().await.expect("an answer").status(), 404);
    assert_eq!(upload().await.status, 451, "it isn't taken again");
    pins(0).await;

    run(&desk, &["undo", &file]).await.expect("an end");
    let back = stack.get(&format!("/ipfs/{cid}")).send().await.expect("an answer");
    assert_eq!(back.bytes().await.expect("bytes"), content);
    assert_eq!(stack.http.get(&served).send().await.expect("an answer").bytes().await.expect("bytes"), content);
    assert_eq!(stack.get(&leaf).send().await.expect("an answer").status(), 200);
    pins(1).await;
    upload().await.expect_success();
}

#[tokio::test]
async fn file_that_was_never_here_can_be_kept_from_coming() {
    let stack = Stack::connect();
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let artist = stack.new_artist().await;
    let document = json!({"name": format!("Never {}", Uuid::new_v4())});
    let keep = async || Answer::of(stack.post("/metadata").bearer_auth(&artist.token).json(&document)).await;
    let stored = keep().await.expect_success().body;
    let known = stored["uri"].as_str().and_then(|uri| uri.strip_prefix("ipfs://")).expect("a URI").to_owned();
    let never = format!("cid#{}", Dag::cid_of(Uuid::new_v4().as_bytes()));
    run(&desk, &["hide", &never, "illegal", "a", "list"]).await.expect("a decision");
    run(&desk, &["undo", &never]).await.expect("an end");
    run(&desk, &["hide", &format!("cid#{known}"), "illegal", "a", "list"]).await.expect("a decision");
    assert_eq!(keep().await.status, 451);
    run(&desk, &["undo", &format!("cid#{known}")]).await.expect("an end");
    keep().await.expect_success();
}

#[tokio::test]
async fn of_two_undos_one_succeeds_and_an_artist_undoes_none() {
    let stack = Stack::connect();
    let (desk, artist, listed) = listed_writer(&stack).await;
    let collection = artist.collection;
    let subject = format!("moment#8453#{collection}#1");
    // Whatever the artist's requests meet, the operator's decision holds.
    let body = |hidden: bool| json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "hidden": hidden});
    let toggle = async |hidden: bool| {
        Answer::of(stack.post("/moment/hide").header("x-api-key", &artist.key).json(&body(hidden))).await
    };
    let (hide, undo) = (["hide", subject.as_str(), "spam", "x"], ["undo", subject.as_str()]);
    let (decided, ..) = tokio::join!(run(&desk, &hide), toggle(true), toggle(false), toggle(true), toggle(false));
    decided.expect("a decision");
    assert!(has(0)(&Answer::of(stack.get(&format!("{listed}&hidden=true"))).await.expect_success().body));
    let (one, other) = tokio::join!(run(&desk, &undo), run(&desk, &undo));
    assert_eq!([one, other].iter().filter(|undone| undone.is_ok()).count(), 1);
}

#[tokio::test]
async fn late_report_is_kept_or_refused_and_there_is_room_again_once_somebody_looked() {
    let stack = Stack::connect();
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let body = reported(&stack).await;
    let subject = format!("artist#{}", body["subject"]["artist"].as_str().expect("a wallet").to_lowercase());
    let report = async |words: &str| {
        let mut body = body.clone();
        body["text"] = json!(words);
        stack.post_json("/reports", &body).await
    };
    let counted = async |reports: u32| {
        for field in ["reports", "unseen"] {
            let count = AttributeValue::N(reports.to_string());
            stack.set(&stack.map.names["ArtistTable"], "REPORTED", &subject, field, count).await;
        }
    };
    assert_eq!(report("the first").await.status, 202);
    counted(500).await;
    assert_eq!(report("in the middle").await.status, 202);
    counted(1_000).await;
    let mut late = body.clone();
    (late["text"], late["reason"]) = (json!("too late"), json!("illegal"));
    let refused = stack.post_json("/reports", &late).await.expect_error(409);
    assert!(refused.body["message"].as_str().is_some_and(|words| words.contains("aren't taken")), "{refused:?}");
    let listed = run(&desk, &["list"]).await.expect("a list");
    assert!(listed.contains(&format!("{subject}  1000 reports, the last for impersonation")), "{listed}");
    run(&desk, &["dismiss", &subject, "harmless"]).await.expect("a decision");
    assert_eq!(report("afterwards").await.status, 202);
    let shown = run(&desk, &["show", &subject]).await.expect("the reports");
    let kept = ["the first", "in the middle", "too late", "afterwards"].map(|words| shown.contains(words));
    assert_eq!(kept, [true, true, false, true], "{shown}");
}

#[tokio::test]
async fn form_of_a_page_reports_without_a_script_and_that_of_another_site_does_not() {
    let stack = Stack::connect();
    let (desk, artist, _) = listed_writer(&stack).await;
    let subject = format!("moment#8453#{:#x}#1", artist.collection);
    let send = async |subject: &str, origin: &str| {
        let fields = [("subject", subject), ("reason", "spam"), ("text", ""), ("email", " ")];
        let body =
            Url::parse_with_params(&stack.map.api, fields).expect("a URL").query().unwrap_or_default().to_owned();
        let form = stack.post("/reports").header("accept", "text/html").header("origin", origin);
        let form = form.header("content-type", "application/x-www-form-urlencoded").body(body);
        let answer = form.send().await.expect("an answer");
        let kind = answer.headers()["content-type"].to_str().expect("a type").to_owned();
        (answer.status().as_u16(), kind, answer.text().await.expect("a page"))
    };
    let own = stack.map.api.trim_end_matches("/api");
    let (status, kind, page) = send(&subject, own).await;
    assert_eq!((status, kind.as_str()), (202, "text/html; charset=utf-8"), "{page}");
    assert!(page.contains("Thank you") && run(&desk, &["list"]).await.expect("a list").contains(&subject), "{page}");
    let (status, _, page) = send(&subject, "https://elsewhere.example").await;
    assert!(status == 403 && page.contains("pages of this service alone"), "{page}");
    let (status, _, page) = send("moment#8453#0x0000000000000000000000000000000000000001#1", own).await;
    assert!(status == 404 && page.contains("Nothing here"), "{page}");
    let (status, _, page) = send("a song", own).await;
    assert!(status == 400 && page.contains("<h1>"), "{page}");
}

/// A table of a stage in a cloud of its own.
async fn create_table(cloud: &str, name: &str) -> Result<(), Error> {
    let endpoints = Endpoints { aws: cloud.to_owned(), dynamodb: cloud.to_owned() };
    let client = aws_sdk_dynamodb::Client::new(&endpoints.sdk_config(cloud).await);
    let call = client.create_table().table_name(name).billing_mode(BillingMode::PayPerRequest);
    let key = |name: &str, kind: KeyType| KeySchemaElement::builder().attribute_name(name).key_type(kind).build();
    let text =
        |name: &str| AttributeDefinition::builder().attribute_name(name).attribute_type(ScalarAttributeType::S).build();
    let call = call.key_schema(key("pk", KeyType::Hash)?).key_schema(key("sk", KeyType::Range)?);
    call.attribute_definitions(text("pk")?).attribute_definitions(text("sk")?).send().await?;
    Ok(())
}

/// A stage's stack of one distribution.
const DISTRIBUTED: &str = r#"
import botocore.session
edge = {"Enabled": True, "Comment": "Edge", "Origins": [{"Id": "api", "DomainName": "api.example",
        "CustomOriginConfig": {"OriginProtocolPolicy": "https-only"}}],
        "DefaultCacheBehavior": {"TargetOriginId": "api", "ViewerProtocolPolicy": "https-only"}}
import json
resources = {"EdgeDistribution": {"Type": "AWS::CloudFront::Distribution", "Properties": {"DistributionConfig": edge}}}
stacks = botocore.session.get_session().create_client("cloudformation", region_name="us-east-1")
stacks.create_stack(StackName="moments-staging", TemplateBody=json.dumps({"Resources": resources}))
stacks.get_waiter("stack_create_complete").wait(StackName="moments-staging", WaiterConfig={"Delay": 1})
"#;

/// What its distribution was told to forget, one batch of paths a line.
const FORGOTTEN: &str = r#"
import botocore.session
edge = botocore.session.get_session().create_client("cloudfront", region_name="us-east-1")
for distribution in edge.list_distributions()["DistributionList"].get("Items", []):
    of = {"DistributionId": distribution["Id"]}
    for batch in edge.list_invalidations(**of)["InvalidationList"].get("Items", []):
        paths = edge.get_invalidation(Id=batch["Id"], **of)["Invalidation"]["InvalidationBatch"]["Paths"]["Items"]
        print(" ".join(paths))
"#;

async fn printed(cloud: &str, script: &str) -> String {
    let output = python(cloud, &["-c", script]).await.expect("python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[tokio::test]
async fn operator_of_a_stage_decides_by_their_own_identity_and_the_edge_forgets_after_the_index() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("desk")).await.expect("a cloud");
    for table in ["moments-staging-artists", "moments-staging-chain-1"] {
        create_table(&cloud, table).await.expect("a table");
    }
    let endpoints = Endpoints { aws: cloud.clone(), dynamodb: cloud.clone() };
    let inbox = Outbox::new(ArtistTable::new(&endpoints.sdk_config(&cloud).await, "moments-staging-artists"));
    printed(&cloud, DISTRIBUTED).await;
    let (early, of_index) = (Arc::new(Mutex::new(Vec::new())), cloud.clone());
    let forgotten_early = Arc::clone(&early);
    // In the place of the index, which takes the operator's messages.
    let _index = tokio::spawn(async move {
        loop {
            for message in inbox.oldest().await.unwrap_or_default() {
                let forgotten = printed(&of_index, FORGOTTEN).await;
                forgotten_early.lock().expect("a list").push(forgotten);
                let _ = inbox.remove(message.id).await;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    let subject = format!("moment#8453#0x{}#1", "54".repeat(20));
    let desk = async |arguments: &[&str]| {
        let output = python(&cloud, &[&["local/sam/desk", "staging"], arguments].concat()).await.expect("python runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), text)
    };
    assert_eq!(desk(&["list"]).await, (true, "nothing is reported or decided\n".to_owned()));
    let (is_done, said) = desk(&["hide", &subject, "spam", "the", "same", "again"]).await;
    assert!(is_done && said.contains("is hidden"), "{said}");
    assert_eq!(*early.lock().expect("a list"), [""], "what is asked for before the index follows would be kept again");
    assert_eq!(printed(&cloud, FORGOTTEN).await, "/*\n", "pages, embeds, feeds and files");
    // As after a try that was broken off.
    let (is_done, said) = desk(&["hide", &subject, "spam", "once", "more"]).await;
    assert!(is_done && said.contains("is hidden already"), "{said}");
    assert_eq!(printed(&cloud, FORGOTTEN).await, "/*\n/*\n", "the edge forgets on the second try, too");
    let (is_done, said) = desk(&["hide", &subject, "other", "x"]).await;
    assert!(!is_done && said.contains("undo that first"), "{said}");
    let (is_done, said) = desk(&["show", &subject]).await;
    assert!(is_done && said.contains("hidden for spam by arn:aws:"), "{said}");
    let (is_done, said) = desk(&["hide", &subject, "ugly", "it", "is"]).await;
    assert!(!is_done && said.contains("must be copyright, illegal"), "{said}");
}
