//! `POST`, `GET` and `DELETE /moment/claims`, and `POST /claims/{token}`

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, U256, keccak256},
    providers::ext::AnvilApi,
    signers::local::PrivateKeySigner,
};
use aws_sdk_dynamodb::types::AttributeValue;
use futures::future::join_all;
use local::desk::Desk;
use serde_json::{Value, json};
use tests::{
    Answer, ClaimLink, SignedIn, Stack, UndeployedSafe, Writer, eventually, fields, personal_sign, safe_of,
    sign_as_safe,
};

fn account(artist: &SignedIn) -> Address {
    artist.wallet.parse().expect("an address")
}

/// A row of the artist table changes under a field's name.
async fn set(stack: &Stack, (pk, sk): (String, String), field: &str, value: AttributeValue) {
    stack.set(&stack.map.names["ArtistTable"], &pk, &sk, field, value).await;
}

fn place_of(stack: &Stack, writer: &Writer, link: &ClaimLink) -> (String, String) {
    (format!("CLAIMS#{}", stack.artist_id(&writer.artist)), format!("LINK#{}", link.id))
}

async fn listed(stack: &Stack, writer: &Writer, query: &str) -> Vec<Value> {
    let answer = Answer::of(stack.get(&format!("/moment/claims{query}")).header("x-api-key", &writer.key)).await;
    answer.expect_success().body["claims"].as_array().expect("a list").clone()
}

#[tokio::test]
async fn signed_in_person_claims_a_token_once_and_pays_nothing() {
    let stack = Stack::connect();
    let (writer, person) = (stack.new_writer().await, stack.new_artist().await);
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 3})).await;
    let answer = stack.claim(&link, &person).await.expect_success();
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1", "chainId": 8453});
    assert_eq!(answer.body["moment"], moment);
    assert_eq!(
        (answer.status, &answer.body["status"], &answer.body["account"]),
        (200, &json!("mined"), &json!(person.wallet))
    );
    assert!(answer.header("ratelimit").is_empty(), "the artist's budget is told to nobody else: {answer:?}");
    let again = stack.claim(&link, &person).await.expect_success();
    assert_eq!((again.status, &again.body), (200, &answer.body));
    assert_eq!(stack.tokens_of(account(&person), writer.collection).await, U256::ONE);

    // The fees are the artist's, who sees the mint; nobody else does.
    let own = Answer::of(stack.get("/transactions").header("x-api-key", &writer.key)).await.expect_success();
    assert_eq!(own.body["transactions"][0]["hash"], answer.body["hash"]);
    let theirs = Answer::of(stack.get("/transactions").bearer_auth(&person.token)).await.expect_success();
    assert_eq!(theirs.body["transactions"], json!([]));

    // The artist's own claim, with a key.
    let request = stack.post(&format!("/claims/{}", link.token)).header("x-api-key", &writer.key);
    Answer::of_repeated(request).await.expect_success();
    let links = listed(&stack, &writer, "").await;
    assert_eq!((links.len(), &links[0]["claimed"], &links[0]["count"]), (1, &json!(2), &json!(3)));
    assert_eq!((&links[0]["claimId"], &links[0]["moment"]), (&json!(link.id), &moment));
    let text = format!("{links:?}");
    assert!(!text.contains(&link.token), "the secret is shown once: {text}");
}

