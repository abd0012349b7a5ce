//! A token of a moment ago is stolen: it plants a passkey or a wallet, which is to own the account for good, or removes its
//! owner's.

use alloy::signers::local::PrivateKeySigner;
use local::artists::prove_by_mail;
use serde_json::{Value, json};
use tests::{Answer, SignedIn, Stack, another_code, ceremony_of, unused_email};

use super::stolen_token::old_token;

/// Whether the artist's token may do what takes a recent sign-in.
async fn is_fresh(stack: &Stack, artist: &SignedIn) -> bool {
    let answer = stack.add_payout_address(artist, PrivateKeySigner::random().address()).await;
    assert!([200, 401].contains(&answer.status), "{answer:?}");
    answer.status == 200
}

async fn expect_unproved(stack: &Stack, artist: &SignedIn, body: &Value, proof: &Value) {
    let refused = stack.add_passkey(artist, body, proof).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["proof"]);
}

#[tokio::test]
async fn stolen_fresh_token_adds_no_passkey() {
    let stack = Stack::connect();
    let (artist, thief) = (stack.new_artist().await, stack.new_artist().await);
    let (_, body) = stack.made_passkey(&artist.token).await;
    expect_unproved(&stack, &artist, &body, &Value::Null).await;

    // The code goes to the owner, who is told by it. Five guesses are all.
    let seen = stack.mails_to(&artist.email).await.len();
    let (_, body) = stack.made_passkey(&artist.token).await;
    let asked = json!({"act": "addPasskey", "subject": body["ceremony"]});
    let asked = stack.ask_proof(&artist, &asked).await.expect_success().body;
    let code = local::mail::newest_code(&stack.map.mail, &artist.email, seen).await.expect("a code");
    for _ in 0..5 {
        let guess = json!({"proof": asked["proof"], "code": another_code(&code)});
        let refused = stack.give_proof(&artist, &guess).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["code"]);
    }
    let late = stack.give_proof(&artist, &json!({"proof": asked["proof"], "code": code})).await.expect_error(400);
    assert_eq!(late.failing_fields(), ["proof"]);
    expect_unproved(&stack, &artist, &body, &asked["proof"]).await;

    // Nor does a proof of the thief's own account, or of another act.
    let (_, body) = stack.made_passkey(&artist.token).await;
    let own = stack.proof_by_mail(&thief, "addPasskey", ceremony_of(&body)).await;
    expect_unproved(&stack, &artist, &body, &own).await;
    let (_, body) = stack.made_passkey(&artist.token).await;
    let (_, other) = stack.made_passkey(&artist.token).await;
    let of_other = stack.proof_by_mail(&artist, "addPasskey", ceremony_of(&other)).await;
    expect_unproved(&stack, &artist, &body, &of_other).await;
    assert!(stack.passkeys(&artist).await.is_empty());
    assert!(is_fresh(&stack, &stack.sign_in(&artist.email).await).await);
}

#[tokio::test]
async fn token_of_a_quarter_of_an_hour_ago_asks_for_no_proof_and_removes_no_passkey() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    stack.added_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let removal = stack.proof_by_mail(&artist, "removePasskey", id.as_str().expect("an id")).await;
    let thief = SignedIn { token: old_token(&stack, &artist).await, ..artist.clone() };
    let asked = json!({"act": "removePasskey", "subject": id});
    for answer in [stack.ask_proof(&thief, &asked).await, stack.remove_passkey(&thief, &id, &removal).await] {
        let refused = answer.expect_error(401);
        assert!(refused.header("www-authenticate").contains("insufficient_user_authentication"), "{refused:?}");
    }
    stack.remove_passkey(&artist, &id, &removal).await.expect_success();
}

#[tokio::test]
async fn token_of_a_passkey_adds_none_without_an_assertion() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    let stolen = stack.sign_in_with_passkey(&mut passkey).await;
    assert!(is_fresh(&stack, &stolen).await);
    let (_, body) = stack.made_passkey(&stolen.token).await;
    let asked = json!({"act": "addPasskey", "subject": body["ceremony"], "way": "passkey"});
    let asked = stack.ask_proof(&stolen, &asked).await.expect_success().body;

    // The answer to a sign-in is none to this, nor is that of another passkey.
    let begun = stack.passkey_challenge().await;
    let of_sign_in = passkey.clone().sign(&begun["publicKey"]).expect("an answer");
    let (mut planted, _) = stack.made_passkey(&stolen.token).await;
    let of_planted = planted.sign(&asked["publicKey"]).expect("an answer");
    for credential in [of_sign_in, of_planted] {
        let given = json!({"proof": asked["proof"], "credential": credential});
        let refused = stack.give_proof(&stolen, &given).await.expect_error(400);
        assert_eq!(refused.failing_fields(), ["credential"]);
    }
    expect_unproved(&stack, &stolen, &body, &asked["proof"]).await;
    let ids = stack.passkeys(&stolen).await;
    assert_eq!(ids.len(), 1);

    let (_, body) = stack.made_passkey(&stolen.token).await;
    let proof = stack.proof_by_passkey(&stolen, &mut passkey, "addPasskey", ceremony_of(&body)).await;
    stack.add_passkey(&stolen, &body, &proof).await.expect_success();
}

