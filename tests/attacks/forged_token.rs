//! Somebody makes tokens up: another algorithm, audience, issuer or artist, or a signature of their own.

use aws_sdk_kms::{
    primitives::Blob,
    types::{MessageType, SigningAlgorithmSpec},
};
use base64::{Engine, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use jsonwebtoken::{Algorithm, EncodingKey, Header, decode_header, encode, get_current_timestamp};
use serde_json::{Value, json};
use tests::{Answer, SignedIn, Stack, token_part};
use uuid::Uuid;

#[tokio::test]
async fn invalid_token_is_401_and_creates_no_key() {
    let stack = Stack::connect();
    let artist = stack.new_artist().await;
    let forger = Forger::new(&stack, &artist).await;
    let api_key = stack.create_key(&artist, &json!({})).await.body["apiKey"].as_str().expect("a key").to_owned();
    let now = get_current_timestamp();

    let bearer = |token: String| ("authorization", format!("Bearer {token}"));
    let mut cases = vec![
        ("no header", ("x-nothing", String::new())),
        ("another scheme", ("authorization", format!("Basic {}", artist.token))),
        ("no scheme", ("authorization", artist.token.clone())),
        ("an empty token", bearer(String::new())),
        ("no token at all", bearer("not-a-token".to_owned())),
        ("an API key as a token", bearer(api_key.clone())),
        ("an API key in its own header", ("x-api-key", api_key)),
        ("the algorithm none", bearer(forger.unsigned())),
        ("HS256 with the public key", bearer(forger.signed_with_the_public_key())),
        ("an altered payload", bearer(forger.with_altered_payload())),
        ("an altered signature", bearer(forger.with_altered_signature())),
        ("another issuer", bearer(forger.sign(|_, claims| claims["iss"] = json!("https://evil.example")).await)),
        ("another audience", bearer(forger.sign(|_, claims| claims["aud"] = json!("others")).await)),
        ("expired", bearer(forger.sign(|_, claims| claims["exp"] = json!(now - 1)).await)),
        ("another type", bearer(forger.sign(|header, _| header["typ"] = json!("JWT")).await)),
        ("an unknown key", bearer(forger.sign(|header, _| header["kid"] = json!("unknown")).await)),
        ("a subject that is no artist", bearer(forger.sign(|_, claims| claims["sub"] = json!("root")).await)),
    ];
    for claim in ["iss", "aud", "sub", "exp"] {
        let without = forger.sign(|_, claims| drop(claims.as_object_mut().expect("claims").remove(claim))).await;
        cases.push(("a claim missing", bearer(without)));
    }
    for (reason, (header, value)) in &cases {
        for request in
            [stack.post("/artists/api-keys"), stack.get("/artists/api-keys"), stack.delete("/artists/api-keys")]
        {
            let answer = Answer::of(request.header(*header, value)).await;
            assert_eq!(answer.status, 401, "{reason}: {answer:?}");
            let answer = answer.expect_error(401);
            assert!(answer.header("www-authenticate").starts_with("Bearer"), "{reason}: {answer:?}");
        }
    }
    assert_eq!(stack.list_keys(&artist).await.len(), 1, "a refused request made a key");

    // An unaltered forged token is accepted, so the alterations caused the refusals above.
    let faithful = forger.sign(|_, _| {}).await;
    Answer::of(stack.get("/artists/api-keys").bearer_auth(&faithful)).await.expect_success();
    let lower_case = stack.get("/artists/api-keys").header("authorization", format!("bearer {faithful}"));
    Answer::of(lower_case).await.expect_success();
}

/// Makes altered copies of an artist's token. They are signed with the service's key, except in the tests of
/// signatures.
pub(super) struct Forger<'a> {
    stack: &'a Stack,
    token: String,
    header: Value,
    claims: Value,
    public_key: Vec<u8>,
}

impl<'a> Forger<'a> {
    pub(super) async fn new(stack: &'a Stack, artist: &SignedIn) -> Self {
        let part = |index| token_part(&artist.token, index);
        let public_key = BASE64_STANDARD.decode(&stack.map.names["TokenPublicKeys"]).expect("base64");
        Self { stack, token: artist.token.clone(), header: part(0), claims: part(1), public_key }
    }

    pub(super) async fn sign(&self, alter: impl FnOnce(&mut Value, &mut Value)) -> String {
        let (mut header, mut claims) = (self.header.clone(), self.claims.clone());
        alter(&mut header, &mut claims);
        let message = format!("{}.{}", encoded(&header), encoded(&claims));
        let call = self.stack.kms().await.sign().key_id(&self.stack.map.names["TokenKey"]);
        let call = call.signing_algorithm(SigningAlgorithmSpec::EcdsaSha256).message_type(MessageType::Raw);
        let answer = call.message(Blob::new(message.as_bytes())).send().await.expect("a signature");
        let der = answer.signature.expect("a signature");
        let signature = p256::ecdsa::Signature::from_der(der.as_ref()).expect("DER");
        format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature.to_bytes()))
    }

    fn unsigned(&self) -> String {
        let mut header = self.header.clone();
        header["alg"] = json!("none");
        format!("{}.{}.", encoded(&header), encoded(&self.claims))
    }

    fn signed_with_the_public_key(&self) -> String {
        let kid = decode_header(&self.token).expect("a header").kid;
        let header = Header { kid, typ: Some("at+jwt".to_owned()), ..Header::new(Algorithm::HS256) };
        encode(&header, &self.claims, &EncodingKey::from_secret(&self.public_key)).expect("a token")
    }

    fn with_altered_payload(&self) -> String {
        let mut parts: Vec<_> = self.token.split('.').map(str::to_owned).collect();
        let mut claims = self.claims.clone();
        claims["sub"] = json!(Uuid::new_v4());
        parts[1] = encoded(&claims);
        parts.join(".")
    }

    fn with_altered_signature(&self) -> String {
        let (message, signature) = self.token.rsplit_once('.').expect("three parts");
        let mut signature = BASE64_URL_SAFE_NO_PAD.decode(signature).expect("base64");
        signature[20] ^= 1;
        format!("{message}.{}", BASE64_URL_SAFE_NO_PAD.encode(signature))
    }
}

fn encoded(value: &Value) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(value.to_string())
}
