//! What `make run` says: demo artists whose keys work, a mailbox, and where a stack runs that is up already.

use std::{env, fs};

use local::{
    artists::SignedIn,
    mail::{code_in, mails_to},
    welcome,
};
use serde_json::{Value, json};
use tests::Stack;
use uuid::Uuid;

#[tokio::test]
async fn what_is_said_at_the_start_is_true() {
    let stack = Stack::connect();
    let folder = env::temp_dir().join(format!("moments-{}", Uuid::new_v4()));
    fs::create_dir_all(&folder).expect("a folder");
    assert_eq!(welcome::already_up(&folder).await, None);
    let new = stack.new_artist().await;
    let artist = SignedIn { email: new.email.clone(), account: new.wallet.clone(), token: new.token.clone() };
    let artist = artist.equip(&stack.map, "somebody").await.expect("money and a key");
    let text = welcome::prepare(&folder, &stack.map, &[artist]).await.expect("a table");
    let said = |name: &str| {
        let line = text.lines().map(str::trim).find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).trim().to_owned()
    };

    let first = text.lines().next().expect("a line").trim();
    assert!(first.starts_with("open"), "{first} isn't what a person opens");
    for page in ["open", "reference", "page", "mailbox"] {
        let answer = stack.http.get(said(page)).send().await.expect("an answer");
        assert_eq!(answer.status(), 200, "{page}");
    }
    let collection = json!({"name": "With the demo's key", "uri": "ipfs://x"});
    stack.write("/collections", &said("key"), &collection, &[]).await.expect_success();
    assert!(said("reference").ends_with(&said("key")), "the reference has it");
    let balance: Value = stack
        .get(&format!("/smartwallet?address={}", new.wallet))
        .send()
        .await
        .expect("an answer")
        .json()
        .await
        .expect("JSON");
    assert_eq!(balance["balances"][0]["amount"], "10000000000000000000");
    assert_eq!(stack.usdc_of(new.wallet.parse().expect("an address")).await.to_string(), "1000000000");

    let mails = mails_to(&stack.map.mail, &new.email).await.expect("mails");
    let code = mails.iter().find_map(code_in).expect("a code");
    let page = stack.http.get(said("mailbox")).send().await.expect("an answer").text().await.expect("a page");
    assert!(page.contains(code) && page.contains(&new.email), "{page}");

    fs::write(folder.join("stack.json"), serde_json::to_string(&stack.map).expect("JSON")).expect("a file");
    assert_eq!(welcome::already_up(&folder).await, Some(text), "a second start says where the first is");
    let gone = local::stack_map::StackMap { api: "http://127.0.0.1:1/api".to_owned(), ..stack.map };
    fs::write(folder.join("stack.json"), serde_json::to_string(&gone).expect("JSON")).expect("a file");
    assert_eq!(welcome::already_up(&folder).await, None, "what was left by one that is gone doesn't count");
    fs::remove_dir_all(&folder).expect("an empty folder");
}
