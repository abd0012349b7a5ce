//! The words that wrong input is answered with: what was wrong, where, and what to do.

use serde_json::{Map, Value, json};
use tests::{Answer, Stack, Writer};

/// A publication with a part replaced, by a JSON pointer.
fn publication(pointer: &str, value: Value) -> Value {
    let mut body = json!({
        "contract": {"name": "Wrong", "uri": "ar://wrong"},
        "token": {"tokenMetadataURI": "ar://wrong/1", "salesConfig": {}},
    });
    put(&mut body, pointer, value);
    body
}

fn put(body: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = body.pointer_mut(parent).expect("a parent");
    if parent.is_null() {
        *parent = Map::new().into();
    }
    parent[name] = value;
}

#[tokio::test]
async fn wrong_publication_says_which_field_and_why() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    for (pointer, value, words) in [
        ("/token/maxSuply", json!("25"), "token.maxSuply is not a field here; did you mean maxSupply?"),
        ("/token/max_supply", json!("25"), "token.max_supply is not a field here; did you mean maxSupply?"),
        ("/token/payoutRecipent", json!(usdc), "did you mean payoutRecipient?"),
        ("/split", json!([]), "split is not a field here; did you mean splits?"),
        ("/royalties", json!(1), "royalties is not a field here"),
        ("/token/salesConfig/curency", json!(usdc), "did you mean currency?"),
        ("/token/salesConfig/currency", json!(usdc), "token.salesConfig.currency belongs to the type erc20Mint"),
        ("/token/salesConfig/price", json!("1"), "token.salesConfig.price is not a field here"),
        ("/token/salesConfig/pricePerToken", json!("0.01"), "token.salesConfig.pricePerToken must be"),
        ("/token/salesConfig/pricePerToken", json!("-1"), "token.salesConfig.pricePerToken must be"),
        ("/token/salesConfig/pricePerToken", json!(1), "token.salesConfig.pricePerToken must be a string"),
        ("/token/salesConfig/saleStart", json!(1_795_551_618_000_u64), "Unix time in seconds, not in milliseconds"),
        ("/token/salesConfig/saleEnd", json!(1_795_551_618_000_u64), "Unix time in seconds, not in milliseconds"),
        ("/token/salesConfig/saleEnd", json!(100), "token.salesConfig.saleEnd must be in the future"),
        ("/token/salesConfig/saleEnd", json!(0), "18446744073709551615 for no end"),
        ("/token/salesConfig/saleEnd", json!("tomorrow"), "token.salesConfig.saleEnd must be a whole number"),
        ("/token/salesConfig/type", json!("fixed"), "must be fixedPrice, erc20Mint, timed"),
        ("/token/salesConfig/maxTokensPerAddress", json!(-1), "token.salesConfig.maxTokensPerAddress must be"),
        ("/token/salesConfig", json!({"type": "erc20Mint", "pricePerToken": "20000"}), "currency is required"),
        ("/token/salesConfig", json!({"type": "timed", "maxTokensPerAddress": 2}), "a timed sale has no limit"),
        ("/token/salesConfig", json!("free"), "token.salesConfig must be an object"),
        ("/token/maxSupply", json!(0), "leave it out for an open edition"),
        ("/token/mintToCreatorCount", json!("many"), "token.mintToCreatorCount must be a whole number"),
        ("/token/tokenMetadataURI", json!("picture.png"), "token.tokenMetadataURI must be"),
        ("/token/tokenMetadataURI", json!(""), "token.tokenMetadataURI must be"),
        ("/token/metadata", json!({"name": "Both"}), "must be left out beside metadata"),
        ("/token/payoutRecipient", json!("0x1"), "must be an address: 0x and 40 hexadecimal digits"),
        ("/token/payoutRecipient", json!(usdc.replace('D', "d")), "has a wrong EIP-55 checksum"),
        ("/token/payoutRecipient", json!(format!("0x{:040}", 0)), "must not be the zero address"),
        ("/token", json!([]), "token must be an object"),
        ("/token", Value::Null, "token is required"),
        ("/contract", json!({}), "either an address, or a name and a uri"),
        ("/contract", json!({"name": "Alone"}), "contract.uri is required"),
        ("/contract/address", json!(usdc), "belongs to a new collection"),
        ("/contract/nmae", json!("x"), "contract.nmae is not a field here; did you mean name?"),
        ("/chainId", json!("8453"), "chainId must be a number"),
        ("/chainId", json!(137), "chainId is not a chain"),
        ("/splits", json!([{"address": usdc, "percentAllocation": 100}]), "splits"),
        ("/splits", json!([{"address": usdc, "percent": 100}]), "splits.0.percent is not a field here"),
    ] {
        expect_words(&stack, &writer, "/moment/create", &publication(pointer, value), words).await;
    }
}

