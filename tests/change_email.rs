//! `POST /artists/email`: another mail address, after seven days in which the present one can stop it.

use alloy::signers::local::PrivateKeySigner;
use aws_sdk_dynamodb::types::AttributeValue;
use local::artists::prove_by_mail;
use serde_json::{Value, json};
use tests::{Answer, SignedIn, Stack, unused_email};

async fn change(stack: &Stack, artist: &SignedIn, body: &Value) -> Answer {
    Answer::of(stack.post("/artists/email").bearer_auth(&artist.token).json(body)).await
}

async fn keep(stack: &Stack, token: &str) -> Answer {
    Answer::of(stack.delete("/artists/email").bearer_auth(token)).await
}

async fn keep_with(stack: &Stack, token: &str, proof: &Value) -> Answer {
    Answer::of(stack.delete("/artists/email").bearer_auth(token).json(&json!({"proof": proof}))).await
}

async fn activity(stack: &Stack, artist: &SignedIn) -> Value {
    Answer::of(stack.get("/artists/activity").bearer_auth(&artist.token)).await.expect_success().body
}

/// Has a proof be for another act, as if it had been asked for that.
async fn set_act(stack: &Stack, proof: &Value, act: &str) {
    let row = format!("PROOF#{}", proof.as_str().expect("an id"));
    stack.set("SecretTable", &row, "PROOF", "act", AttributeValue::S(act.to_owned())).await;
}

/// Has the seven days of a change be over.
async fn wait_a_week(stack: &Stack, artist: &SignedIn, new: &str) {
    let table = &stack.map.names["ArtistTable"];
    let past = || AttributeValue::N("1700000000".to_owned());
    stack.set(table, &format!("EMAIL#{new}"), "ARTIST", "since", past()).await;
    stack.set(table, &format!("EMAIL#{}", artist.email), "ARTIST", "expires_at", past()).await;
    let contact = format!("CONTACT#{}", stack.artist_id(artist));
    let mut next = stack.row(table, &contact, "EMAIL").await.expect("a row")["next"].clone();
    if let AttributeValue::M(next) = &mut next {
        next.insert("from".to_owned(), past());
    }
    stack.set(table, &contact, "EMAIL", "next", next).await;
}

#[tokio::test]
async fn address_changes_after_a_week_and_the_old_one_is_free() {
    let stack = Stack::connect();
    let (artist, new) = (stack.new_artist().await, unused_email());
    let body = stack.proved_email(&artist, &new).await;
    let answer = change(&stack, &artist, &body).await.expect_success();
    let shown = activity(&stack, &artist).await;
    assert_eq!(shown["email"], artist.email.as_str());
    assert_eq!(shown["nextEmail"], json!({"email": new, "at": answer.body["changesAt"]}));
    // Both are told.
    for mailbox in [&artist.email, &new] {
        let told =
            stack.mails_to(mailbox).await.iter().any(|mail| mail.body_text.contains("in 7 days, unless you stop it"));
        assert!(told, "{mailbox}");
    }
    // Until then the new one signs in to nothing.
    let early = stack.code_for(&new).await;
    let early = stack.log_in(&new, &early).await.expect_error(409);
    assert!(early.body.to_string().contains("signs in to an account from"), "{early:?}");

    let third = unused_email();
    let by_old = stack.proof_by_mail(&artist, "changeEmail", &third).await;
    wait_a_week(&stack, &artist, &new).await;
    assert_eq!(stack.sign_in(&new).await.wallet, artist.wallet);
    let shown = activity(&stack, &artist).await;
    assert_eq!((&shown["email"], &shown["nextEmail"]), (&json!(new), &Value::Null));
    let stranger = stack.sign_in(&artist.email).await;
    assert_ne!(stranger.wallet, artist.wallet, "the old address is anybody's who has the mailbox");
    keep(&stack, &artist.token).await.expect_error(404);
    let new_proof = prove_by_mail(&stack.map, &artist.token, &third, "newEmail", &third).await.expect("a proof");
    let body = json!({"email": third, "newProof": new_proof, "proof": by_old});
    let refused = change(&stack, &artist, &body).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["proof"], "the mailbox of its code isn't the artist's any more");
}

