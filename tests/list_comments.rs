//! `GET /comments`

use std::collections::HashSet;

use alloy::{
    primitives::{Address, B256, U256},
    providers::Provider,
    rpc::types::Filter,
    sol_types::SolEvent,
};
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use shared::chain::contracts::native::{CommentsProtocol::Commented, MintCommenter::MintComment};
use tests::{Answer, Recorder, Sandbox, Stack};

const FIELDS: [&str; 10] =
    ["comment", "commentId", "id", "nonce", "replies", "replyCount", "replyToId", "sender", "timestamp", "username"];

/// A comment read from the chain's logs.
#[derive(Debug, Clone, PartialEq)]
struct OnChain {
    sender: Address,
    text: String,
    id: Option<B256>,
    nonce: Option<B256>,
    reply_to: Option<B256>,
}

#[tokio::test]
async fn pages_match_the_chain_newest_first() {
    let stack = Stack::connect();
    let on_chain = comments_on_chain(&stack, stack.demo_collection(0)).await;
    let mut top_level: Vec<_> = on_chain.iter().filter(|comment| comment.reply_to.is_none()).collect();
    top_level.reverse();
    assert_eq!(top_level.len(), 45);

    let mut served = Vec::new();
    let mut sizes = Vec::new();
    let mut next = Some(format!("{}/comments?{}&tokenId=1", stack.map.api, collection_parameter(&stack, 0)));
    while let Some(url) = next {
        let page = Answer::of(stack.http.get(&url)).await.expect_success();
        let comments = page.body["comments"].as_array().expect("comments");
        sizes.push(comments.len());
        served.extend(comments.clone());
        next = next_page(&stack, &page);
    }
    assert_eq!(sizes, [20, 20, 5]);
    assert_eq!(served.iter().map(|comment| comment["id"].to_string()).collect::<HashSet<_>>().len(), 45);

    for (comment, expected) in served.iter().zip(top_level) {
        assert_is(comment, expected);
        let replies: Vec<_> =
            on_chain.iter().filter(|reply| reply.reply_to.is_some() && reply.reply_to == expected.id).collect();
        assert_eq!(comment["replyCount"], json!(replies.len()));
        let previews = comment["replies"].as_array().expect("previews");
        assert_eq!(previews.len(), replies.len().min(3));
        for (preview, expected) in previews.iter().zip(replies) {
            assert_is(preview, expected);
            assert_eq!((&preview["replyCount"], &preview["replies"]), (&json!(0), &json!([])));
        }
    }
    let counts: Vec<_> =
        served.iter().filter_map(|comment| comment["replyCount"].as_u64()).filter(|n| *n > 0).collect();
    assert_eq!(counts.iter().collect::<HashSet<_>>(), HashSet::from([&2, &7]));
}

#[tokio::test]
async fn replies_are_paged_oldest_first() {
    let stack = Stack::connect();
    let parent = stack.demo_comment("sevenReplies");
    let on_chain = comments_on_chain(&stack, stack.demo_collection(0)).await;
    let expected: Vec<_> = on_chain.iter().filter(|comment| comment.reply_to == Some(parent)).collect();
    assert_eq!(expected.len(), 7);

    let all = list(&stack, &format!("tokenId=1&replyToId={parent}")).await;
    let replies = all.body["comments"].as_array().expect("comments");
    assert_eq!(replies.len(), 7);
    assert!(next_page(&stack, &all).is_none());
    for (reply, expected) in replies.iter().zip(expected) {
        assert_is(reply, expected);
        assert_eq!((&reply["replyCount"], &reply["replies"]), (&json!(0), &json!([])));
    }
    let upper_case = format!("0x{}", parent.to_string()[2..].to_uppercase());
    let rest = list(&stack, &format!("tokenId=1&replyToId={upper_case}&offset=5")).await;
    assert_eq!(rest.body["comments"].as_array(), Some(&replies[5..].to_vec()));
}

#[tokio::test]
async fn unknown_comments_are_an_empty_list() {
    let stack = Stack::connect();
    let (known, parent) = (collection_parameter(&stack, 0), stack.demo_comment("sevenReplies"));
    for query in [
        format!("collectionAddress={}&tokenId=1", Address::repeat_byte(7)),
        format!("{known}&tokenId=999"),
        format!("{known}&tokenId={}", U256::MAX),
        format!("{known}&tokenId=1&chainId=1"),
        format!("{known}&tokenId=1&offset=45"),
        format!("{known}&tokenId=1&offset=18446744073709551615"),
        format!("{known}&tokenId=1&replyToId={}", B256::repeat_byte(7)),
        format!("{known}&tokenId=2&replyToId={parent}"),
        format!("{known}&tokenId=1&replyToId={parent}&offset=7"),
        format!("{known}&tokenId=1&replyToId={parent}&offset=18446744073709551615"),
    ] {
        let answer = Answer::of(stack.get(&format!("/comments?{query}"))).await.expect_success();
        assert_eq!(answer.body, json!({"comments": []}), "{query}");
        assert_eq!(answer.header("link"), "", "{query}");
    }
}

