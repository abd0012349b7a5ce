//! Replacing the key that secrets are derived from, as docs/operations.md says.

use aws_sdk_kms::{primitives::Blob, types::MacAlgorithmSpec};
use base64::prelude::{BASE64_STANDARD, Engine};
use serde_json::json;
use shared::{
    model::{ArtistId, DeliveryId},
    store::artist::{ArtistTable, Deliveries, Delivery, SecretName, Webhook, WebhookQueue, Webhooks},
};
use tests::{Sandbox, Stack};

use super::{receiver::Receiver, unix_now};

/// A secret as its artist got it.
async fn secret(stack: &Stack, webhook: &Webhook, name: SecretName) -> String {
    let text = format!("webhook\n{}\n{}", webhook.id, name.generation);
    let call =
        stack.kms().await.generate_mac().key_id(name.key.expect("a key")).mac_algorithm(MacAlgorithmSpec::HmacSha256);
    let mac = call.message(Blob::new(text)).send().await.expect("a MAC").mac.expect("a MAC");
    format!("whsec_{}", BASE64_STANDARD.encode(mac))
}

#[tokio::test]
async fn while_the_key_is_replaced_a_webhook_keeps_its_secret_until_its_artist_rotates_it() {
    let (stack, receiver, artist) = (Stack::connect(), Receiver::start().await, ArtistId::random());
    let (former, new) = (stack.new_mac_key().await, stack.new_mac_key().await);
    let database = tests::empty_tables(&stack).await;
    let table = ArtistTable::new(&stack.endpoints().sdk_config(&database.endpoint).await, "ArtistTable");
    let (webhooks, deliveries) = (Webhooks::new(table.clone()), Deliveries::new(table.clone()));
    let queue = WebhookQueue::new(table);
    let webhook = |path: &str, key: Option<&str>| {
        let url = format!("{}/{path}", receiver.url).parse().expect("a URL");
        Webhook { key: key.map(str::to_owned), ..Webhook::new(url, unix_now()) }
    };
    let (kept, first_form, mut rotated) =
        (webhook("kept", Some(&former)), webhook("first", None), webhook("rotated", Some(&former)));
    let before = rotated.newest_secret();
    rotated.rotate(&new, unix_now());
    let deliver = async |keys: &str| {
        for webhook in [&kept, &first_form, &rotated] {
            let id = DeliveryId::next();
            let delivery = Delivery::new(id, webhook.id, id.to_string(), "x".to_owned(), "{}".to_owned(), unix_now());
            deliveries.add(&[(artist, delivery)]).await.expect("a row");
            queue.note_added(artist, webhook.id).await.expect("a row");
        }
        let variables = [("WEBHOOK_KEY_IDS", keys)];
        let sandbox = Sandbox::with(&stack, "deliver-webhooks", &variables, &database.endpoint).await;
        sandbox.invoke(&json!({})).await;
    };
    for webhook in [&kept, &first_form, &rotated] {
        assert!(webhooks.add(artist, webhook).await.expect("a row"));
    }
    let of_former = |webhook: &Webhook| SecretName { key: Some(former.clone()), ..webhook.newest_secret() };

    deliver(&format!("{new},{former}")).await;
    let [of_kept, of_first] =
        [secret(&stack, &kept, of_former(&kept)), secret(&stack, &first_form, of_former(&first_form))];
    let (of_kept, of_first) = (of_kept.await, of_first.await);
    let (old, newest) =
        (secret(&stack, &rotated, before).await, secret(&stack, &rotated, rotated.newest_secret()).await);
    assert!(receiver.wait_for("/kept", 1).await[0].is_signed_with(&of_kept));
    assert!(receiver.wait_for("/first", 1).await[0].is_signed_with(&of_first));
    let message = &receiver.wait_for("/rotated", 1).await[0];
    assert!(message.is_signed_with(&old) && message.is_signed_with(&newest));

    deliver(&new).await;
    assert!(!receiver.wait_for("/kept", 2).await[1].is_signed_with(&of_kept), "its key is gone");
    assert!(receiver.wait_for("/rotated", 2).await[1].is_signed_with(&newest));
}
