//! A wallet signs a message that isn't the one it was given, changed in each way in which the published vectors of EIP-4361
//! are wrong, or are right and ours is not that.

use alloy::signers::local::PrivateKeySigner;
use serde_json::json;
use tests::{Answer, Stack, personal_sign};

const CHAIN: u64 = 8453;

// Lines of a message.
const DOMAIN: usize = 0;
const ADDRESS: usize = 1;
const STATEMENT: usize = 3;
const URI: usize = 5;
const VERSION: usize = 6;
const CHAIN_ID: usize = 7;
const NONCE: usize = 8;
const ISSUED_AT: usize = 9;
const EXPIRATION_TIME: usize = 10;

type Change = fn(&mut Vec<String>);

/// A message is looked up by its hash, so each of them is unknown, whether or not another reader would take it.
const CHANGES: [(&str, Change); 45] = [
    ("no domain", |lines| lines[DOMAIN] = " wants you to sign in with your Ethereum account:".to_owned()),
    ("another domain", |lines| {
        lines[DOMAIN] = "evil.example wants you to sign in with your Ethereum account:".to_owned();
    }),
    ("a domain with a scheme", |lines| lines[DOMAIN].insert_str(0, "https://")),
    ("a domain with a user", |lines| lines[DOMAIN].insert_str(0, "test@")),
    ("a domain that is no authority", |lines| lines[DOMAIN].insert_str(0, "no_authority ")),
    ("no address", |lines| lines[ADDRESS].clear()),
    ("an address without checksum", |lines| lines[ADDRESS].make_ascii_uppercase()),
    ("another's address", |lines| lines[ADDRESS] = "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2".to_owned()),
    ("no statement", |lines| {
        lines.drain(STATEMENT..=STATEMENT + 1);
    }),
    ("another statement", |lines| lines[STATEMENT] = "I accept the terms.".to_owned()),
    ("a statement of two lines", |lines| lines[STATEMENT].push_str("\nThis costs nothing.")),
    ("no URI", |lines| {
        lines.remove(URI);
    }),
    ("another URI", |lines| lines[URI] = "URI: https://evil.example/login".to_owned()),
    ("a URI that is none", |lines| lines[URI] = "URI: _not_a_uri_".to_owned()),
    ("no version", |lines| {
        lines.remove(VERSION);
    }),
    ("another version", |lines| lines[VERSION] = "Version: 2".to_owned()),
    ("no chain", |lines| {
        lines.remove(CHAIN_ID);
    }),
    ("another chain", |lines| lines[CHAIN_ID] = "Chain ID: 1".to_owned()),
    ("a chain that is no number", |lines| lines[CHAIN_ID] = "Chain ID: ?".to_owned()),
    ("no nonce", |lines| {
        lines.remove(NONCE);
    }),
    ("another nonce", |lines| lines[NONCE] = "Nonce: bTyXgcQxn2htgkjJn".to_owned()),
    ("a short nonce", |lines| lines[NONCE] = "Nonce: 1234567".to_owned()),
    ("no time of issue", |lines| {
        lines.remove(ISSUED_AT);
    }),
    ("a time of issue in words", |lines| lines[ISSUED_AT] = "Issued At: Wed Oct 05 2011 16:48:00 GMT+0200".to_owned()),
    ("a time of issue with milliseconds", |lines| lines[ISSUED_AT] = lines[ISSUED_AT].replace('Z', ".000Z")),
    ("no expiration", |lines| {
        lines.remove(EXPIRATION_TIME);
    }),
    ("a later expiration", |lines| lines[EXPIRATION_TIME] = "Expiration Time: 2100-01-07T14:31:43Z".to_owned()),
    ("an expiration that has passed", |lines| {
        lines[EXPIRATION_TIME] = "Expiration Time: 2021-01-05T00:00:00Z".to_owned();
    }),
    ("an expiration in words", |lines| lines[EXPIRATION_TIME] = "Expiration Time: tomorrow".to_owned()),
    ("valid already", |lines| lines.push("Not Before: 2022-01-05T14:27:30Z".to_owned())),
    ("not valid yet", |lines| lines.push("Not Before: 2100-01-07T14:31:43Z".to_owned())),
    ("a request's id", |lines| lines.push("Request ID: some_id".to_owned())),
    ("resources", |lines| lines.push("Resources:\n- https://service.example/login\n- ipfs://x".to_owned())),
    ("resources in one line", |lines| lines.push("Resources:\n- https://a.example - https://b.example".to_owned())),
    ("resources that are no URIs", |lines| lines.push("Resources:\n- _not_a_uri_".to_owned())),
    ("version before URI", |lines| lines.swap(URI, VERSION)),
    ("chain before version", |lines| lines.swap(VERSION, CHAIN_ID)),
    ("nonce before chain", |lines| lines.swap(CHAIN_ID, NONCE)),
    ("time of issue before nonce", |lines| lines.swap(NONCE, ISSUED_AT)),
    ("expiration before time of issue", |lines| lines.swap(ISSUED_AT, EXPIRATION_TIME)),
    ("a line break too many", |lines| lines.insert(STATEMENT, String::new())),
    ("a line break too few", |lines| {
        lines.remove(STATEMENT + 1);
    }),
    ("line breaks of another system", |lines| lines.iter_mut().for_each(|line| line.push('\r'))),
    ("a line break at the end", |lines| lines.push(String::new())),
    ("words at the end", |lines| lines.push("Sincerely".to_owned())),
];