#[tokio::test]
async fn page_is_cacheable_and_revalidated_by_etag() {
    let stack = Stack::connect();
    let path = format!("/comments?{}&tokenId=1", collection_parameter(&stack, 0));
    let first = Answer::of(stack.get(&path)).await.expect_success();
    assert_eq!(first.header("cache-control"), "public, max-age=5, stale-while-revalidate=10, stale-if-error=86400");
    let again = Answer::of(stack.get(&path).header("if-none-match", first.header("etag"))).await;
    assert_eq!((again.status, again.body), (304, Value::String(String::new())));
}

#[tokio::test]
async fn address_in_any_case_and_explicit_defaults_are_accepted() {
    let stack = Stack::connect();
    let address = stack.demo_collection(0);
    let lower = format!("{address:#x}");
    let plain = list(&stack, "tokenId=1").await.body;
    for spelling in [lower.clone(), address.to_checksum(None), format!("0x{}", lower[2..].to_uppercase())] {
        let query = format!("collectionAddress={spelling}&tokenId=1&chainId=8453&offset=0&unknown=ignored");
        assert_eq!(
            Answer::of(stack.get(&format!("/comments?{query}"))).await.expect_success().body,
            plain,
            "{spelling}"
        );
    }
}

#[tokio::test]
async fn every_invalid_parameter_is_named() {
    let stack = Stack::connect();
    let good = collection_parameter(&stack, 0);
    let over = "115792089237316195423570985008687907853269984665640564039457584007913129639936";
    let digits = &good["collectionAddress=0x".len()..];
    for (query, fields) in [
        (String::new(), vec!["collectionAddress", "tokenId"]),
        ("tokenId=1".to_owned(), vec!["collectionAddress"]),
        (format!("collectionAddress={digits}&tokenId=1"), vec!["collectionAddress"]),
        (format!("collectionAddress=0x{}&tokenId=1", &digits[1..]), vec!["collectionAddress"]),
        (format!("collectionAddress=0x{}g&tokenId=1", &digits[1..]), vec!["collectionAddress"]),
        ("collectionAddress=&tokenId=".to_owned(), vec!["collectionAddress", "tokenId"]),
        (good.clone(), vec!["tokenId"]),
        (format!("{good}&tokenId=-1"), vec!["tokenId"]),
        (format!("{good}&tokenId=1.5"), vec!["tokenId"]),
        (format!("{good}&tokenId=one"), vec!["tokenId"]),
        (format!("{good}&tokenId={over}"), vec!["tokenId"]),
        (format!("{good}&tokenId=1&chainId=base"), vec!["chainId"]),
        (format!("{good}&tokenId=1&chainId=8453.5"), vec!["chainId"]),
        (format!("{good}&tokenId=1&chainId=10"), vec!["chainId"]),
        (format!("{good}&tokenId=1&offset=-1"), vec!["offset"]),
        (format!("{good}&tokenId=1&offset=1.5"), vec!["offset"]),
        (format!("{good}&tokenId=1&offset=many"), vec!["offset"]),
        (format!("{good}&tokenId=1&replyToId=0x12"), vec!["replyToId"]),
        (format!("{good}&tokenId=1&tokenId=2"), vec!["tokenId"]),
        (
            "collectionAddress=x&tokenId=x&chainId=x&offset=x&replyToId=x".to_owned(),
            vec!["collectionAddress", "tokenId", "chainId", "offset", "replyToId"],
        ),
    ] {
        let answer = Answer::of(stack.get(&format!("/comments?{query}"))).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{query}");
    }
}

#[tokio::test]
async fn new_comment_appears_with_its_sender_s_username() {
    let stack = Stack::connect();
    let collection = stack.demo_collection(1);
    let commenter = stack.chain().get_accounts().await.expect("accounts")[7];
    name_wallet(&stack, commenter, "nadia").await;
    let text = format!("Ich war da! 🌊 {}", uuid::Uuid::new_v4());
    stack.collect(collection, commenter, &text).await;

    let comments = format!("/comments?{}&tokenId=1", collection_parameter(&stack, 1));
    let comment = stack.wait_for_comment(&comments, |comment| comment["comment"] == text).await;
    assert_eq!(comment["username"], "nadia");
    assert_eq!(comment["sender"], format!("{commenter:#x}"));
    assert_eq!((&comment["commentId"], &comment["nonce"]), (&Value::Null, &Value::Null));
}

