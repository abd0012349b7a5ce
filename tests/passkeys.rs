//! `/oauth/passkey` and `/artists/passkeys`

use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tests::{Answer, SignedIn, Stack, ceremony_of, token_part};

const CHALLENGE: &str = "/artists/passkeys/challenge";

async fn send(stack: &Stack, begun: &Value, credential: &Value) -> Answer {
    let body = json!({"ceremony": begun["ceremony"], "credential": credential});
    Answer::of(stack.post("/oauth/passkey").json(&body)).await
}

/// Whether the artist's token may do what takes a recent sign-in.
async fn is_fresh(stack: &Stack, artist: &SignedIn) -> bool {
    let address = format!("{:#x}", PrivateKeySigner::random().address());
    let answer = stack.add_payout_address(artist, address.parse().expect("an address")).await;
    assert!([200, 401].contains(&answer.status), "{answer:?}");
    answer.status == 200
}

#[tokio::test]
async fn passkey_signs_in_and_is_needed_a_day_later() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    assert!(is_fresh(&stack, &artist).await);
    let mut passkey = stack.new_passkey(&artist).await;
    let [one] = stack.passkeys(&artist).await.try_into().expect("one passkey");
    assert_eq!(
        (&one["name"], &one["last_used_at"], &one["removed_at"]),
        (&json!("my phone"), &json!(null), &json!(null))
    );
    assert!(is_fresh(&stack, &artist).await, "whoever adds one to another's account shuts the owner out");
    assert!(!is_fresh(&stack, &stack.sign_in_with_passkey(&mut passkey).await).await);
    stack.age_passkeys(&artist).await;
    assert!(!is_fresh(&stack, &artist).await, "a sign-in without the passkey does what takes one");
    let again = stack.sign_in(&artist.email).await;
    assert!(!is_fresh(&stack, &again).await, "whoever reads the mails does what takes the passkey");
    let adding = Answer::of(stack.post(CHALLENGE).bearer_auth(&again.token)).await;
    adding.expect_error(401);

    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    assert_eq!(by_passkey.wallet, artist.wallet);
    assert_eq!(token_part(&by_passkey.token, 1)["amr"], json!(["webauthn"]));
    assert!(is_fresh(&stack, &by_passkey).await);
    assert!(stack.passkeys(&by_passkey).await[0]["last_used_at"].is_string());
    let mails = stack.mails_to(&artist.email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("A passkey was added")), "{mails:?}");
    let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&by_passkey.token)).await.expect_success();
    assert_eq!(activity.body["activity"][1]["kind"], "signed_in", "{activity:?}");
}

#[tokio::test]
async fn replayed_foreign_and_cloned_answers_are_refused() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    stack.sign_in_with_passkey(&mut passkey).await;
    let mut clone = passkey.clone();

    let begun = stack.passkey_challenge().await;
    let credential = passkey.sign(&begun["publicKey"]).expect("an answer");
    let (first, second) = futures::join!(send(&stack, &begun, &credential), send(&stack, &begun, &credential));
    let mut statuses = [first.status, second.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401], "{first:?} {second:?}");

    // An answer to another challenge, one for another site, one with another key, and one for an unknown passkey.
    let begun = stack.passkey_challenge().await;
    send(&stack, &begun, &credential).await.expect_error(401);
    let begun = stack.passkey_challenge().await;
    let mut phished = passkey.clone();
    phished.origin = "https://moments-sign-in.example".to_owned();
    send(&stack, &begun, &phished.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
    let other = stack.new_artist().await;
    let mut others = stack.added_passkey(&other).await;
    let begun = stack.passkey_challenge().await;
    let mut mixed = others.sign(&begun["publicKey"]).expect("an answer");
    mixed["response"]["userHandle"] =
        passkey.clone().sign(&begun["publicKey"]).expect("an answer")["response"]["userHandle"].clone();
    send(&stack, &begun, &mixed).await.expect_error(401);

    // A clone's counter stands still while the original's went on.
    let begun = stack.passkey_challenge().await;
    clone.counter = 0;
    send(&stack, &begun, &clone.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
    stack.sign_in_with_passkey(&mut passkey).await;

    // A challenge that is too old.
    let begun = stack.passkey_challenge().await;
    let row = format!("CEREMONY#{}", begun["ceremony"].as_str().expect("an id"));
    stack.set("SecretTable", &row, "CEREMONY", "expires_at", AttributeValue::N("1".to_owned())).await;
    send(&stack, &begun, &passkey.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
}

#[tokio::test]
async fn what_was_begun_by_another_or_for_another_end_adds_nothing() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let (_, body) = stack.made_passkey(&artist.token).await;
    let proof = stack.proof_by_mail(&artist, "addPasskey", ceremony_of(&body)).await;
    let refused = stack.add_passkey(&other, &body, &proof).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["ceremony"]);
    stack.add_passkey(&artist, &body, &proof).await.expect_success();
    let used = stack.add_passkey(&artist, &body, &proof).await.expect_error(400);
    assert_eq!(used.failing_fields(), ["ceremony"]);
    assert_eq!(stack.passkeys(&artist).await.len(), 1);
    assert!(stack.passkeys(&other).await.is_empty());

    let begun = stack.passkey_challenge().await;
    let (_, mut body) = stack.made_passkey(&other.token).await;
    body["ceremony"] = begun["ceremony"].clone();
    let refused = stack.add_passkey(&other, &body, &proof).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["ceremony"]);
    body["credential"] = json!({"id": "x"});
    let refused = stack.add_passkey(&other, &body, &proof).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["credential"]);
}

