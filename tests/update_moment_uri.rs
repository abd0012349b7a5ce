//! `POST /registry/metadata/moment`, and the rules of all endpoints that write to a chain.

use alloy::{
    primitives::{Address, B256, U256},
    providers::Provider,
    sol,
};
use serde_json::{Value, json};
use tests::{Answer, Recorder, Sandbox, Stack, Writer};

const PATH: &str = "/registry/metadata/moment";

sol! {
    #[sol(rpc)]
    interface Uris {
        function uri(uint256 tokenId) external view returns (string memory);
    }
}

fn body(collection: Address, uri: &str) -> Value {
    json!({"moment": {"collectionAddress": collection, "tokenId": "1"}, "newUri": uri})
}

struct Moment<'a> {
    stack: &'a Stack,
    writer: &'a Writer,
}

impl Moment<'_> {
    async fn uri(&self) -> String {
        Uris::new(self.writer.collection, self.stack.chain()).uri(U256::ONE).call().await.expect("a URI")
    }

    async fn update(&self, uri: &str, headers: &[(&str, &str)]) -> Answer {
        self.stack.write(PATH, &self.writer.key, &body(self.writer.collection, uri), headers).await
    }

    async fn update_once(&self, uri: &str, headers: &[(&str, &str)]) -> Answer {
        self.stack.write_once(PATH, &self.writer.key, &body(self.writer.collection, uri), headers).await
    }
}

#[tokio::test]
async fn artist_s_account_changes_the_uri() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let moment = Moment { stack: &stack, writer: &writer };
    let account: Address = writer.artist.wallet.parse().expect("an address");
    assert!(stack.chain().get_code_at(account).await.expect("code").is_empty());

    for uri in ["ar://second", "ipfs://third/1.json", "data:application/json,{}"] {
        let answer = moment.update(uri, &[]).await.expect_success();
        assert_eq!(answer.body["chainId"], 8453);
        let hash: B256 = answer.body["hash"].as_str().and_then(|hash| hash.parse().ok()).expect("a hash");
        let receipt = stack.chain().get_transaction_receipt(hash).await.expect("an answer").expect("a receipt");
        assert!(receipt.status());
        assert_eq!(moment.uri().await, uri);
        assert!(!stack.chain().get_code_at(account).await.expect("code").is_empty());
    }
    // The key's last use is recorded.
    assert!(stack.list_keys(&writer.artist).await[0]["last_used_at"].is_string());
}

#[tokio::test]
async fn invalid_key_is_401_before_validation() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let key = stack.create_key(&artist, &json!({})).await.body["apiKey"].as_str().expect("a key").to_owned();
    let id = stack.list_keys(&artist).await[0]["id"].as_str().expect("an id").to_owned();
    stack.revoke_key(&artist, &id).await.expect_success();
    for key in [String::new(), "moments_".to_owned(), key.replace("moments_", "moments-"), artist.token.clone(), key] {
        let answer = stack.write_once(PATH, &key, &json!({}), &[]).await.expect_error(401);
        assert!(answer.header("www-authenticate").starts_with("ApiKey"), "{answer:?}");
    }
    Answer::of(stack.post(PATH).json(&json!({}))).await.expect_error(401);
}

#[tokio::test]
async fn every_invalid_field_is_named() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let valid = body(writer.collection, "ar://x");
    let with = |change: fn(&mut Value)| {
        let mut body = valid.clone();
        change(&mut body);
        body
    };
    for (body, fields) in [
        (json!({}), vec!["moment", "newUri"]),
        (json!({"moment": {}, "newUri": ""}), vec!["moment.collectionAddress", "moment.tokenId", "newUri"]),
        (with(|body| body["moment"]["chainId"] = json!(10)), vec!["moment.chainId"]),
        (with(|body| body["moment"]["chainId"] = json!("base")), vec!["moment.chainId"]),
        (with(|body| body["moment"]["collectionAddress"] = json!("0x1")), vec!["moment.collectionAddress"]),
        (with(|body| body["moment"]["tokenId"] = json!("-1")), vec!["moment.tokenId"]),
        (with(|body| body["newUri"] = json!("http://plain.example")), vec!["newUri"]),
        (with(|body| body["newUri"] = json!(format!("ar://{}", "x".repeat(2_044)))), vec!["newUri"]),
    ] {
        let answer = stack.write_once(PATH, &writer.key, &body, &[]).await.expect_error(400);
        assert_eq!(answer.failing_fields(), fields, "{body}");
    }
}

#[tokio::test]
async fn unknown_or_foreign_moment_is_refused_with_the_reason() {
    let stack = Stack::connect();
    let (writer, stranger) = (stack.new_writer().await, stack.new_writer().await);
    for (collection, token) in [(writer.collection, "2"), (writer.collection, "0"), (Address::repeat_byte(9), "1")] {
        let body = json!({"moment": {"collectionAddress": collection, "tokenId": token}, "newUri": "ar://x"});
        stack.write_once(PATH, &writer.key, &body, &[]).await.expect_error(404);
    }
    let answer = stack.write_once(PATH, &stranger.key, &body(writer.collection, "ar://x"), &[]).await.expect_error(403);
    let message = answer.body["message"].as_str().expect("a message");
    assert!(message.contains(&stranger.artist.wallet) && message.contains("METADATA"), "{message}");
    assert_eq!(Moment { stack: &stack, writer: &writer }.uri().await, "ar://first");
}

