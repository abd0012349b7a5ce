//! Moments that are given to mail addresses, by `POST /moment/airdrop`.

use alloy::primitives::{Address, U256};
use aws_sdk_dynamodb::types::AttributeValue;
use local::mail::Mail;
use serde_json::{Value, json};
use tests::{Answer, DAY, Sandbox, SignedIn, Stack, Writer, eventually, unused_email, within_one_window};

async fn give(stack: &Stack, writer: &Writer, recipients: Value) -> Answer {
    let moment = json!({"collectionAddress": writer.collection, "tokenId": "1"});
    stack.write("/moment/airdrop", &writer.key, &json!({"moment": moment, "recipients": recipients}), &[]).await
}

async fn tokens(stack: &Stack, owner: &SignedIn, writer: &Writer) -> U256 {
    let account: Address = owner.wallet.parse().expect("an address");
    stack.tokens_of(account, writer.collection).await
}

/// Waits until the address has so many mails that aren't about signing in.
async fn told(stack: &Stack, mailer: &Sandbox, email: &str, count: usize) -> Vec<Mail> {
    eventually(format!("{count} mails to {email}"), async || {
        mailer.invoke(&mailer.event()).await;
        let mut mails = stack.mails_to(email).await;
        mails.retain(|mail| mail.subject.contains("gave"));
        (mails.len() >= count).then_some(mails)
    })
    .await
}

#[tokio::test]
async fn gift_to_a_mailbox_is_there_when_its_owner_first_signs_in() {
    let stack = Stack::connect();
    let (writer, known) = (stack.new_writer().await, stack.new_artist().await);
    let mailer = Sandbox::with_variables(&stack, "mail-news", &[]).await;
    let (email, twice) = (unused_email(), unused_email());
    give(&stack, &writer, json!([email, twice, known.email, twice.to_uppercase()])).await.expect_success();

    let [mail] = &told(&stack, &mailer, &email, 1).await[..] else { panic!("more than one mail") };
    assert_eq!(mail.subject, "Somebody gave you a moment");
    let page = format!("/m/8453/{:#x}/1", writer.collection);
    assert!(mail.body_text.contains(&page) && mail.body_text.contains("#unsubscribe="), "{}", mail.body_text);
    assert_eq!(told(&stack, &mailer, &twice, 1).await[0].subject, "Somebody gave you 2 copies of a moment");
    told(&stack, &mailer, &known.email, 1).await;

    let (owner, other) = (stack.sign_in(&email).await, stack.sign_in(&twice).await);
    assert_eq!(tokens(&stack, &owner, &writer).await, U256::ONE);
    assert_eq!(tokens(&stack, &other, &writer).await, U256::from(2));
    assert_eq!(tokens(&stack, &known, &writer).await, U256::ONE);
    assert!(stack.row("ArtistTable", &format!("RESERVED#{email}"), "ARTIST").await.is_none());
    // From now on it is an artist's, who can be given to by wallet, and has the same account each time.
    give(&stack, &writer, json!([email])).await.expect_success();
    assert_eq!(tokens(&stack, &owner, &writer).await, U256::from(2));
    assert_eq!(stack.sign_in(&email).await.wallet, owner.wallet);
}

#[tokio::test]
async fn who_never_signed_in_stops_such_mails_with_one_press_and_gets_three_a_day() {
    let stack = Stack::connect();
    let mailer = Sandbox::with_variables(&stack, "mail-news", &[]).await;
    let (writer, email, mails) = within_one_window(DAY, async || {
        let writer = stack.new_writer().await;
        let (email, much) = (unused_email(), unused_email());
        let [mail] = &{
            give(&stack, &writer, json!([email])).await.expect_success();
            told(&stack, &mailer, &email, 1).await
        }[..] else {
            panic!("more than one mail")
        };
        let token = mail.body_text.split_once("#unsubscribe=").and_then(|(_, rest)| rest.split_whitespace().next());
        let path = format!("/mails/unsubscribe?token={}", token.expect("a link that stops them"));
        Answer::of(stack.post(&path).body("List-Unsubscribe=One-Click")).await.expect_success();
        for count in 1..=5 {
            give(&stack, &writer, json!([email, much, unused_email()])).await.expect_success();
            told(&stack, &mailer, &much, count.min(3)).await;
        }
        // What waits for the fourth one was passed on by then, as was what the first address is not told.
        let last = unused_email();
        give(&stack, &writer, json!([last])).await.expect_success();
        told(&stack, &mailer, &last, 1).await;
        let mails = (stack.mails_to(&email).await.len(), stack.mails_to(&much).await.len());
        (writer, email, mails)
    })
    .await;
    assert_eq!(mails, (1, 3));
    assert_eq!(tokens(&stack, &stack.sign_in(&email).await, &writer).await, U256::from(6));
}

#[tokio::test]
async fn fifty_mailboxes_a_day_can_be_given_to_and_none_that_is_changing() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let next = unused_email();
    let proved = stack.proved_email(&artist, &next).await;
    Answer::of(stack.post("/artists/email").bearer_auth(&artist.token).json(&proved)).await.expect_success();
    let (writer, [unreadable, changing, fitting, refused]) = within_one_window(DAY, async || {
        let writer = stack.new_writer().await;
        let many: Vec<_> = (0..48).map(|_| unused_email()).collect();
        let answers = [
            give(&stack, &writer, json!([next, "a@", unused_email()])).await,
            give(&stack, &writer, json!([unused_email(), next])).await,
            give(&stack, &writer, json!(many)).await,
            give(&stack, &writer, json!([unused_email()])).await,
        ];
        (writer, answers)
    })
    .await;
    for answer in [unreadable, changing] {
        assert_eq!(answer.expect_error(400).failing_fields(), ["recipients.1"]);
    }
    fitting.expect_success();
    let answer = refused.expect_error(429);
    assert!(answer.body["message"].as_str().is_some_and(|words| words.contains("tomorrow")), "{answer:?}");
    give(&stack, &writer, json!([artist.wallet])).await.expect_success();
}

#[tokio::test]
async fn account_that_nobody_came_for_in_a_year_is_nobodys() {
    let stack = Stack::connect();
    let writer = stack.new_writer().await;
    let email = unused_email();
    give(&stack, &writer, json!([email])).await.expect_success();
    let key = format!("RESERVED#{email}");
    let kept = stack.row("ArtistTable", &key, "ARTIST").await.expect("an account that is kept");
    stack.set("ArtistTable", &key, "ARTIST", "expires_at", AttributeValue::N("1".to_owned())).await;
    let owner = stack.sign_in(&email).await;
    assert_ne!(Some(&owner.wallet), kept["embedded_wallet"].as_s().ok());
    assert_eq!(tokens(&stack, &owner, &writer).await, U256::ZERO);
}

#[tokio::test]
async fn account_of_an_artist_cannot_be_kept_for_another_mailbox() {
    let stack = Stack::connect();
    let (victim, email) = (stack.new_artist().await, unused_email());
    let writer = stack.new_writer().await;
    give(&stack, &writer, json!([email])).await.expect_success();
    let key = format!("RESERVED#{email}");
    for (field, value) in [("artist_id", stack.artist_id(&victim)), ("embedded_wallet", victim.wallet.clone())] {
        stack.set("ArtistTable", &key, "ARTIST", field, AttributeValue::S(value)).await;
    }
    assert_ne!(stack.sign_in(&email).await.wallet, victim.wallet);
}
