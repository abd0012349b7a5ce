//! `DELETE /artists/api-keys`

use serde_json::json;
use tests::{Answer, Stack};
use uuid::Uuid;

#[tokio::test]
async fn key_is_revoked_only_by_its_owner() {
    let stack = Stack::connect();
    let (owner, other) = (stack.new_artist().await, stack.new_artist().await);
    stack.create_key(&owner, &json!({})).await.expect_success();
    let id = stack.list_keys(&owner).await[0]["id"].as_str().expect("an id").to_owned();

    stack.revoke_key(&other, &id).await.expect_error(404);
    assert_eq!(stack.list_keys(&owner).await.len(), 1);
    stack.revoke_key(&owner, &id).await.expect_success();
    assert!(stack.list_keys(&owner).await.is_empty());
    stack.revoke_key(&owner, &id).await.expect_error(404);
}

#[tokio::test]
async fn invalid_or_unknown_key_id_is_refused() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    for id in ["", "1", "not-a-uuid"] {
        let answer = stack.revoke_key(&artist, id).await.expect_error(400);
        assert_eq!(answer.failing_fields(), ["keyId"], "{id:?}");
    }
    let missing = stack.delete("/artists/api-keys").bearer_auth(&artist.token);
    assert_eq!(Answer::of(missing).await.expect_error(400).failing_fields(), ["keyId"]);
    stack.revoke_key(&artist, &Uuid::new_v4().to_string()).await.expect_error(404);
}