#[tokio::test]
async fn removal_takes_a_proof() {
    let stack = Stack::connect();
    let (artist, other) = (stack.new_artist().await, stack.new_artist().await);
    let mut passkey = stack.added_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    let expect_unproved = async |proof: &Value| {
        let refused = stack.remove_passkey(&by_passkey, &id, proof).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["proof"]);
    };
    // A token alone isn't enough, whatever it is of; nor is what was asked for and not given, or given for another act.
    expect_unproved(&Value::Null).await;
    let asked = json!({"act": "removePasskey", "subject": id, "way": "passkey"});
    let asked = stack.ask_proof(&by_passkey, &asked).await.expect_success().body;
    expect_unproved(&asked["proof"]).await;
    let name = id.as_str().expect("an id");
    let keeping = stack.proof_by_passkey(&by_passkey, &mut passkey, "keepPasskey", name).await;
    expect_unproved(&keeping).await;
    assert_eq!(stack.passkeys(&artist).await[0]["removed_at"], json!(null));

    let proof = stack.proof_by_passkey(&by_passkey, &mut passkey, "removePasskey", name).await;
    let others = stack.remove_passkey(&other, &id, &proof).await;
    others.expect_error(404);
    let left = stack.remove_passkey(&artist, &id, &proof).await.expect_success();
    assert_eq!(left.body["passkeys"], json!([]));
    assert!(is_fresh(&stack, &artist).await, "nothing asks for a passkey that is gone");
    let begun = stack.passkey_challenge().await;
    send(&stack, &begun, &passkey.sign(&begun["publicKey"]).expect("an answer")).await.expect_error(401);
    stack.remove_passkey(&artist, &id, &proof).await.expect_error(404);
}

#[tokio::test]
async fn pending_passkey_is_kept_with_both_proofs_and_with_neither_alone() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let name = id.as_str().expect("an id");
    stack.remove_passkey_by_mail(&artist, &id).await.expect_success();
    let own = stack.proof_by_passkey(&artist, &mut passkey, "keepPasskey", name).await;
    let mailed = stack.proof_by_mail(&artist, "keepPasskey", name).await;
    let wrong =
        [vec![&own, &own], vec![&mailed, &mailed], vec![&own, &mailed, &mailed], vec![&own], vec![&mailed], vec![]];
    for proofs in wrong {
        let refused = stack.keep_passkey(&artist, &id, &proofs).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["proofs"], "{proofs:?}");
    }
    let kept = stack.keep_passkey(&artist, &id, &[&own, &mailed]).await.expect_success();
    assert_eq!(kept.body["passkeys"][0]["removed_at"], json!(null));
    stack.keep_passkey(&artist, &id, &[&own, &mailed]).await.expect_error(409);
    assert!(!is_fresh(&stack, &artist).await, "it counts as before");
    assert!(is_fresh(&stack, &stack.sign_in_with_passkey(&mut passkey).await).await);
    let mails = stack.mails_to(&artist.email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("that was to be removed stays")), "{mails:?}");
}

/// Whoever has the device has as many answers as they like, whoever has the mailbox as many codes.
#[tokio::test]
async fn two_proofs_of_one_side_and_another_passkeys_answer_keep_no_pending_passkey() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.new_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let name = id.as_str().expect("an id");
    let mut other = stack.new_passkey(&artist).await;
    stack.age_passkeys(&artist).await;
    stack.remove_passkey_by_mail(&artist, &id).await.expect_success();
    let own = [
        stack.proof_by_passkey(&artist, &mut passkey, "keepPasskey", name).await,
        stack.proof_by_passkey(&artist, &mut passkey, "keepPasskey", name).await,
    ];
    let mailed = [
        stack.proof_by_mail(&artist, "keepPasskey", name).await,
        stack.proof_by_mail(&artist, "keepPasskey", name).await,
    ];
    let others = stack.proof_by_passkey(&artist, &mut other, "keepPasskey", name).await;
    for proofs in [[&own[0], &own[1]], [&mailed[0], &mailed[1]], [&others, &mailed[0]], [&own[0], &others]] {
        let refused = stack.keep_passkey(&artist, &id, &proofs).await.expect_error(400);
        let words = "must be one by the passkey itself, and one by a code or a wallet";
        assert_eq!(refused.body["errors"], json!([{"field": "proofs", "message": words}]), "{proofs:?}");
    }
    stack.keep_passkey(&artist, &id, &[&own[0], &mailed[0]]).await.expect_success();
}