#[tokio::test]
async fn planted_passkey_is_removed_at_once_within_a_day() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut planted = stack.new_passkey(&artist).await;
    let thief = stack.sign_in_with_passkey(&mut planted).await;
    assert!(!is_fresh(&stack, &thief).await, "a passkey of today does what takes a recent sign-in");
    let owner = stack.sign_in(&artist.email).await;
    assert!(is_fresh(&stack, &owner).await, "the owner is shut out");
    // It proves nothing but its own removal, either.
    let email = json!({"act": "changeEmail", "subject": "thief@example.com", "way": "passkey"});
    stack.ask_proof(&thief, &email).await.expect_error(422);

    let id = stack.only_passkey(&owner).await;
    let left = stack.remove_passkey_by_mail(&owner, &id).await.expect_success();
    assert_eq!(left.body["passkeys"], json!([]));
    let answer = stack.passkey_answer(&mut planted).await;
    stack.post_json("/oauth/passkey", &answer).await.expect_error(401);
    Answer::of(stack.get("/artists/passkeys").bearer_auth(&thief.token)).await.expect_error(401);
}

#[tokio::test]
async fn removed_passkey_is_gone_after_a_week_though_it_signs_in_daily() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let owner = stack.sign_in(&artist.email).await;
    let left = stack.remove_passkey_by_mail(&owner, &id).await.expect_success();
    let end = left.body["passkeys"][0]["removed_at"].clone();
    assert!(end.is_string(), "{left:?}");
    assert!(!is_fresh(&stack, &owner).await, "it counts until it is gone");
    let mails = stack.mails_to(&artist.email).await;
    assert!(mails.iter().any(|mail| mail.body_text.contains("A passkey is removed")), "{mails:?}");

    for _ in 0..2 {
        let thief = stack.sign_in_with_passkey(&mut passkey).await;
        assert_eq!(stack.passkeys(&thief).await[0]["removed_at"], end, "a sign-in takes the removal back");
    }
    stack.end_passkeys(&artist).await;
    let answer = stack.passkey_answer(&mut passkey).await;
    stack.post_json("/oauth/passkey", &answer).await.expect_error(401);
    assert!(stack.passkeys(&owner).await.is_empty());
    assert!(is_fresh(&stack, &owner).await);
}

#[tokio::test]
async fn removed_passkey_ends_its_tokens_and_adds_no_other() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut passkey = stack.added_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let thief = stack.sign_in_with_passkey(&mut passkey).await;
    let (_, body) = stack.made_passkey(&thief.token).await;
    let before = stack.proof_by_passkey(&thief, &mut passkey, "addPasskey", ceremony_of(&body)).await;
    let owner = stack.sign_in(&artist.email).await;
    stack.remove_passkey_by_mail(&owner, &id).await.expect_success();
    // While it is to be removed, it proves nothing but that, and that it is to stay with another way in.
    let thief = stack.sign_in_with_passkey(&mut passkey).await;
    expect_unproved(&stack, &thief, &body, &before).await;
    let (_, body) = stack.made_passkey(&thief.token).await;
    let asked = json!({"act": "addPasskey", "subject": body["ceremony"], "way": "passkey"});
    stack.ask_proof(&thief, &asked).await.expect_error(422);

    let proof = stack.proof_by_passkey(&thief, &mut passkey, "removePasskey", id.as_str().expect("an id")).await;
    let left = stack.remove_passkey(&owner, &id, &proof).await.expect_success();
    assert_eq!(left.body["passkeys"], json!([]), "its own answer removes it at once");
    Answer::of(stack.get("/me").bearer_auth(&thief.token)).await.expect_error(401);
    assert!(is_fresh(&stack, &owner).await);
}