#[tokio::test]
async fn person_may_claim_as_many_as_the_link_says() {
    let stack = Stack::connect();
    let (writer, person) = (stack.new_writer().await, stack.new_artist().await);
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 3, "perPerson": 2})).await;
    // A claim takes a second place only when the first one's token is there. All that the artist sends is for the link.
    let mints = async || {
        let mined = eventually("all is mined", async || {
            let sent = Answer::of(stack.get("/transactions").header("x-api-key", &writer.key)).await.expect_success();
            let sent = sent.body["transactions"].as_array().expect("a list").clone();
            sent.iter().all(|transaction| transaction["status"] == "mined").then_some(sent)
        });
        mined.await
    };
    for number in 1..=4_usize {
        let answer = stack.claim_once(&link, &person).await.expect_queued();
        let mints = mints().await;
        assert_eq!(mints.len(), number.min(2));
        let is_told = mints.iter().any(|mint| mint["hash"] == answer.body["hash"]);
        assert!(answer.status == 202 || is_told, "{answer:?}, {mints:?}");
    }
    assert_eq!(stack.tokens_of(account(&person), writer.collection).await, U256::from(2));
    assert_eq!(listed(&stack, &writer, "").await[0]["claimed"], json!(2));
}

#[tokio::test]
async fn wallet_claims_with_its_proof_and_is_the_artist_who_connected_it() {
    let stack = Stack::connect();
    let (writer, person) = (stack.new_writer().await, stack.new_artist().await);
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 9})).await;
    let (wallet, other, own) = (PrivateKeySigner::random(), PrivateKeySigner::random(), PrivateKeySigner::random());
    let proof = stack.claim_proof(&wallet).await;
    stack.claim_with(&link, &proof).await.expect_queued();
    let answer = stack.claimed(&link, &wallet).await;
    assert_eq!(answer.body["account"], json!(format!("{:#x}", wallet.address())));
    assert_eq!(stack.tokens_of(wallet.address(), writer.collection).await, U256::ONE);
    stack.claim_with(&link, &proof).await.expect_error(401);
    let again = stack.claimed(&link, &wallet).await;
    assert_eq!(again.body, answer.body);

    // Somebody else's signature, an altered message, half of a proof.
    let message = stack.sign_in_message(wallet.address(), 8453).await;
    let forged = json!({"message": message, "signature": personal_sign(&other, &message)});
    stack.claim_with(&link, &forged).await.expect_error(401);
    let altered = message.replace("costs nothing", "costs a bit");
    let altered = json!({"message": altered, "signature": personal_sign(&wallet, &altered)});
    stack.claim_with(&link, &altered).await.expect_error(401);
    let half = stack.claim_with(&link, &json!({"message": message})).await.expect_error(400);
    assert_eq!(half.failing_fields(), ["signature"]);

    // A connected wallet counts for its artist.
    stack.connect_wallet(&person, &own).await.expect_success();
    stack.claim(&link, &person).await.expect_success();
    let counted = stack.claimed(&link, &own).await;
    assert_eq!(counted.body["account"], json!(person.wallet), "what the person has already");
    assert_eq!(stack.tokens_of(own.address(), writer.collection).await, U256::ZERO);
    assert_eq!(listed(&stack, &writer, "").await[0]["claimed"], json!(2));
}

#[tokio::test]
async fn contract_wallet_claims_on_the_moments_chain_alone() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 2})).await;
    let owner = PrivateKeySigner::random();
    let sender = Address::from_word(keccak256(owner.address()));
    stack.chain().anvil_impersonate_account(sender).await.expect("an account");
    stack.set_balance(sender, 1_000_000_000_000_000_000).await;
    let safe = safe_of(&stack, sender, owner.address()).await;
    let proof = async || {
        let message = stack.sign_in_message(safe, 8453).await;
        json!({"message": message, "signature": sign_as_safe(&stack, safe, &owner, &message).await})
    };
    stack.claimed_with(&link, proof).await;
    assert_eq!(stack.tokens_of(safe, writer.collection).await, U256::ONE);

    let undeployed = UndeployedSafe::new(&stack).await;
    let elsewhere = stack.map.rpc.keys().find(|chain| *chain != "8453").expect("another chain");
    let elsewhere = elsewhere.parse().expect("a chain");
    let message = stack.sign_in_message(undeployed.address, elsewhere).await;
    let proof = json!({"message": message, "signature": undeployed.sign(elsewhere, &message, None)});
    let answer = stack.claim_with(&link, &proof).await.expect_error(401);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("8453")), "{answer:?}");
}

