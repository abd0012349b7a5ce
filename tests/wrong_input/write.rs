//! Changes, other writes, their headers and bodies.

use serde_json::{Value, json};
use tests::{Answer, Stack};

use super::support::*;

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
        ("/moment/airdrop", with(json!({"recipients": ["ad"]})), "recipients.0 must be an address or a username"),
        ("/moment/airdrop", with(json!({"recipients": ["ada@"]})), "recipients.0 must be an e-mail address"),
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
async fn wrong_write_says_which_field_and_why() {
    let requests = Requests::new().await;
    for (request, body, words) in [
        (
            "POST /uploads",
            json!({"contentType": "text/html", "size": 9}),
            "or application/octet-stream if you don't know it",
        ),
        (
            "POST /uploads",
            json!({"type": "image/png", "size": 9}),
            "type is not a field here; did you mean contentType?",
        ),
        (
            "POST /uploads",
            json!({"contentType": "image/png", "size": 2_147_483_649_u64}),
            "size must be a whole number of bytes from 1 to 2147483648",
        ),
        (
            "POST /uploads",
            json!({"contentType": "image/png", "size": 9, "sha256": "abc"}),
            "sha256 must be a SHA-256: 64 hexadecimal digits",
        ),
        ("POST /uploads/1/complete", json!({}), "id must be a UUID"),
        (
            "POST /splits",
            json!({"splits": shares(&[("$someone", 50), ("$other", 49)])}),
            "splits must add up to exactly 100 percent",
        ),
        (
            "POST /splits",
            json!({"splits": shares(&[("$someone", 50), ("$someone", 50)])}),
            "splits must not name a recipient twice",
        ),
        (
            "POST /splits",
            json!({"splits": shares(&[("$someone", 50), ("$zero", 50)])}),
            "splits.1.address must not be the zero address",
        ),
        (
            "POST /splits",
            json!({"splits": shares(&[("$wrong", 50), ("$other", 50)])}),
            "splits.0.address has a wrong EIP-55 checksum: check the address",
        ),
        (
            "POST /splits",
            json!({"splits": [{"address": "$someone", "percentAllocation": "50%"}, {}]}),
            "splits.0.percentAllocation must be a percentage over 0",
        ),
        (
            "POST /splits",
            json!({"splits": shares(&[("$someone", 100)])}),
            "splits has too few entries: give at least 2",
        ),
        (
            "POST /splits/distribute",
            json!({"splitAddress": "$someone", "currency": "DOGE"}),
            "currency must be ETH, USDC,",
        ),
        (
            "POST /collections",
            json!({"name": "Tides", "uri": "http://x"}),
            "uri must be a URI that starts with ipfs://, ar://, https://",
        ),
        (
            "POST /collections",
            json!({"name": "Tides", "uri": "ar://x", "royalty": 5}),
            "royalty is not a field here; did you mean royaltyBps?",
        ),
        (
            "POST /collections",
            json!({"name": "Tides", "uri": "ar://x", "royaltyBps": 10_000}),
            "5000 at most: 500 is 5 %",
        ),
        (
            "PATCH /collections/eip155:8453/erc1155:$someone",
            json!({"newCollectionName": "Tides", "uri": "ar://x"}),
            "uri is not a field here; did you mean newUri?",
        ),
        (
            "PATCH /collections/base/erc1155:$someone",
            json!({}),
            "network must be eip155: and a chain id, such as eip155:8453",
        ),
        ("PATCH /collections/eip155:137/erc1155:$someone", json!({}), "network is not a chain"),
        (
            "PATCH /collections/eip155:8453/erc721:$someone",
            json!({}),
            "contract must be erc1155: and the collection's address",
        ),
        (
            "POST /collections/eip155:8453/erc1155:$someone/admins",
            json!({"adminAddress": "ada"}),
            "adminAddress must be an address",
        ),
        ("POST /moment/permission", json!({"moment": some_moment()}), "adminAddress is required"),
        (
            "POST /moment/permission",
            json!({"moment": "$someone", "adminAddress": "$other"}),
            "moment must be an object with chainId, collectionAddress, tokenId",
        ),
        (
            "POST /moment/permission",
            json!({"moment": {"collectionAddress": "$someone", "tokenId": 1}, "adminAddress": "$other"}),
            "moment.tokenId must be a string",
        ),
        ("DELETE /moment/permission?tokenId=x", Value::Null, "tokenId must be a token id: a whole number from 0"),
        (
            "POST /moment/airdrop",
            json!({"moment": some_moment(), "recipients": ["$zero"]}),
            "recipients.0 must not be the zero address",
        ),
        (
            "POST /moment/airdrop",
            json!({"moment": some_moment(), "recipients": ["$wrong"]}),
            "recipients.0 has a wrong EIP-55 checksum",
        ),
        (
            "POST /moment/airdrop",
            json!({"moment": some_moment(), "recipients": "$someone"}),
            "recipients must be a list",
        ),
        (
            "POST /comments/eip155:8453/erc1155:$someone",
            json!({"tokenId": "1", "text": ""}),
            "text must be 1 to 1000 characters long",
        ),
        (
            "POST /comments/eip155:8453/erc1155:$someone",
            json!({"tokenId": "1", "text": "   "}),
            "text must have more than spaces",
        ),
        (
            "POST /comments/eip155:8453/erc1155:$someone",
            json!({"tokenId": "1", "text": "x", "replyTo": "5"}),
            "replyTo must be 32 bytes: 0x and 64 hexadecimal digits",
        ),
        ("POST /comments/eip155:8453/erc1155:$someone", json!({"tokenId": "1", "comment": "x"}), "text is required"),
        (
            "POST /comments/eip155:8453/erc1155:$someone/prepare",
            json!({"tokenId": "1", "text": "x"}),
            "account is required",
        ),
        (
            "POST /moment/collect",
            json!({"moment": some_moment(), "amount": 1, "maxPrice": "0.1 ETH"}),
            "maxPrice must be an amount in the smallest unit",
        ),
        (
            "POST /moment/collect",
            json!({"moment": some_moment(), "amount": 1.5}),
            "amount must be a whole number from 1 to 1000",
        ),
        (
            "POST /moment/collect",
            json!({"moment": {"collectionAddress": "$someone", "tokenId": "1", "chainId": 137}, "amount": 1}),
            "moment.chainId is not a chain",
        ),
        (
            "POST /moment/collect",
            json!({"moment": some_moment(), "amount": 1, "referral": "nobody-is-called-this"}),
            "referral is not the username of an artist",
        ),
        ("PATCH /moment", json!({"moment": some_moment()}), "newCollectionAddress is required"),
        ("POST /moment/create/prepare", json!({"account": "$someone"}), "contract is required"),
        ("POST /moment/collect/prepare", json!({"moment": some_moment(), "amount": 1}), "account is required"),
        (
            "POST /moment/collect/prepare",
            json!({"moment": some_moment(), "amount": 1, "account": "ada.eth"}),
            "account must be an address: 0x and 40",
        ),
        ("POST /moment/create-batch", json!({"tokens": []}), "tokens has too few entries: give at least 1"),
        (
            "POST /moment/create/writing",
            json!({"title": "", "text": "Fog", "token": {"salesConfig": {}}}),
            "title must be 1 to 200 characters long",
        ),
        (
            "POST /metadata",
            json!({"name": "Fog", "external_url": "example.com"}),
            "external_url must be a URL that starts with https://",
        ),
        ("POST /governance", json!({"chainId": 8453}), "chainId must be 1 (Ethereum) or 11155111 (Sepolia)"),
        (
            "POST /governance",
            json!({"chainId": 1, "splits": shares(&[("$someone", 100)])}),
            "splits must have at least 2 recipients",
        ),
        (
            "POST /governance",
            json!({"chainId": 1, "splits": shares(&[("$someone", 50), ("$other", 49)])}),
            "splits must add up to exactly 100 percent",
        ),
        (
            "POST /governance",
            json!({"chainId": 1, "proposal": "x"}),
            "proposal must be an object with description, title",
        ),
        (
            "POST /reports",
            json!({"subject": "moment 1", "reason": "spam"}),
            "subject must be an object with one of moment, collection,",
        ),
        (
            "POST /reports",
            json!({"subject": {"moment": some_moment(), "artist": "$other"}, "reason": "spam"}),
            "subject must have one of moment, collection,",
        ),
        (
            "POST /reports",
            json!({"subject": {"moment": some_moment()}, "reason": "ugly"}),
            "reason must be copyright, illegal, impersonation, spam or other",
        ),
        ("PUT /notifications", json!({"ids": ["1"]}), "ids.0 must be a UUID"),
        ("DELETE /transactions/1", Value::Null, "id must be a UUID"),
    ] {
        requests.expect_words(request, &body, words).await;
    }
}