#[tokio::test]
async fn wrong_change_says_which_field_and_why() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    let with = |more: Value| {
        let mut body = json!({"moment": moment});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("fields").clone());
        body
    };
    for (path, body, words) in [
        ("/sale", with(json!({})), "pricePerToken or one of saleStart, saleEnd"),
        ("/sale", with(json!({"price": "1"})), "price is not a field here"),
        ("/sale", with(json!({"saleStart": 1_795_551_618_000_u64})), "not in milliseconds"),
        (
            "/sale",
            json!({"moment": {"collectionAddress": writer.collection}, "saleEnd": 1}),
            "moment.tokenId is required",
        ),
        ("/moment/collect", with(json!({"amount": 0})), "amount must be"),
        ("/moment/collect", with(json!({"amount": 1001})), "amount must be"),
        (
            "/moment/collect",
            with(json!({"amount": 1, "coment": "x"})),
            "coment is not a field here; did you mean comment?",
        ),
        ("/moment/collect", with(json!({"amount": 1, "maxPrice": "0.1"})), "maxPrice must be"),
        ("/moment/airdrop", with(json!({"recipients": []})), "recipients has too few entries"),
        ("/moment/airdrop", with(json!({"recipients": ["ada@example.com"]})), "recipients.0 must be an address"),
        ("/moment/airdrop", with(json!({"recipient": ["0x1"]})), "recipients is required"),
        ("/moment/permission", with(json!({"adminAddress": "0x1"})), "adminAddress must be an address"),
        ("/moment/hide", with(json!({"hidden": "yes"})), "hidden must be true or false"),
        ("/metadata", json!({"title": "x"}), "name is required"),
        ("/metadata", json!({"name": "x", "picture": "ipfs://x"}), "picture is not a field here"),
        ("/uploads", json!({"contentType": "image/png", "size": 0}), "size must be"),
        ("/splits", json!({"splits": []}), "splits has too few entries"),
        ("/artists/api-keys", json!({"scope": ["publish"]}), "scope is not a field here; did you mean scopes?"),
    ] {
        let is_of_a_person = path == "/artists/api-keys";
        let credential = if is_of_a_person { &writer.artist.token } else { &writer.key };
        let answer = Answer::of(stack.post(path).bearer_auth(credential).json(&body)).await.expect_error(400);
        assert_words(&answer, words, path, &body);
    }
}

#[tokio::test]
async fn wrong_query_says_which_parameter_and_why() {
    let stack = Stack::connect();
    for (path, words) in [
        ("/timeline?limit=0", "limit must be"),
        ("/timeline?limit=101", "limit must be"),
        ("/timeline?page=0", "page must be"),
        ("/timeline?page=one", "page must be"),
        ("/timeline?artist=0x1", "artist must be an address, 0x and 40 hexadecimal digits, or a username"),
        ("/timeline?artist=a", "artist must be an address or a username"),
        ("/timeline?type=mine", "type"),
        ("/timeline?channel=web", "channel is a filter that this service doesn't have"),
        ("/timeline?limit=1&limit=2", "limit must be given only once"),
        ("/comments", "collectionAddress is required"),
        ("/comments?collectionAddress=0x1&tokenId=1", "collectionAddress must be an address"),
        ("/collectors?period=year", "period must be"),
        ("/collectors?sort_by=name", "sort_by must be"),
        ("/artists/search", "query is required"),
        ("/moment?collectionAddress=0x1", "collectionAddress must be an address"),
        ("/collections/base/0x1", "network"),
        ("/collections/eip155:8453/0x1", "contract"),
        ("/notifications?viewed=maybe", "viewed must be"),
        ("/transfers?type=gift", "type must be"),
    ] {
        let answer = Answer::of(stack.get(path)).await.expect_error(400);
        assert_words(&answer, words, path, &Value::Null);
    }
}

async fn expect_words(stack: &Stack, writer: &Writer, path: &str, body: &Value, words: &str) {
    let answer = stack.write(path, &writer.key, body, &[]).await;
    assert_eq!(answer.status, 400, "{body}: {answer:?}");
    assert_words(&answer, words, path, body);
}

/// The message alone says enough, and so does the list of wrong fields.
#[track_caller]
fn assert_words(answer: &Answer, words: &str, path: &str, body: &Value) {
    let message = answer.body["message"].as_str().unwrap_or_default();
    let fields = answer.body["errors"].as_array().into_iter().flatten();
    let all = fields.map(|error| format!("{} {}", error["field"], error["message"]).replace('"', ""));
    let is_said = message.contains(words) || all.into_iter().any(|field| field.contains(words));
    assert!(is_said, "{path} {body}: expected {words:?} in {answer:?}");
    assert!(!message.contains("see errors") || message.contains(" more: see errors"), "{path}: {message}");
}