#[tokio::test]
async fn old_mailbox_stops_a_thiefs_change() {
    let stack = Stack::connect();
    let (artist, thiefs) = (stack.new_artist().await, unused_email());
    let proved = stack.proved_email(&artist, &thiefs).await;
    let (new, own) = (&proved["newProof"], &proved["proof"]);
    // The token alone, one proof alone, one of the wrong mailbox or of another address are not enough.
    for (body, field) in [
        (json!({"email": thiefs, "newProof": new}), "proof"),
        (json!({"email": thiefs, "newProof": new, "proof": new}), "proof"),
        (json!({"email": thiefs, "newProof": own, "proof": own}), "newProof"),
        (json!({"email": unused_email(), "newProof": new, "proof": own}), "newProof"),
    ] {
        let answer = change(&stack, &artist, &body).await.expect_error(400);
        assert_eq!(answer.failing_fields(), [field], "{body}");
    }
    change(&stack, &artist, &proved).await.expect_success();
    change(&stack, &artist, &proved).await.expect_error(400);

    let owner = stack.sign_in(&artist.email).await;
    assert_eq!(owner.wallet, artist.wallet, "the present address signs in");
    keep(&stack, &stack.new_artist().await.token).await.expect_error(404);
    keep(&stack, &owner.token).await.expect_success();
    assert_eq!(activity(&stack, &owner).await["nextEmail"], Value::Null);
    let row = stack.row(&stack.map.names["ArtistTable"], &format!("EMAIL#{}", artist.email), "ARTIST").await;
    assert!(row.is_some_and(|row| !row.contains_key("expires_at")), "it stays");
    assert_ne!(stack.sign_in(&thiefs).await.wallet, artist.wallet, "an account of its own");
}

#[tokio::test]
async fn address_that_is_taken_meanwhile_stays_its_owners() {
    let stack = Stack::connect();
    let (artist, first) = (stack.new_artist().await, unused_email());
    let proved = stack.proved_email(&artist, &first).await;
    let owner = stack.sign_in(&first).await;
    change(&stack, &artist, &proved).await.expect_error(409);
    assert_eq!(stack.sign_in(&first).await.wallet, owner.wallet);

    let next = unused_email();
    let proved = stack.proved_email(&artist, &next).await;
    change(&stack, &artist, &proved).await.expect_success();
    let table = &stack.map.names["ArtistTable"];
    let row = stack.row(table, &format!("EMAIL#{next}"), "ARTIST").await.expect("a row");
    assert_eq!(row["artist_id"], AttributeValue::S(stack.artist_id(&artist)));
}

#[tokio::test]
async fn a_passkey_stands_for_a_lost_mailbox() {
    let stack = Stack::connect();
    let (artist, new) = (stack.new_artist().await, unused_email());
    let mut passkey = stack.added_passkey(&artist).await;
    let by_mail = stack.proved_email(&artist, &new).await;
    change(&stack, &artist, &by_mail).await.expect_error(401);
    let mailbox = artist;
    let artist = stack.sign_in_with_passkey(&mut passkey).await;
    let new_proof = &by_mail["newProof"];
    // Its token alone is none.
    let answer = change(&stack, &artist, &json!({"email": new, "newProof": new_proof})).await.expect_error(400);
    assert_eq!(answer.failing_fields(), ["proof"]);
    let proof = stack.proof_by_passkey(&artist, &mut passkey, "changeEmail", &new).await;
    let body = json!({"email": new, "newProof": new_proof, "proof": proof});
    change(&stack, &artist, &body).await.expect_success();

    // Nor does the mailbox keep the account.
    assert_eq!(keep(&stack, &mailbox.token).await.expect_error(400).failing_fields(), ["proof"]);
    let by_code = json!({"act": "keepEmail", "subject": new});
    assert_eq!(stack.ask_proof(&mailbox, &by_code).await.expect_error(400).failing_fields(), ["way"]);
    let other = unused_email();
    let of_other = stack.proof_by_passkey(&artist, &mut passkey, "keepEmail", &other).await;
    assert_eq!(keep_with(&stack, &mailbox.token, &of_other).await.expect_error(400).failing_fields(), ["proof"]);
    let proof = stack.proof_by_passkey(&artist, &mut passkey, "keepEmail", &new).await;
    keep_with(&stack, &mailbox.token, &proof).await.expect_success();
    assert_eq!(activity(&stack, &artist).await["nextEmail"], Value::Null);
}

#[tokio::test]
async fn change_by_a_wallet_goes_with_it_if_another_way_in_removes_it() {
    let stack = Stack::connect();
    let (artist, new) = (stack.new_artist().await, unused_email());
    let (thiefs, own) = (PrivateKeySigner::random(), PrivateKeySigner::random());
    let new_proof = prove_by_mail(&stack.map, &artist.token, &new, "newEmail", &new).await.expect("a proof");
    for wallet in [&thiefs, &own] {
        stack.connect_old_wallet(&artist, wallet).await;
    }
    let proof = stack.proof_by_wallet(&artist, &thiefs, "changeEmail", &new).await;
    let body = json!({"email": new, "newProof": new_proof, "proof": proof});
    change(&stack, &artist, &body).await.expect_success();
    keep(&stack, &artist.token).await.expect_error(400);

    let address = format!("{:#x}", thiefs.address());
    let proof = stack.proof_by_wallet(&artist, &own, "disconnectWallet", &address).await;
    stack.disconnect_proved_wallet(&artist, &address, &proof).await.expect_success();
    assert_eq!(activity(&stack, &artist).await["nextEmail"], Value::Null);
    assert_eq!(stack.sign_in(&artist.email).await.wallet, artist.wallet);
}