#[tokio::test]
async fn a_hundred_people_at_once_get_ten_tokens_exactly() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 10})).await;
    let wallets: Vec<_> = (0..100).map(|_| PrivateKeySigner::random()).collect();
    let proofs = join_all(wallets.iter().map(|wallet| stack.claim_proof(wallet))).await;
    let claims = proofs.iter().map(async |proof| {
        eventually("an answer that isn't 429 or 503", async || {
            let answer = stack.claim_with(&link, proof).await;
            (![429, 503].contains(&answer.status)).then_some(answer)
        })
        .await
    });
    let answers = join_all(claims).await;
    let mut statuses = BTreeMap::new();
    for answer in &answers {
        *statuses.entry(answer.status).or_insert(0) += 1;
    }
    println!("{statuses:?}");
    let taken = statuses.get(&200).copied().unwrap_or(0) + statuses.get(&202).copied().unwrap_or(0);
    assert_eq!((taken, statuses.get(&409)), (10, Some(&90)), "{statuses:?}");
    let sold_out = answers.iter().find(|answer| answer.status == 409).expect("a refusal");
    assert_eq!(sold_out.body["message"], "All 10 tokens of this link are claimed");
    // Those that were still on their way.
    for (wallet, _) in wallets.iter().zip(&answers).filter(|(_, answer)| answer.status == 202) {
        stack.claimed(&link, wallet).await;
    }
    let mut minted = U256::ZERO;
    for (wallet, answer) in wallets.iter().zip(&answers) {
        let tokens = stack.tokens_of(wallet.address(), writer.collection).await;
        assert_eq!(tokens == U256::ONE, answer.status < 300, "{answer:?}");
        minted += tokens;
    }
    assert_eq!(minted, U256::from(10));
    assert_eq!(listed(&stack, &writer, "").await[0]["claimed"], json!(10));
}

#[tokio::test]
async fn one_person_ten_times_at_once_gets_one_token() {
    let stack = Stack::connect();
    let (writer, person) = (stack.new_writer().await, stack.new_artist().await);
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 10})).await;
    let answers = join_all((0..10).map(|_| stack.claim_once(&link, &person))).await;
    // Ten contend for the link, and nothing is queued for one that finds it busy.
    let answers = answers.into_iter().filter(|answer| ![429, 503].contains(&answer.status));
    let answers: Vec<_> = answers.map(Answer::expect_queued).collect();
    let hash = stack.claim(&link, &person).await.expect_success().body["hash"].clone();
    assert!(answers.iter().all(|answer| answer.status == 202 || answer.body["hash"] == hash), "{answers:?}");
    assert_eq!(stack.tokens_of(account(&person), writer.collection).await, U256::ONE);
    assert_eq!(listed(&stack, &writer, "").await[0]["claimed"], json!(1));
}