#[tokio::test]
async fn proofs_that_a_passkey_goes_and_that_it_stays_are_used_once() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let name = id.as_str().expect("an id");
    let removal = stack.proof_by_mail(&artist, "removePasskey", name).await;
    stack.remove_passkey(&artist, &id, &removal).await.expect_success();
    let (own, mailed) = (
        stack.proof_by_passkey(&artist, &mut passkey, "keepPasskey", name).await,
        stack.proof_by_mail(&artist, "keepPasskey", name).await,
    );
    stack.keep_passkey(&artist, &id, &[&own, &mailed]).await.expect_success();

    let again = stack.remove_passkey(&artist, &id, &removal).await.expect_error(400);
    assert_eq!(again.failing_fields(), ["proof"]);
    stack.remove_passkey_by_mail(&artist, &id).await.expect_success();
    let (new_own, new_mailed) = (
        stack.proof_by_passkey(&artist, &mut passkey, "keepPasskey", name).await,
        stack.proof_by_mail(&artist, "keepPasskey", name).await,
    );
    for proofs in [[&own, &new_mailed], [&new_own, &mailed]] {
        let again = stack.keep_passkey(&artist, &id, &proofs).await.expect_error(400);
        assert_eq!(again.failing_fields(), ["proofs"], "{proofs:?}");
    }
    stack.keep_passkey(&artist, &id, &[&new_own, &new_mailed]).await.expect_success();
}

#[tokio::test]
async fn pending_passkey_is_added_again() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    let excluded = async || {
        let begun = Answer::of(stack.post(CHALLENGE).bearer_auth(&by_passkey.token)).await.expect_success().body;
        begun["publicKey"]["excludeCredentials"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(excluded().await, 1);
    stack.remove_passkey_by_mail(&artist, &id).await.expect_success();
    assert_eq!(excluded().await, 0);

    let begun = Answer::of(stack.post(CHALLENGE).bearer_auth(&by_passkey.token)).await.expect_success().body;
    let credential = passkey.again(&begun["publicKey"]).expect("a credential");
    let body = json!({"ceremony": begun["ceremony"], "credential": credential, "name": "again"});
    let token = by_passkey.token.clone();
    let artist = SignedIn { token, ..artist };
    let proof = stack.proof_by_mail(&artist, "addPasskey", ceremony_of(&body)).await;
    let left = stack.add_passkey(&artist, &body, &proof).await.expect_success();
    let [one] = left.body["passkeys"].as_array().expect("passkeys").as_slice() else { panic!("{left:?}") };
    assert_eq!((&one["id"], &one["name"], &one["removed_at"]), (&id, &json!("again"), &json!(null)));
    assert!(!is_fresh(&stack, &stack.sign_in_with_passkey(&mut passkey).await).await, "it counts from tomorrow");
}

#[tokio::test]
async fn pending_passkey_is_begun_again_besides_nine_others() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    let id = stack.only_passkey(&artist).await;
    let partition = format!("PASSKEYS#{}", stack.artist_id(&artist));
    let mut row = stack.row("SecretTable", &partition, id.as_str().expect("an id")).await.expect("a passkey");
    for number in 0..9_u8 {
        let other = format!("{:x}", Sha256::digest([number]));
        row.insert("id".to_owned(), AttributeValue::S(other.clone()));
        for field in ["id", "name", "credential", "created_at"] {
            stack.set("SecretTable", &partition, &other, field, row[field].clone()).await;
        }
    }
    let begin = async || Answer::of(stack.post(CHALLENGE).bearer_auth(&by_passkey.token)).await;
    begin().await.expect_error(409);
    stack.remove_passkey_by_mail(&artist, &id).await.expect_success();
    begin().await.expect_success();
}