#[tokio::test]
async fn first_address_takes_an_old_wallets_signature() {
    let stack = Stack::connect();
    let (founding, new) = (PrivateKeySigner::random(), unused_email());
    let artist = stack.sign_in_with_wallet(&founding).await;
    let new_proof = prove_by_mail(&stack.map, &artist.token, &new, "newEmail", &new).await.expect("a proof");
    let own = json!({"act": "changeEmail", "subject": new});
    stack.ask_proof(&artist, &own).await.expect_error(422);
    let body = json!({"email": new, "newProof": new_proof, "proof": new_proof});
    assert_eq!(change(&stack, &artist, &body).await.expect_error(400).failing_fields(), ["proof"]);
    let proof = stack.proof_by_wallet(&artist, &founding, "changeEmail", &new).await;
    let body = json!({"email": new, "newProof": new_proof, "proof": proof});
    change(&stack, &artist, &body).await.expect_success();
    assert_eq!(activity(&stack, &artist).await["nextEmail"]["email"], json!(new));
    let proof = stack.proof_by_wallet(&artist, &founding, "keepEmail", &new).await;
    keep_with(&stack, &artist.token, &proof).await.expect_success();
}

#[tokio::test]
async fn a_wallet_proves_no_mailbox_and_a_code_keeps_no_address() {
    let stack = Stack::connect();
    let (artist, wallet, new) = (stack.new_artist().await, PrivateKeySigner::random(), unused_email());
    stack.connect_old_wallet(&artist, &wallet).await;
    let asked = json!({"act": "newEmail", "subject": new, "way": "wallet", "address": wallet.address()});
    assert_eq!(stack.ask_proof(&artist, &asked).await.expect_error(400).failing_fields(), ["way"]);

    // Nor does it if it was asked for.
    let by_mail = stack.proved_email(&artist, &new).await;
    let own = stack.proof_by_wallet(&artist, &wallet, "changeEmail", &new).await;
    let by_wallet = stack.proof_by_wallet(&artist, &wallet, "changeEmail", &new).await;
    set_act(&stack, &by_wallet, "newEmail").await;
    let body = json!({"email": new, "newProof": by_wallet, "proof": own});
    assert_eq!(change(&stack, &artist, &body).await.expect_error(400).failing_fields(), ["newProof"]);
    let body = json!({"email": new, "newProof": by_mail["newProof"], "proof": own});
    change(&stack, &artist, &body).await.expect_success();
    set_act(&stack, &by_mail["proof"], "keepEmail").await;
    let refused = keep_with(&stack, &artist.token, &by_mail["proof"]).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["proof"]);
}

#[tokio::test]
async fn proofs_of_a_change_and_of_its_stop_are_used_once() {
    let stack = Stack::connect();
    let (founding, new) = (PrivateKeySigner::random(), unused_email());
    let artist = stack.sign_in_with_wallet(&founding).await;
    let by_new = async || prove_by_mail(&stack.map, &artist.token, &new, "newEmail", &new).await.expect("a proof");
    let own = stack.proof_by_wallet(&artist, &founding, "changeEmail", &new).await;
    let keeping = stack.proof_by_wallet(&artist, &founding, "keepEmail", &new).await;
    let body = json!({"email": new, "newProof": by_new().await, "proof": own});
    change(&stack, &artist, &body).await.expect_success();
    keep_with(&stack, &artist.token, &keeping).await.expect_success();

    let own_again = stack.proof_by_wallet(&artist, &founding, "changeEmail", &new).await;
    let new_again = json!(by_new().await);
    for (new_proof, proof, used) in [(&body["newProof"], &own_again, "newProof"), (&new_again, &own, "proof")] {
        let again = json!({"email": new, "newProof": new_proof, "proof": proof});
        assert_eq!(change(&stack, &artist, &again).await.expect_error(400).failing_fields(), [used]);
    }
    let again = json!({"email": new, "newProof": new_again, "proof": own_again});
    change(&stack, &artist, &again).await.expect_success();
    let again = keep_with(&stack, &artist.token, &keeping).await.expect_error(400);
    assert_eq!(again.failing_fields(), ["proof"]);
}
