//! An artist asks every endpoint for another artist's things: their collection, keys, wallets, uploads, transactions and
//! whatever else a request can name. The requests are the document's examples, with the victim's names in them.

use std::{collections::BTreeSet, fs};

use local::paths::Paths;
use serde_json::{Map, Value, json};
use tests::{Answer, Stack, picture};

/// What becomes of an operation that names the victim's things.
enum Outcome {
    /// It is refused.
    Refused(u16),
    /// It answers with the attacker's own, and nothing of the victim.
    Own,
    /// It can name nothing of another artist, or what anybody may do with it.
    Nothing,
}

use Outcome::{Nothing, Own, Refused};

const OPERATIONS: [(&str, Outcome); 75] = [
    ("listActivity", Own),
    ("forgetDevice", Refused(404)),
    ("revokeApiKey", Refused(404)),
    ("listApiKeys", Own),
    ("listKeyRequests", Own),
    ("createApiKey", Nothing),
    ("updateArtist", Refused(400)),
    ("deleteArtist", Nothing),
    ("exportArtist", Own),
    ("removePayoutAddress", Refused(404)),
    ("listPayoutAddresses", Own),
    ("addPayoutAddress", Nothing),
    ("disconnectWallet", Refused(404)),
    ("listWallets", Own),
    ("connectWallet", Refused(400)),
    // Only a signature of the wallet connects it.
    ("challengeWallet", Nothing),
    ("challengePasskey", Nothing),
    // Only what the service asked this artist for adds one.
    ("addPasskey", Refused(400)),
    ("listPasskeys", Own),
    ("removePasskey", Refused(404)),
    ("keepPasskey", Refused(404)),
    // Only the artist who was asked gives a proof.
    ("askProof", Nothing),
    ("giveProof", Refused(400)),
    ("readMe", Own),
    // Only proofs of one's own change the address.
    ("changeEmail", Nothing),
    ("keepEmail", Refused(404)),
    ("readOwnArtist", Own),
    ("createCollection", Nothing),
    ("updateCollection", Refused(403)),
    ("removeCollectionAdmin", Refused(403)),
    ("addCollectionAdmin", Refused(403)),
    ("createComment", Nothing),
    ("createMetadata", Nothing),
    ("airdropMoment", Refused(403)),
    // Nobody else has the link.
    ("claimMoment", Refused(404)),
    ("collectMoment", Nothing),
    ("createClaimLink", Refused(403)),
    ("deleteClaimLink", Refused(404)),
    ("listClaimLinks", Own),
    ("createMoment", Refused(403)),
    ("createMoments", Refused(403)),
    ("simulateMoment", Refused(403)),
    ("createWriting", Refused(403)),
    ("migrateMoments", Nothing),
    ("moveMoment", Refused(403)),
    ("revokePermission", Refused(403)),
    ("setAllowList", Refused(403)),
    ("grantPermission", Refused(403)),
    ("markNotifications", Nothing),
    ("logOut", Nothing),
    ("hideMoment", Refused(403)),
    // What is made in one's own name.
    ("acceptMoment", Nothing),
    // What waits in a split is paid to its recipients, whoever asks.
    ("createSplit", Nothing),
    ("distributeSplit", Nothing),
    ("updateMomentUri", Refused(403)),
    ("updateSale", Refused(403)),
    ("withdrawFunds", Nothing),
    ("listEvents", Own),
    ("waitForEvents", Own),
    ("listTransactions", Own),
    ("readTransaction", Refused(404)),
    ("cancelTransaction", Refused(404)),
    ("createUpload", Nothing),
    ("completeUpload", Refused(404)),
    ("deleteUpload", Refused(404)),
    ("listUploads", Own),
    ("createWebhook", Nothing),
    ("listWebhooks", Own),
    ("readWebhook", Refused(404)),
    ("updateWebhook", Refused(404)),
    ("deleteWebhook", Refused(404)),
    ("rotateWebhook", Refused(404)),
    ("testWebhook", Refused(404)),
    ("listDeliveries", Refused(404)),
    ("redeliverWebhook", Refused(404)),
];

/// Puts the victim's collection into an example, wherever it names one or makes one.
fn aimed(example: &Value, collection: &str) -> Value {
    let Value::Object(fields) = example else { return example.clone() };
    let aim = |(name, value): (&String, &Value)| match name.as_str() {
        "contract" => (name.clone(), json!({"address": collection})),
        "collectionAddress" => (name.clone(), json!(collection)),
        _ => (name.clone(), aimed(value, collection)),
    };
    Value::Object(fields.iter().map(aim).collect::<Map<_, _>>())
}