#[tokio::test]
async fn old_wallet_adds_a_passkey_where_mails_come_back() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let (old, young) = (PrivateKeySigner::random(), PrivateKeySigner::random());
    stack.connect_old_wallet(&artist, &old).await;
    stack.connect_wallet(&artist, &young).await.expect_success();
    let stopped = format!("STOPPED#{:x}", Sha256::digest(&artist.email));
    let to_come = AttributeValue::N("4000000000".to_owned());
    let (_, body) = stack.made_passkey(&artist.token).await;
    let mailed = stack.proof_by_mail(&artist, "addPasskey", ceremony_of(&body)).await;
    stack.set("SecretTable", &stopped, "STOPPED", "expires_at", to_come).await;
    let refused = stack.add_passkey(&artist, &body, &mailed).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["proof"], "the code was given before");
    let (_, body) = stack.made_passkey(&artist.token).await;
    let by_mail = json!({"act": "addPasskey", "subject": body["ceremony"]});
    stack.ask_proof(&artist, &by_mail).await.expect_error(422);
    let by_young =
        json!({"act": "addPasskey", "subject": body["ceremony"], "way": "wallet", "address": young.address()});
    let refused = stack.ask_proof(&artist, &by_young).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["address"]);

    let proof = stack.proof_by_wallet(&artist, &old, "addPasskey", ceremony_of(&body)).await;
    stack.add_passkey(&artist, &body, &proof).await.expect_success();
    assert_eq!(stack.passkeys(&artist).await.len(), 1);
}

#[tokio::test]
async fn adding_and_removing_at_once_leaves_a_true_mark() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    stack.new_passkey(&artist).await;
    let first = stack.only_passkey(&artist).await;
    let (_, body) = stack.made_passkey(&artist.token).await;
    let adding = stack.proof_by_mail(&artist, "addPasskey", ceremony_of(&body)).await;
    let removing = stack.proof_by_mail(&artist, "removePasskey", first.as_str().expect("an id")).await;
    let (added, removed) =
        futures::join!(stack.add_passkey(&artist, &body, &adding), stack.remove_passkey(&artist, &first, &removing),);
    added.expect_success();
    removed.expect_success();
    let left = stack.only_passkey(&artist).await;
    assert_ne!(left, first);
    let mark = stack.row("SecretTable", &format!("SESSIONS#{}", stack.artist_id(&artist)), "PASSKEYS").await;
    let marked: Vec<Value> = mark.expect("a mark")["passkeys"]
        .as_l()
        .expect("a list")
        .iter()
        .map(|passkey| json!(passkey.as_m().expect("a passkey")["id"].as_s().expect("an id")))
        .collect();
    assert_eq!(marked, [left]);
}

#[tokio::test]
async fn passkey_from_before_there_were_marks_signs_in_and_is_removed() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    let (id, partition) = (stack.only_passkey(&artist).await, format!("SESSIONS#{}", stack.artist_id(&artist)));
    let key = |value: &str| AttributeValue::S(value.to_owned());
    let unmark = stack.dynamodb().await.delete_item().table_name("SecretTable");
    unmark.key("pk", key(&partition)).key("sk", key("PASSKEYS")).send().await.expect("the row can be deleted");
    stack.set("SecretTable", &partition, "PASSKEY", "is_passkey_mark", AttributeValue::Bool(true)).await;

    let by_passkey = stack.sign_in_with_passkey(&mut passkey).await;
    for path in ["/me", "/artists/activity"] {
        Answer::of(stack.get(path).bearer_auth(&by_passkey.token)).await.expect_success();
    }
    let name = id.as_str().expect("an id");
    let proof = stack.proof_by_passkey(&by_passkey, &mut passkey, "removePasskey", name).await;
    let left = stack.remove_passkey(&by_passkey, &id, &proof).await.expect_success();
    assert_eq!(left.body["passkeys"], json!([]));
    Answer::of(stack.get("/me").bearer_auth(&by_passkey.token)).await.expect_error(401);
}

#[tokio::test]
async fn an_artist_has_at_most_ten_passkeys() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    stack.new_passkey(&artist).await;
    let (_, body) = stack.made_passkey(&artist.token).await;
    // Nine more, as if they had been added on other days.
    let partition = format!("SESSIONS#{}", stack.artist_id(&artist));
    let mut passkeys = stack.row("SecretTable", &partition, "PASSKEYS").await.expect("a mark")["passkeys"].clone();
    if let AttributeValue::L(passkeys) = &mut passkeys {
        for number in 0..9_u8 {
            let mut another = passkeys[0].as_m().expect("a passkey").clone();
            another.insert("id".to_owned(), AttributeValue::S(format!("{:x}", Sha256::digest([number]))));
            passkeys.push(AttributeValue::M(another));
        }
    }
    stack.set("SecretTable", &partition, "PASSKEYS", "passkeys", passkeys).await;
    let proof = stack.proof_by_mail(&artist, "addPasskey", ceremony_of(&body)).await;
    stack.add_passkey(&artist, &body, &proof).await.expect_error(409);
}