#[tokio::test]
async fn planted_passkey_uses_up_no_proofs_of_its_owner() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let mut planted = stack.new_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let thief = stack.sign_in_with_passkey(&mut planted).await;
    for (way, most) in [("email", 5), ("passkey", 20)] {
        let asked = json!({"act": "removePasskey", "subject": id, "way": way});
        for _ in 0..most {
            stack.ask_proof(&thief, &asked).await.expect_success();
        }
        stack.ask_proof(&thief, &asked).await.expect_error(429);
    }
    let owner = stack.sign_in(&artist.email).await;
    let left = stack.remove_passkey_by_mail(&owner, &id).await.expect_success();
    assert_eq!(left.body["passkeys"], json!([]));
}

#[tokio::test]
async fn removal_of_a_passkey_stops_its_change_of_address() {
    let stack = Stack::connect();
    let (artist, wallet, thiefs) = (stack.new_artist().await, PrivateKeySigner::random(), unused_email());
    stack.connect_old_wallet(&artist, &wallet).await;
    let mut planted = stack.added_passkey(&artist).await;
    let id = stack.only_passkey(&artist).await;
    let thief = stack.sign_in_with_passkey(&mut planted).await;
    let new = prove_by_mail(&stack.map, &thief.token, &thiefs, "newEmail", &thiefs).await.expect("a proof");
    let own = stack.proof_by_passkey(&thief, &mut planted, "changeEmail", &thiefs).await;
    let change = json!({"email": thiefs, "newProof": new, "proof": own});
    Answer::of(stack.post("/artists/email").bearer_auth(&thief.token).json(&change)).await.expect_success();
    let next = async |artist: &SignedIn| {
        let activity = Answer::of(stack.get("/artists/activity").bearer_auth(&artist.token)).await;
        activity.expect_success().body["nextEmail"]["email"].clone()
    };

    // Whoever reads the mails has a passkey's change go on, and the passkey go after a week.
    stack.remove_passkey_by_mail(&artist, &id).await.expect_success();
    assert_eq!(next(&artist).await, json!(thiefs));
    let proof = stack.proof_by_wallet(&artist, &wallet, "removePasskey", id.as_str().expect("an id")).await;
    stack.remove_passkey(&artist, &id, &proof).await.expect_success();
    assert_eq!(next(&artist).await, Value::Null);
    assert_eq!(stack.sign_in(&artist.email).await.wallet, artist.wallet);
}

#[tokio::test]
async fn wallet_connected_by_a_stolen_token_proves_nothing() {
    let stack = Stack::connect();
    let (artist, planted, third) = (stack.new_artist().await, PrivateKeySigner::random(), PrivateKeySigner::random());
    let address = |wallet: &PrivateKeySigner| format!("{:#x}", wallet.address());
    stack.connect_wallet(&artist, &planted).await.expect_success();
    stack.age_wallet(&planted).await;
    let thief = stack.sign_in_with_wallet(&planted).await;
    assert_eq!(thief.wallet, artist.wallet);
    assert!(!is_fresh(&stack, &thief).await, "a wallet that nothing proved does what takes a recent sign-in");
    for (act, subject) in [("changeEmail", "thief@example.com".to_owned()), ("connectWallet", address(&third))] {
        let asked = json!({"act": act, "subject": subject, "way": "wallet", "address": address(&planted)});
        assert_eq!(stack.ask_proof(&thief, &asked).await.expect_error(400).failing_fields(), ["address"], "{act}");
    }

    // The owner's code has it count, a day later; that of another wallet doesn't.
    let proof = stack.proof_by_mail(&artist, "connectWallet", &address(&third)).await;
    let refused = stack.connect_proved_wallet(&artist, &planted, &proof).await.expect_error(400);
    assert_eq!(refused.failing_fields(), ["proof"]);
    let proof = stack.proof_by_mail(&artist, "connectWallet", &address(&planted)).await;
    stack.connect_proved_wallet(&artist, &planted, &proof).await.expect_success();
    assert!(!is_fresh(&stack, &stack.sign_in_with_wallet(&planted).await).await, "its day begins now");
    stack.age_wallet(&planted).await;
    assert!(is_fresh(&stack, &stack.sign_in_with_wallet(&planted).await).await);
    let proof = stack.proof_by_wallet(&artist, &planted, "connectWallet", &address(&third)).await;
    stack.connect_proved_wallet(&artist, &third, &proof).await.expect_success();
    stack.age_wallet(&third).await;
    assert!(is_fresh(&stack, &stack.sign_in_with_wallet(&third).await).await);
}