#[tokio::test]
async fn wrong_headers_and_bodies_say_what_and_where() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let post = || stack.post("/moment/create").bearer_auth(&artist.token);
    let (good, long) = (publication("/contract/name", json!("Tides")), "x".repeat(300));
    for (name, value, words) in [
        ("idempotency-key", &*long, "The Idempotency-Key header must be given once, as 1 to 255 visible characters"),
        ("valid-until", "1", "The Valid-Until header must be given once, as a time to come in Unix seconds"),
        ("valid-until", "tomorrow", "as a time to come in Unix seconds"),
    ] {
        let answer = Answer::of(post().header(name, value).json(&good)).await.expect_error(400);
        assert_words(&answer, words, name, &json!(value));
    }
    for (content_type, body, status, words) in [
        ("text/plain", "{}", 415, "Send the body as JSON, with Content-Type: application/json"),
        ("application/x-www-form-urlencoded", "name=Fog", 415, "Send the body as JSON"),
        ("application/json", "", 400, "The body is empty: send a JSON object"),
        ("application/json", "[]", 400, "The body must be a JSON object"),
        ("application/json", "\"{}\"", 400, "The body must be a JSON object"),
        (
            "application/json",
            "{\n \"token\": {},\n}",
            400,
            "The body is not valid JSON: trailing comma at line 3 column 1",
        ),
        ("application/json", "{'token': {}}", 400, "key must be a string at line 1 column 2"),
        ("application/json", "{\"token\": {}", 400, "EOF while parsing an object at line 1 column 12"),
    ] {
        let answer = Answer::of(post().header("content-type", content_type).body(body)).await.expect_error(status);
        assert_words(&answer, words, content_type, &json!(body));
    }
}