#[tokio::test]
async fn links_that_are_forged_over_used_up_or_deleted_are_refused_in_words() {
    let stack = Stack::connect();
    let (writer, stranger) = (stack.new_writer().await, stack.new_writer().await);
    let (person, late) = (stack.new_artist().await, stack.new_artist().await);
    let refused = async |link: &ClaimLink, who: &SignedIn, status: u16, words: &str| {
        let answer = stack.claim(link, who).await.expect_error(status);
        assert!(answer.body["message"].as_str().is_some_and(|message| message.contains(words)), "{words}: {answer:?}");
    };

    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 1})).await;
    let forged = ClaimLink { token: "AAAAAAAAAAAAAAAAAAAAAA".to_owned(), ..link.clone() };
    refused(&forged, &person, 404, "no such link").await;
    let cut = ClaimLink { token: link.token[..21].to_owned(), ..link.clone() };
    stack.claim(&cut, &person).await.expect_error(400);
    Answer::of(stack.post(&format!("/claims/{}", link.token))).await.expect_error(401);
    let narrow =
        stack.create_key(&person, &json!({"scopes": ["publish"]})).await.expect_success().body["apiKey"].clone();
    let narrow = stack.post(&format!("/claims/{}", link.token)).header("x-api-key", narrow.as_str().expect("a key"));
    Answer::of(narrow).await.expect_error(403);

    stack.claim(&link, &person).await.expect_success();
    refused(&link, &late, 409, "The one token of this link").await;
    stack.claim(&link, &person).await.expect_success();

    let over = stack.claim_link(&writer.key, writer.collection, json!({"count": 2})).await;
    stack.claim(&over, &person).await.expect_success();
    let past = AttributeValue::N("1700000000".to_owned());
    set(&stack, place_of(&stack, &writer, &over), "until", past).await;
    refused(&over, &late, 410, "2023-11-14").await;
    stack.claim(&over, &person).await.expect_success();

    let deleted = stack.claim_link(&writer.key, writer.collection, json!({"count": 2})).await;
    let delete = async |key: &str| {
        let path = format!("/moment/claims?claimId={}", deleted.id);
        Answer::of(stack.delete(&path).header("x-api-key", key)).await
    };
    delete(&stranger.key).await.expect_error(404);
    stack.claim(&deleted, &person).await.expect_success();
    delete(&writer.key).await.expect_success();
    delete(&writer.key).await.expect_error(404);
    refused(&deleted, &late, 410, "took this link back").await;
    assert!(listed(&stack, &stranger, "").await.is_empty());
    assert_eq!(listed(&stack, &writer, "").await.len(), 2);
    assert!(listed(&stack, &writer, &format!("?collectionAddress={}", stranger.collection)).await.is_empty());
    let own = format!("?collectionAddress={}&tokenId=1&chainId=8453", writer.collection);
    assert_eq!(listed(&stack, &writer, &own).await.len(), 2);
}

#[tokio::test]
async fn links_need_a_moment_of_the_artists_with_enough_tokens() {
    let stack = Stack::connect();
    let (writer, stranger) = (stack.new_writer().await, stack.new_writer().await);
    let make = async |key: &str, body: Value| stack.write("/moment/claims", key, &body, &[]).await;
    let moment = |collection: Address| json!({"collectionAddress": collection, "tokenId": "1"});
    let wanted = json!({"moment": moment(writer.collection), "count": 1});
    make(&stranger.key, wanted.clone()).await.expect_error(403);
    make(&writer.key, json!({"moment": moment(Address::repeat_byte(9)), "count": 1})).await.expect_error(404);
    Answer::of(stack.post("/moment/claims").json(&wanted)).await.expect_error(401);
    for (field, wrong) in [("count", json!(0)), ("count", json!(10_001)), ("perPerson", json!(0)), ("until", json!(5))]
    {
        let mut body = wanted.clone();
        body[field] = wrong;
        assert_eq!(make(&writer.key, body).await.expect_error(400).failing_fields(), [field]);
    }
    let sale = json!({"type": "fixedPrice", "pricePerToken": "0", "saleStart": 0, "saleEnd": u64::MAX.to_string()});
    let limited = stack.publish(&writer.key, sale, json!({"maxSupply": 2})).await;
    let answer = make(&writer.key, json!({"moment": moment(limited), "count": 3})).await.expect_error(422);
    assert!(answer.body["message"].as_str().is_some_and(|message| message.contains("Only 2")), "{answer:?}");
    let answer = make(&writer.key, json!({"moment": moment(limited), "count": 2})).await.expect_success();
    assert_eq!(fields(&answer.body), ["claimId", "url"]);
}