#[tokio::test]
async fn every_page_is_one_query() {
    let stack = Stack::connect();
    let recorder = Recorder::in_front_of(&stack.map.dynamodb).await.expect("a recorder");
    let recorded = Sandbox::with_database(&stack, "list-comments", &recorder.url).await;
    let moment = format!("{}&tokenId=1", collection_parameter(&stack, 0));
    let replies = format!("{moment}&replyToId={}", stack.demo_comment("sevenReplies"));
    for (query, calls) in [
        (moment.clone(), vec!["Query"]),
        // An offset from the newest needs the total.
        (format!("{moment}&offset=20"), vec!["GetItem", "Query"]),
        (format!("{moment}&offset=40"), vec!["GetItem", "Query"]),
        (replies.clone(), vec!["Query"]),
        (format!("{replies}&offset=5"), vec!["Query"]),
        (format!("{moment}&offset=-1"), vec![]),
    ] {
        recorded.get(&query).await;
        assert_eq!(recorder.take(), calls, "{query}");
    }
}

/// The comments on token 1 of a collection from the chain's logs, oldest first.
async fn comments_on_chain(stack: &Stack, collection: Address) -> Vec<OnChain> {
    let addresses = ["fixedPriceMinter", "comments"].map(|name| stack.contract(name)).to_vec();
    let filter = Filter::new().from_block(0).address(addresses);
    let logs = stack.chain().get_logs(&filter).await.expect("logs");
    let comment = |log: &alloy::rpc::types::Log| match *log.topic0()? {
        MintComment::SIGNATURE_HASH => {
            let said = log.log_decode::<MintComment>().ok()?.inner.data;
            let told = OnChain { sender: said.sender, text: said.comment, id: None, nonce: None, reply_to: None };
            (said.tokenContract == collection && said.tokenId == U256::ONE).then_some(told)
        }
        Commented::SIGNATURE_HASH => {
            let said = log.log_decode::<Commented>().ok()?.inner.data;
            let on = said.commentIdentifier;
            (on.contractAddress == collection && on.tokenId == U256::ONE).then(|| OnChain {
                sender: on.commenter,
                text: said.text,
                id: Some(said.commentId),
                nonce: Some(on.nonce),
                reply_to: (!said.replyToId.is_zero()).then_some(said.replyToId),
            })
        }
        _ => None,
    };
    logs.iter().filter_map(comment).collect()
}

#[track_caller]
fn assert_is(comment: &Value, expected: &OnChain) {
    let mut fields: Vec<_> = comment.as_object().expect("an object").keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(fields, FIELDS);
    assert_eq!(comment["sender"], format!("{:#x}", expected.sender));
    assert_eq!(comment["comment"], expected.text);
    assert_eq!(comment["commentId"], json!(expected.id));
    assert_eq!(comment["nonce"], json!(expected.nonce));
    assert_eq!(comment["replyToId"], json!(expected.reply_to));
    assert!(comment["timestamp"].as_u64().is_some_and(|ms| ms > 1_700_000_000_000), "{comment}");
    uuid::Uuid::parse_str(comment["id"].as_str().expect("an id")).expect("a UUID");
}

fn collection_parameter(stack: &Stack, index: usize) -> String {
    format!("collectionAddress={:#x}", stack.demo_collection(index))
}

async fn list(stack: &Stack, query: &str) -> Answer {
    Answer::of(stack.get(&format!("/comments?{}&{query}", collection_parameter(stack, 0)))).await.expect_success()
}

/// The URL that `Link: rel="next"` points to.
fn next_page(stack: &Stack, page: &Answer) -> Option<String> {
    let target = page.header("link").strip_prefix('<')?.strip_suffix(">; rel=\"next\"")?;
    let base: reqwest::Url = format!("{}/comments", stack.map.api).parse().expect("a URL");
    Some(base.join(target).expect("a reference").to_string())
}

/// Stores a username for a wallet.
async fn name_wallet(stack: &Stack, wallet: Address, name: &str) {
    let row = format!("WALLET#{wallet:#x}");
    let owner = uuid::Uuid::new_v4().to_string();
    for (field, value) in [("address", format!("{wallet:#x}")), ("artist_id", owner), ("username", name.to_owned())] {
        stack.set("ArtistTable", &row, "ARTIST", field, AttributeValue::S(value)).await;
    }
}
