//! The calls of the reference service's web client, as it sends them: which work unchanged, and which are answered otherwise
//! and why.

use alloy::{primitives::Address, signers::local::PrivateKeySigner};
use serde_json::{Value, json};
use tests::{Answer, Stack};

const ETHER: u64 = 1_000_000_000_000_000_000;

/// What becomes of a call.
enum Outcome {
    /// It works, and the answer has what the client reads, by JSON pointers.
    Same(&'static [&'static str]),
    /// It is refused with this status, for this reason.
    Differs(u16, Why),
}

/// Why a call is answered otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Why {
    /// The contract asks for a credential.
    Credential,
    /// The operation is under another path, or names its moment, wallet or split in another way.
    OtherPath,
    /// The contract doesn't name the operation.
    NotNamed,
    /// Money moves only by a request that can't be taken for another one.
    Money,
}

struct Call {
    method: &'static str,
    path: String,
    body: Value,
    with_token: bool,
    outcome: Outcome,
}

fn get(path: impl Into<String>, reads: &'static [&'static str]) -> Call {
    Call { method: "GET", path: path.into(), body: Value::Null, with_token: false, outcome: Outcome::Same(reads) }
}

fn send(method: &'static str, path: &str, body: Value, reads: &'static [&'static str]) -> Call {
    Call { method, path: path.to_owned(), body, with_token: true, outcome: Outcome::Same(reads) }
}

fn refused(method: &'static str, path: impl Into<String>, body: Value, status: u16, why: Why) -> Call {
    let with_token = why != Why::Credential;
    Call { method, path: path.into(), body, with_token, outcome: Outcome::Differs(status, why) }
}

async fn replay(stack: &Stack, token: &str, call: &Call) -> Answer {
    let method: reqwest::Method = call.method.parse().expect("a method");
    let mut request = stack.http.request(method, format!("{}{}", stack.map.api, call.path));
    if call.with_token {
        request = request.bearer_auth(token);
    }
    if !call.body.is_null() {
        request = request.json(&call.body);
    }
    let answer = Answer::of_write(request).await;
    match call.outcome {
        Outcome::Same(reads) => {
            assert_eq!(answer.status, 200, "{} {}: {answer:?}", call.method, call.path);
            for pointer in reads {
                assert!(
                    answer.body.pointer(pointer).is_some(),
                    "{} {}: no {pointer}: {answer:?}",
                    call.method,
                    call.path
                );
            }
        }
        Outcome::Differs(status, why) => {
            assert_eq!(answer.status, status, "{} {} ({why:?}): {answer:?}", call.method, call.path);
            assert!(answer.body["message"].is_string(), "{} {}: {answer:?}", call.method, call.path);
        }
    }
    answer
}

#[tokio::test]
async fn calls_of_the_web_client_work_or_differ_for_a_reason() {
    let stack = Stack::connect();
    let (artist, fan) = (stack.new_collector().await, stack.new_collector().await);
    let (wallet, token) = (&artist.artist.wallet, &artist.artist.token);
    let name = format!("reference-{}", &uuid::Uuid::new_v4().simple().to_string()[..8]);
    let named = stack.patch("/artists/me").bearer_auth(token).json(&json!({"username": name}));
    Answer::of(named).await.expect_success();
    stack.connect_wallet(&artist.artist, &PrivateKeySigner::random()).await.expect_success();
    let collection = stack.release(&artist.key, "Reference", &["ar://1".to_owned()]).await;
    stack.set_balance(fan.account, ETHER).await;
    stack.give_usdc(artist.account, 30_000_000).await;
    stack.set_balance(artist.account, ETHER).await;
    let moment = json!({"collectionAddress": collection, "tokenId": "1", "chainId": 8453});
    let order = json!({"moment": moment, "amount": 1, "comment": "Mine"});
    stack.write("/moment/collect", &fan.key, &order, &[]).await.expect_success();
    stack
        .wait_until(&format!("/transfers?collector={}", fan.artist.wallet), |body| !body["transfers"][0].is_null())
        .await;

    let place = format!("collectionAddress={collection}&tokenId=1&chainId=8453");
    let caip = format!("/collections/eip155:8453/erc1155:{collection}");
    let (helper, fan_wallet) = (Address::repeat_byte(0xa7), &fan.artist.wallet);
    let grant = json!({"moment": moment, "adminAddress": helper});
    let new_collection = json!({"account": wallet, "collection": {"uri": "ar://c", "name": "C"}, "chainId": 8453});
    let new_moment = json!({
        "account": wallet, "contract": {"address": collection},
        "token": {"tokenMetadataURI": "ar://2", "createReferral": wallet, "mintToCreatorCount": 1,
            "salesConfig": {"type": "fixedPrice", "pricePerToken": "0", "saleStart": "0", "saleEnd": "18446744073709551615"}},
    });
    const PAGE: &[&str] =
        &["/pagination/page", "/pagination/limit", "/pagination/total_count", "/pagination/total_pages"];
    const SENT: &[&str] = &["/hash", "/chainId"];
    let calls = [
        // Read.
        get(
            format!("/moment?{place}"),
            &[
                "/id",
                "/uri",
                "/contentUri",
                "/owner",
                "/sale/pricePerToken",
                "/soldOut",
                "/protocol",
                "/admins",
                "/metadata",
            ],
        ),
        get(
            format!("/timeline?page=1&limit=20&artist={wallet}&hidden=false&type=default&chain_id=8453&curated=false"),
            &[
                "/moments/0/address",
                "/moments/0/token_id",
                "/moments/0/creator/username",
                "/moments/0/collection/name",
                "/pagination/total_pages",
            ],
        ),
        get(format!("/timeline?page=1&limit=20&artist={wallet}&hidden=true&type=mutual&curated=true"), &["/moments"]),
        get(
            format!("/collections?page=1&limit=100&artist={wallet}"),
            &["/collections/0/address", "/pagination/total_pages"],
        ),
        get(&caip, &["/address", "/name", "/uri", "/creator", "/admins/0", "/metadata"]),
        get(format!("/comments?{place}&offset=0"), &["/comments"]),
        get(format!("/comments?{place}&offset=0&replyToId=0x{}", "1".repeat(64)), &["/comments"]),
        get(format!("/artists/search?query={name}&limit=10"), &["/artists/0/username"]),
        get("/collectors?period=all&limit=20&page=1&sort_by=eth_spent&sort_order=desc", &["/collectors", "/page"]),
        get("/notifications?page=1&limit=20", PAGE),
        get("/notifications?page=1&limit=20&viewed=false", &["/notifications", "/pagination/total_pages"]),
        get(
            format!("/transfers?collection={collection}&tokenId=1&chainId=8453&page=1&limit=20"),
            &[
                "/transfers/0/id",
                "/transfers/0/collector/address",
                "/transfers/0/collector/username",
                "/transfers/0/quantity",
                "/transfers/0/transaction_hash",
                "/transfers/0/transferred_at",
            ],
        ),
        get(
            format!("/transfers?collector={fan_wallet}&chainId=8453&page=1&limit=100"),
            &["/transfers/0/moment/collection/artist/username", "/transfers/0/moment/sale", "/pagination/total_count"],
        ),
        get(
            format!("/transfers?collector={fan_wallet}&chainId=8453&page=1&limit=100&content_type=image"),
            &["/transfers"],
        ),
        get(
            format!("/transfers?type=payment&chainId=8453&page=1&limit=20&artist={wallet}"),
            &[
                "/transfers/0/value",
                "/transfers/0/currency",
                "/transfers/0/moment/fee_recipients/0/artist_address",
                "/pagination/total_count",
            ],
        ),
        get(format!("/transfers?type=payment&chainId=8453&page=1&limit=20&collector={fan_wallet}"), PAGE),
        get(format!("/transfers?type=airdrop&artist={wallet}&chainId=8453&page=1&limit=20"), PAGE),
        // Act with the artist's token.
        send(
            "POST",
            "/sale",
            json!({"moment": moment, "saleStart": 0, "pricePerToken": "2000", "fundsRecipient": wallet}),
            SENT,
        ),
        send("PATCH", &caip, json!({"newUri": "ar://c2", "newCollectionName": "Reference 2"}), SENT),
        send("POST", "/moment/permission", grant.clone(), SENT),
        send("DELETE", "/moment/permission", grant, SENT),
        send(
            "POST",
            &caip.replace("/collections/", "/comments/"),
            json!({"tokenId": "1", "text": "Hello"}),
            &["/hash"],
        ),
        send("POST", "/moment/create", new_moment.clone(), &["/contractAddress", "/tokenId"]),
        send("POST", "/moment/migrate", json!({"chainId": 8453}), &["/message", "/results"]),
        send("POST", "/artists/api-keys", json!({"key_name": "site"}), &["/apiKey"]),
        send("GET", "/artists/api-keys", Value::Null, &["/keys/0/id", "/keys/0/name"]),
        send("PUT", "/notifications", Value::Null, &["/status", "/updated"]),
        send(
            "POST",
            "/splits",
            json!({"splits": [{"address": wallet, "percentAllocation": 40},
            {"address": helper, "percentAllocation": 60}]}),
            &["/splitAddress", "/chainId"],
        ),
        // The contract asks for a credential where the client sends none.
        refused("POST", "/moment/create", new_moment.clone(), 401, Why::Credential),
        refused("POST", "/moment/create-batch", json!({"tokens": [new_moment["token"]]}), 401, Why::Credential),
        refused("POST", "/collections", new_collection, 401, Why::Credential),
        refused("PUT", "/notifications?", Value::Null, 401, Why::Credential),
        refused("GET", "/artists/wallets?artistId=x", Value::Null, 401, Why::Credential),
        send("POST", "/moment/collect", order, SENT),
        send("POST", "/moment/airdrop", json!({"recipients": [helper], "moment": moment}), SENT),
        // 25 must not be 0.000025.
        refused(
            "POST",
            "/smartwallet/withdraw",
            json!({"amount": "25", "currency": "usdc", "to": helper, "chainId": 8453}),
            400,
            Why::Money,
        ),
        refused(
            "POST",
            "/artists/wallets",
            json!({"walletProof": {"message": "m", "signature": "0x00"}}),
            400,
            Why::Money,
        ),
        // Under another path.
        refused("GET", "/splits?splitAddress=x&chainId=8453", Value::Null, 405, Why::OtherPath),
        refused("POST", "/moment/hide", json!({"momentId": "x"}), 400, Why::OtherPath),
        refused("PATCH", "/moment", json!({"moment": moment, "newUri": "ar://3"}), 400, Why::OtherPath),
        refused("POST", "/nouns", json!({}), 404, Why::OtherPath),
        refused("GET", format!("/profile?address={wallet}"), Value::Null, 404, Why::OtherPath),
        refused("POST", "/profile", json!({"bio": "x"}), 404, Why::OtherPath),
        refused(
            "GET",
            format!("/smartwallet/balances?address={wallet}&chainId=8453"),
            Value::Null,
            404,
            Why::OtherPath,
        ),
        refused("GET", "/smartwallet?accountId=x", Value::Null, 400, Why::OtherPath),
        // Not in the contract.
        refused("GET", "/collections/default", Value::Null, 404, Why::NotNamed),
        refused("GET", "/stats/timeline?period=all", Value::Null, 404, Why::NotNamed),
        refused("GET", "/stats/collecting?period=all", Value::Null, 404, Why::NotNamed),
        refused("GET", "/moment/total-cnt", Value::Null, 404, Why::NotNamed),
        refused("GET", "/emails?page=1", Value::Null, 404, Why::NotNamed),
        refused("POST", "/phones", json!({"phone_number": "1"}), 404, Why::NotNamed),
        refused("POST", "/mux/create", json!({}), 404, Why::NotNamed),
        refused("POST", "/feedback", json!({}), 404, Why::NotNamed),
        refused("POST", "/farcaster/auth", json!({}), 404, Why::NotNamed),
        refused("GET", "/media/image?url=ar://1", Value::Null, 404, Why::NotNamed),
        refused("GET", "/og/moment?tokenId=1", Value::Null, 404, Why::NotNamed),
        refused("GET", "/link/get_detail?url=x", Value::Null, 404, Why::NotNamed),
    ];
    let mut same = 0;
    for call in &calls {
        replay(&stack, token, call).await;
        same += usize::from(matches!(call.outcome, Outcome::Same(_)));
    }
    println!("{same} of {} calls work unchanged", calls.len());
}