#[tokio::test]
async fn links_of_artists_who_may_not_mint_and_of_hidden_moments_give_nothing() {
    let stack = Stack::connect();
    let desk = Desk::of_stack(&stack.map, "the night shift").await.expect("a desk");
    let run = async |arguments: &[&str]| {
        let arguments: Vec<_> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        desk.run(&arguments).await.expect("a decision")
    };
    let (owner, helper, person) = (stack.new_writer().await, stack.new_collector().await, stack.new_artist().await);
    let moment = json!({"collectionAddress": owner.collection, "tokenId": "1"});
    let permission = json!({"moment": moment, "adminAddress": helper.artist.wallet});
    let grant = stack.post("/moment/permission").bearer_auth(&owner.artist.token).json(&permission);
    Answer::of_write(grant).await.expect_success();
    let helper = Writer { artist: helper.artist, key: helper.key, collection: owner.collection };
    let link = stack.claim_link(&helper.key, helper.collection, json!({"count": 5})).await;

    let subject = format!("artist#{}", helper.artist.wallet);
    run(&["suspend", &subject, "spam", "a", "wave"]).await;
    stack.claim(&link, &person).await.expect_error(409);
    run(&["reinstate", &subject]).await;
    let path = format!("/moment/permission?adminAddress={}", helper.artist.wallet);
    let revoke = stack.delete(&path).bearer_auth(&owner.artist.token).json(&permission);
    Answer::of_write(revoke).await.expect_success();
    let answer = stack.claim(&link, &person).await.expect_error(409);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("stopped")), "{answer:?}");
    assert_eq!(listed(&stack, &helper, "").await[0]["claimed"], json!(0), "no place is lost");

    let own = stack.claim_link(&owner.key, owner.collection, json!({"count": 5})).await;
    let shown = format!("/timeline?collection={}", owner.collection);
    stack.wait_until(&shown, |body| body["moments"].as_array().is_some_and(|moments| moments.len() == 1)).await;
    run(&["hide", &format!("moment#8453#{}#1", owner.collection), "copyright", "a", "claim"]).await;
    stack.wait_until(&shown, |body| body["moments"].as_array().is_some_and(Vec::is_empty)).await;
    stack.claim(&own, &person).await.expect_error(404);
    assert_eq!(stack.tokens_of(account(&person), owner.collection).await, U256::ZERO);
}

#[tokio::test]
async fn who_has_a_place_whose_mint_failed_may_try_again_and_takes_no_second_place() {
    let stack = Stack::connect();
    let (writer, person) = (stack.new_writer().await, stack.new_artist().await);
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 1})).await;
    let first = stack.claim(&link, &person).await.expect_success();
    let artist = stack.artist_id(&writer.artist);
    let (pk, sk) = (format!("CLAIMS#{artist}"), format!("TAKEN#{}#{}", link.id, person.wallet));
    let row = stack.row(&stack.map.names["ArtistTable"], &pk, &sk).await.expect("a claim");
    let place = row["places"].as_l().expect("places")[0].as_m().expect("a place");
    let transaction = place["transaction"].as_s().expect("an id").clone();
    // As if it was given up.
    let mint = (format!("TRANSACTIONS#{artist}"), transaction);
    set(&stack, mint, "status", AttributeValue::S("failed".to_owned())).await;
    let second = stack.claim(&link, &person).await.expect_success();
    assert_ne!(second.body["hash"], first.body["hash"]);
    assert_eq!(stack.claim(&link, &person).await.expect_success().body, second.body);
    assert_eq!(stack.tokens_of(account(&person), writer.collection).await, U256::from(2), "the first was mined here");
    assert_eq!(listed(&stack, &writer, "").await[0]["claimed"], json!(1));
    stack.claim(&link, &stack.new_artist().await).await.expect_error(409);
}

#[tokio::test]
async fn export_has_links_without_their_secrets() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let link = stack.claim_link(&writer.key, writer.collection, json!({"count": 1})).await;
    let export = Answer::of(stack.get("/artists/me/export").bearer_auth(&writer.artist.token)).await;
    let export = export.expect_success().body.to_string();
    assert!(export.contains(&link.id), "{export}");
    assert!(!export.contains("token_hash") && !export.contains(&link.token), "{export}");
}