async fn send(stack: &Stack, message: &str, signature: &str) -> Answer {
    Answer::of(stack.post("/oauth/wallet").json(&json!({"message": message, "signature": signature}))).await
}

fn says(answer: &Answer, words: &str) -> bool {
    answer.body["message"].as_str().is_some_and(|message| message.contains(words))
}

#[tokio::test]
async fn message_changed_as_vectors_of_eip_4361_are_signs_nobody_in_and_costs_the_right_one_no_try() {
    let stack = Stack::connect();
    let wallet = PrivateKeySigner::random();
    let message = stack.sign_in_message(wallet.address(), CHAIN).await;
    let lines: Vec<_> = message.split('\n').map(str::to_owned).collect();
    assert_eq!(lines.len(), EXPIRATION_TIME + 1, "{message}");
    for (kind, change) in CHANGES {
        let mut lines = lines.clone();
        change(&mut lines);
        let changed = lines.join("\n");
        assert_ne!(changed, message, "{kind}");
        let refused = send(&stack, &changed, &personal_sign(&wallet, &changed)).await.expect_error(401);
        assert!(says(&refused, "was not given out for a sign-in"), "{kind}: {refused:?}");
    }
    let too_long = message.clone() + &"\n- https://service.example".repeat(80);
    for text in ["", &too_long] {
        let refused = send(&stack, text, &personal_sign(&wallet, text)).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["message"], "of {} bytes", text.len());
    }
    send(&stack, &message, &personal_sign(&wallet, &message)).await.expect_success();
}

#[tokio::test]
async fn signature_wrong_as_vectors_of_eip_4361_are_signs_nobody_in() {
    let stack = Stack::connect();
    let wallet = PrivateKeySigner::random();
    let message = stack.sign_in_message(wallet.address(), CHAIN).await;
    let right = personal_sign(&wallet, &message);
    // What is no signature is no try.
    for text in ["", "0x", &right[2..], &right[..right.len() - 1], "0xzz"] {
        let refused = send(&stack, &message, text).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["signature"], "{text:?}");
    }
    let strangers = personal_sign(&PrivateKeySigner::random(), &message);
    let of_other_words = personal_sign(&wallet, "Sign-In With Ethereum Example Statement");
    let of_no_point = format!("0x{}{}", "ff".repeat(64), &right[130..]);
    let short = &right[..right.len() - 2];
    for signature in [strangers.as_str(), &of_other_words, &of_no_point, short] {
        let refused = send(&stack, &message, signature).await.expect_error(401);
        assert!(says(&refused, "The signature is not of"), "{signature}: {refused:?}");
    }
    // The fifth try.
    send(&stack, &message, &right).await.expect_success();
}
