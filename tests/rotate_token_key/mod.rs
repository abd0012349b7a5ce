//! Rotating the token key, as docs/operations.md says: `local/sam/keys` publishes a key before it signs, and both verify
//! until the retired one is taken away.

use std::process::Output;

use base64::prelude::{BASE64_STANDARD, Engine};
use jsonwebtoken::{EncodingKey, Header, decode_header, encode};
use local::{cloud, paths::Paths};
use p256::{
    SecretKey,
    pkcs8::{EncodePrivateKey, EncodePublicKey},
};
use serde_json::{Value, json};
use tests::{Sandbox, Stack, python, token_part};
use uuid::Uuid;

/// A key that nobody else has.
fn new_key() -> SecretKey {
    let bytes = [*Uuid::new_v4().as_bytes(), *Uuid::new_v4().as_bytes()].concat();
    SecretKey::from_slice(&bytes).expect("a key")
}

/// The same token, signed by another key with this id.
fn signed_again(token: &str, key: &SecretKey, id: &str) -> String {
    let header = Header { kid: Some(id.to_owned()), ..decode_header(token).expect("a header") };
    let key = key.to_pkcs8_der().expect("PKCS 8");
    encode(&header, &token_part(token, 1), &EncodingKey::from_ec_der(key.as_bytes())).expect("a token")
}

/// Key ids that a deployment with these keys publishes.
async fn published(stack: &Stack, keys: &str) -> Vec<String> {
    let sandbox = Sandbox::with_variables(stack, "publish-key-set", &[("TOKEN_PUBLIC_KEYS", keys)]).await;
    let answer = sandbox.invoke(&sandbox.event()).await;
    let body: Value = serde_json::from_str(answer["body"].as_str().expect("a body")).expect("JSON");
    let keys = body["keys"].as_array().expect("keys").iter();
    keys.map(|key| key["kid"].as_str().expect("an id").to_owned()).collect()
}

/// How a deployment with these keys answers the tokens.
async fn statuses(stack: &Stack, keys: &str, tokens: [&str; 2]) -> [Value; 2] {
    let sandbox = Sandbox::with_variables(stack, "list-wallets", &[("TOKEN_PUBLIC_KEYS", keys)]).await;
    let ask = async |token: &str| {
        let mut event = sandbox.event();
        event["headers"]["authorization"] = json!(format!("Bearer {token}"));
        sandbox.invoke(&event).await["statusCode"].clone()
    };
    [ask(tokens[0]).await, ask(tokens[1]).await]
}

#[tokio::test]
async fn tokens_of_a_retired_key_are_taken_until_its_public_key_is_gone() {
    let (stack, key) = (Stack::connect(), new_key());
    let artist = stack.new_artist().await;
    let retired = &stack.map.names["TokenPublicKeys"];
    let new = BASE64_STANDARD.encode(key.public_key().to_public_key_der().expect("SPKI"));
    let both = format!("{new},{retired}");
    let ids = published(&stack, &both).await;
    assert_eq!(ids[1..], published(&stack, retired).await, "the new key comes first");
    let token = signed_again(&artist.token, &key, &ids[0]);
    let tokens = [token.as_str(), &artist.token];
    assert_eq!(statuses(&stack, &both, tokens).await, [200, 200].map(Value::from));
    assert_eq!(statuses(&stack, &new, tokens).await, [200, 401].map(Value::from));
    assert_eq!(statuses(&stack, retired, tokens).await, [401, 200].map(Value::from));
}

/// A cloud with a stage of these token keys, the signing one first.
struct Stage {
    cloud: String,
}

impl Stage {
    async fn run(&self, arguments: &[&str]) -> String {
        let Output { status, stdout, stderr } = python(&self.cloud, arguments).await.expect("python runs");
        assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
        String::from_utf8(stdout).expect("UTF-8")
    }

    /// Deploys a template with these token keys. Returns what was set before, and the keys' ids.
    async fn deploy(&self, keys: &[&str]) -> Value {
        let told = self.run(&[&["tests/rotate_token_key/deploy.py"], keys].concat()).await;
        serde_json::from_str(&told).expect("JSON")
    }

    /// The parameters that are set one after another.
    async fn set_parameters(&self) -> Vec<String> {
        let told = self.run(&["local/sam/keys", "staging"]).await;
        let updates = told.lines().filter_map(|line| line.strip_prefix("moments-staging: updated "));
        updates.map(str::to_owned).collect()
    }
}

#[tokio::test]
async fn what_the_data_has_anew_is_handed_over_without_a_deployment_of_the_code() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("handed-over")).await.expect("a cloud");
    let stage = Stage { cloud };
    stage.deploy(&["First"]).await;
    stage.set_parameters().await;
    let told = stage.deploy(&["--data-alone", "Second"]).await;
    assert_eq!(told["before"]["TokenKey"], told["before"]["TokenSigningKey"]);
    assert_eq!(stage.set_parameters().await, ["TokenPublicKeys", "TokenKey TokenSigningKey TokenPublicKeys"]);
    let told = stage.deploy(&["--data-alone", "Second"]).await;
    assert_eq!(told["before"]["TokenKey"], told["ids"]["Second"]);
}

#[tokio::test]
async fn every_function_knows_a_key_before_the_first_token_is_signed_with_it() {
    let paths = Paths::of_checkout();
    let (cloud, _process) = cloud::start(&paths, &paths.local("rotated-keys")).await.expect("a cloud");
    let stage = Stage { cloud };
    let (keys, published) = ("TokenSigningKey TokenPublicKeys", "TokenPublicKeys");

    stage.deploy(&["First"]).await;
    assert_eq!(stage.set_parameters().await, ["OperatorLanes TokenSigningKey TokenPublicKeys TokenIssuer"]);
    assert!(stage.set_parameters().await.is_empty(), "nothing is new");

    let told = stage.deploy(&["First", "Second"]).await;
    let first = told["before"]["TokenPublicKeys"].as_str().expect("a key").to_owned();
    assert_eq!(told["before"]["TokenSigningKey"], told["ids"]["First"]);
    assert_eq!(stage.set_parameters().await, [published]);

    let told = stage.deploy(&["Second", "First"]).await;
    let both = told["before"]["TokenPublicKeys"].as_str().expect("keys").to_owned();
    let second = both.strip_prefix(&format!("{first},")).expect("the new key behind the signing one");
    assert_eq!(told["before"]["TokenSigningKey"], told["ids"]["First"]);
    assert_eq!(stage.set_parameters().await, [keys]);

    let told = stage.deploy(&["Second"]).await;
    assert_eq!(told["before"]["TokenPublicKeys"], format!("{second},{first}"));
    assert_eq!(told["before"]["TokenSigningKey"], told["ids"]["Second"]);
    assert_eq!(stage.set_parameters().await, [published]);

    // A compromised key is replaced in one deployment.
    let told = stage.deploy(&["Third"]).await;
    assert_eq!(told["before"]["TokenPublicKeys"], second);
    assert_eq!(stage.set_parameters().await, [published, keys]);
    let told = stage.deploy(&["Third", "Fourth"]).await;
    assert_eq!(told["before"]["TokenSigningKey"], told["ids"]["Third"]);
    let third = told["before"]["TokenPublicKeys"].as_str().expect("a key");
    assert!(!third.contains(',') && third != second, "{third}");
}