#[tokio::test]
async fn retry_is_replayed_and_another_body_refused() {
    let stack = Stack::connect();
    let (writer, other) = (stack.new_writer().await, stack.new_writer().await);
    let moment = Moment { stack: &stack, writer: &writer };
    let key = [("idempotency-key", "the-same")];
    let first = moment.update("ar://once", &key).await.expect_success();
    assert_eq!(first.header("idempotent-replayed"), "");
    moment.update("ar://then", &[]).await.expect_success();

    let again = moment.update("ar://once", &key).await.expect_success();
    assert_eq!((again.header("idempotent-replayed"), &again.body), ("true", &first.body));
    // The same JSON with other whitespace and order.
    let spaced = format!(
        r#"{{ "newUri": "ar://once", "moment": {{"tokenId":"1", "collectionAddress":"{:#x}"}} }}"#,
        writer.collection
    );
    let request = stack.post(PATH).header("x-api-key", &writer.key).header("idempotency-key", "the-same");
    let again = Answer::of(request.header("content-type", "application/json").body(spaced)).await.expect_success();
    assert_eq!(again.body, first.body);
    assert_eq!(moment.uri().await, "ar://then");

    moment.update_once("ar://another", &key).await.expect_error(422);
    // Idempotency keys are per caller.
    let others = Moment { stack: &stack, writer: &other }.update("ar://once", &key).await.expect_success();
    assert_ne!(others.body["hash"], first.body["hash"]);
    for wrong in ["", "a b", &"k".repeat(256)] {
        moment.update_once("ar://x", &[("idempotency-key", wrong)]).await.expect_error(400);
    }
}

#[tokio::test]
async fn concurrent_equal_requests_are_done_once() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let moment = Moment { stack: &stack, writer: &writer };
    moment.update("ar://deployed", &[]).await.expect_success();
    let account: Address = writer.artist.wallet.parse().expect("an address");
    let nonce = async || {
        sol! {
            #[sol(rpc)]
            interface Nonces {
                function nonce() external view returns (uint256);
            }
        }
        Nonces::new(account, stack.chain()).nonce().call().await.expect("the account's nonce")
    };
    let before = nonce().await;
    let headers = [("idempotency-key", "at-once")];
    let answers = futures::future::join_all((0..6).map(|_| moment.update_once("ar://once", &headers))).await;
    let done = moment.update("ar://once", &headers).await.expect_success();
    for answer in answers.into_iter().map(Answer::expect_queued) {
        assert!(answer.status == 202 || answer.body == done.body, "{answer:?}");
        assert_eq!(answer.header("transaction-id"), done.header("transaction-id"));
    }
    assert_eq!(nonce().await, before + U256::ONE);
}

#[tokio::test]
async fn concurrent_first_writes_succeed() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let moment = Moment { stack: &stack, writer: &writer };
    let uris: Vec<_> = (0..4).map(|number| format!("ar://{number}")).collect();
    let answers = futures::future::join_all(uris.iter().map(|uri| moment.update(uri, &[]))).await;
    for answer in answers {
        answer.expect_success();
    }
    assert!(uris.contains(&moment.uri().await));
}

#[tokio::test]
async fn write_is_queued_with_at_most_eight_aws_calls_and_no_signature() {
    let stack = Stack::connect();
    let dynamodb = Recorder::in_front_of(&stack.map.dynamodb).await.expect("a recorder");
    let kms = Recorder::in_front_of(&stack.map.aws).await.expect("a recorder");
    let variables = [("AWS_ENDPOINT_URL_DYNAMODB", dynamodb.url.as_str()), ("AWS_ENDPOINT_URL", kms.url.as_str())];
    let sandbox = Sandbox::with_variables(&stack, "update-moment-uri", &variables).await;
    for uri in ["ar://first-write", "ar://second-write"] {
        let writer = stack.new_writer().await;
        // A collection that isn't indexed yet is looked for once more.
        stack.wait_until(&format!("/moment?collectionAddress={:#x}&tokenId=1", writer.collection), |_| true).await;
        let mut event = sandbox.event();
        event["headers"]["x-api-key"] = json!(writer.key);
        event["headers"]["idempotency-key"] = json!(uri);
        event["body"] = json!(body(writer.collection, uri).to_string());
        // Mined or not: it is queued.
        let answer = sandbox.invoke(&event).await;
        assert!([json!(200), json!(202)].contains(&answer["statusCode"]), "{answer}");
        let calls = dynamodb.take();
        let admission = calls.iter().rposition(|call| call == "TransactWriteItems").expect("an admission");
        let (before, after) = calls.split_at(admission + 1);
        println!("{before:?}, then {} looks at the outcome", after.len());
        assert!(before.len() <= 8, "{before:?}");
        // What was answered is noted for the key's artist. A note that takes too long is given up.
        let looks = match after.split_last() {
            Some((noted, looks)) if noted == "PutItem" => looks,
            _ => {
                assert!(sandbox.log().contains("\"not noted"), "{after:?}");
                after
            }
        };
        assert!(looks.iter().all(|call| call == "BatchGetItem"), "{after:?}");
        let others = kms.take();
        assert!(others.iter().all(|call| call == "GetSecretValue"), "an endpoint signs nothing: {others:?}");
    }
}