#[tokio::test]
async fn no_endpoint_reads_or_changes_another_artists_things() {
    let stack = Stack::connect();
    let (victim, thief) = (stack.new_collector().await, stack.new_collector().await);
    let collection = stack.release(&victim.key, "Theirs", &["ar://theirs".to_owned()]).await;
    let payout = format!("{:#x}", victim.account.create(1));
    let token = &victim.artist.token;
    Answer::of(stack.post("/artists/payout-addresses").bearer_auth(token).json(&json!({"address": payout}))).await;
    let of_victim = async |path: &str| Answer::of(stack.get(path).bearer_auth(token)).await.expect_success().body;
    let key = of_victim("/artists/api-keys").await["keys"][0]["id"].clone();
    let code = stack.code_for(&victim.artist.email).await;
    let known = json!({"email": victim.artist.email, "code": code, "remember": true});
    stack.post_json("/oauth/login", &known).await.expect_success();
    let happened = of_victim("/artists/activity").await;
    let (activity, device) = (happened["activity"][0]["id"].clone(), happened["devices"][0]["id"].clone());
    let transaction = of_victim("/transactions").await["transactions"][0]["id"].clone();
    let upload = stack.finished_upload(&victim.artist, picture(1_000)).await;
    stack.complete_upload(&victim.artist, &upload).await.expect_success();
    let upload = json!(upload);
    let webhook = stack.post("/webhooks").bearer_auth(token).json(&json!({"url": "https://example.com/theirs"}));
    let webhook = Answer::of(webhook).await.expect_success().body["webhook"]["id"].clone();
    let claim = json!(stack.claim_link(&victim.key, &collection, json!({"count": 1})).await.id);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let seen = stack.mails_to(&victim.artist.email).await.len();
    let asked = json!({"act": "changeEmail", "subject": "thief@example.com"});
    let asked = stack.ask_proof(&victim.artist, &asked).await.expect_success().body;
    let code = local::mail::newest_code(&stack.map.mail, &victim.artist.email, seen).await.expect("a code");
    let proof = json!({"proof": asked["proof"], "code": code});
    // The last of the set-up: it takes a passkey from then on.
    stack.added_passkey(&victim.artist).await;
    let passkey = of_victim("/artists/passkeys").await["passkeys"][0]["id"].clone();
    let wallet = victim.artist.wallet.clone();
    let before = of_victim(&format!("/artists/{wallet}")).await;

    let document = fs::read_to_string(Paths::of_checkout().root().join("openapi.json")).expect("openapi.json");
    let document: Value = serde_json::from_str(&document).expect("JSON");
    let mut seen = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        let operations = methods.as_object().expect("methods").iter();
        let needs_caller = |operation: &Value| operation["security"].as_array().is_some_and(|kinds| !kinds.is_empty());
        for (method, operation) in operations.filter(|(_, operation)| needs_caller(operation)) {
            let id = operation["operationId"].as_str().expect("an id");
            let known = OPERATIONS.iter().find(|(known, _)| *known == id);
            let (_, outcome) = known.unwrap_or_else(|| panic!("{id}: what does it do with another artist's things?"));
            seen.insert(id);
            if matches!(outcome, Nothing) {
                continue;
            }
            let path = path.replace("{network}", "eip155:8453").replace("{contract}", &format!("erc1155:{collection}"));
            let named = match path.split('/').nth(1) {
                Some("uploads") => &upload,
                Some("webhooks") => &webhook,
                _ => &transaction,
            };
            let path = path.replace("{id}", &text(named)).replace("{delivery}", &text(&transaction));
            let path = path.replace("{token}", "n4dMF6szORUwX3KWL9LwNQ");
            let query = match id {
                "listActivity" => format!("?before={}", text(&activity)),
                "forgetDevice" => format!("?deviceId={}", text(&device)),
                "deleteClaimLink" => format!("?claimId={}", text(&claim)),
                "removePasskey" | "keepPasskey" => format!("?passkeyId={}", text(&passkey)),
                "listKeyRequests" | "revokeApiKey" => format!("?keyId={}", text(&key)),
                "removePayoutAddress" => format!("?address={payout}"),
                "disconnectWallet" => format!("?address={wallet}"),
                "removeCollectionAdmin" => format!("?adminAddress={wallet}"),
                "listTransactions" => format!("?before={}", text(&transaction)),
                _ => String::new(),
            };
            let url = format!("{}{path}{query}", stack.map.api);
            let mut request = stack.http.request(method.to_uppercase().parse().expect("a method"), url);
            let takes_token = operation["security"].as_array().is_some_and(|kinds| kinds[0].get("token").is_some());
            request = match takes_token {
                true => request.bearer_auth(&thief.artist.token),
                false => request.header("x-api-key", &thief.key),
            };
            let example = &operation["requestBody"]["content"]["application/json"]["example"];
            let body = match id {
                "updateArtist" => json!({"bio": "Taken", "artist_id": stack.artist_id(&victim.artist)}),
                "connectWallet" => json!({"message": "theirs", "signature": format!("0x{}", "11".repeat(65))}),
                "giveProof" => proof.clone(),
                _ => aimed(example, &collection),
            };
            if !body.is_null() {
                request = request.json(&body);
            }
            let answer = Answer::of_write(request).await;
            match outcome {
                Refused(status) => assert_eq!(answer.status, *status, "{id}: {answer:?}"),
                _ => assert_eq!(answer.status, 200, "{id}: {answer:?}"),
            }
            let shown = answer.body.to_string();
            if id == "listKeyRequests" {
                assert_eq!(answer.body, json!({"requests": []}));
            }
            let theirs = [&key, &activity, &transaction, &webhook, &passkey, &claim].map(text);
            let theirs = [theirs.as_slice(), &[victim.artist.email.clone(), wallet.clone()]].concat();
            for theirs in theirs.into_iter().filter(|_| matches!(outcome, Own)) {
                assert!(!shown.contains(theirs.as_str()), "{id} shows {theirs}");
            }
        }
    }
    // Only the attacker's own sessions end.
    stack.log_out(&thief.artist, &json!({"everywhere": true})).await.expect_success();
    assert_eq!(seen, OPERATIONS.iter().map(|(id, _)| *id).collect(), "operations that are there no more");
    assert_eq!(of_victim(&format!("/artists/{wallet}")).await, before);
    assert_eq!(of_victim("/artists/payout-addresses").await["addresses"][0]["address"], payout);
    let own = stack.get("/transactions").header("x-api-key", &victim.key);
    Answer::of(own).await.expect_success();
}
