//! An authenticator in software, as phones and browsers have one: it makes passkeys (ES256, without attestation) and signs
//! with them, as <https://www.w3.org/TR/webauthn-3/> says.

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use p256::{
    ecdsa::{DerSignature, SigningKey, signature::Signer},
    elliptic_curve::rand_core::OsRng,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use url::{Host, Url};

use crate::Error;

/// The origin of the service's pages at `api`: an IP address can't have passkeys, so that a local one is `localhost`.
pub fn origin(api: &str) -> Result<String, Error> {
    let mut url: Url = api.parse()?;
    if matches!(url.host(), Some(Host::Ipv4(ip)) if ip.is_loopback()) {
        url.set_host(Some("localhost"))?;
    }
    Ok(url.origin().ascii_serialization())
}

/// User present and verified.
const VERIFIED: u8 = 0b0000_0101;

/// The data has a new credential.
const ATTESTED: u8 = 0b0100_0000;

/// A passkey in its authenticator.
#[derive(Clone)]
pub struct Authenticator {
    /// The origin that the browser names.
    pub origin: String,
    /// How often it has signed; it never falls.
    pub counter: u32,
    id: Vec<u8>,
    key: SigningKey,
    user: String,
}

impl Authenticator {
    /// Makes a passkey for the options of `POST /artists/passkeys/challenge`, and what the browser would answer.
    pub fn create(options: &Value, origin: &str) -> Result<(Self, Value), Error> {
        let key = SigningKey::random(&mut OsRng);
        let id = Sha256::digest(key.to_bytes()).to_vec();
        let user = text(&options["user"]["id"])?.to_owned();
        let passkey = Self { origin: origin.to_owned(), counter: 0, id, key, user };
        let answer = passkey.again(options)?;
        Ok((passkey, answer))
    }

    /// What the browser would answer to such options if the authenticator gave the same passkey again.
    pub fn again(&self, options: &Value) -> Result<Value, Error> {
        let mut data = self.data(text(&options["rp"]["id"])?, VERIFIED | ATTESTED);
        data.extend([0; 16]);
        data.extend(u16::try_from(self.id.len())?.to_be_bytes());
        data.extend(&self.id);
        let point = self.key.verifying_key().to_encoded_point(false);
        let (Some(x), Some(y)) = (point.x(), point.y()) else { return Err("the key has no point".into()) };
        // COSE_Key, in CBOR: {1: 2, 3: -7, -1: 1, -2: x, -3: y}.
        data.extend([0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 32]);
        data.extend(x);
        data.extend([0x22, 0x58, 32]);
        data.extend(y);
        // CBOR: {"fmt": "none", "attStmt": {}, "authData": data}.
        let mut object = b"\xa3\x63fmt\x64none\x67attStmt\xa0\x68authData\x58".to_vec();
        object.push(u8::try_from(data.len())?);
        object.extend(data);
        let response = json!({
            "attestationObject": encode(object),
            "clientDataJSON": encode(self.client_data("webauthn.create", options)?),
        });
        Ok(self.answer(response))
    }

    /// What the browser would answer to the options of `POST /oauth/passkey/challenge`.
    pub fn sign(&mut self, options: &Value) -> Result<Value, Error> {
        self.counter += 1;
        let data = self.data(text(&options["rpId"])?, VERIFIED);
        let client_data = self.client_data("webauthn.get", options)?;
        let signed = [data.as_slice(), &Sha256::digest(&client_data)].concat();
        let signature: DerSignature = self.key.sign(&signed);
        Ok(self.answer(json!({
            "authenticatorData": encode(data),
            "clientDataJSON": encode(client_data),
            "signature": encode(signature.as_bytes()),
            "userHandle": self.user,
        })))
    }

    fn data(&self, relying_party: &str, flags: u8) -> Vec<u8> {
        let mut data = Sha256::digest(relying_party).to_vec();
        data.push(flags);
        data.extend(self.counter.to_be_bytes());
        data
    }

    fn client_data(&self, kind: &str, options: &Value) -> Result<Vec<u8>, Error> {
        let data = json!({
            "type": kind,
            "challenge": text(&options["challenge"])?,
            "origin": self.origin,
            "crossOrigin": false,
        });
        Ok(serde_json::to_vec(&data)?)
    }

    fn answer(&self, response: Value) -> Value {
        let id = encode(&self.id);
        json!({"id": id, "rawId": id, "type": "public-key", "response": response, "clientExtensionResults": {}})
    }
}

fn encode(bytes: impl AsRef<[u8]>) -> String {
    BASE64_URL_SAFE_NO_PAD.encode(bytes)
}

fn text(value: &Value) -> Result<&str, Error> {
    value.as_str().ok_or_else(|| "the options lack a text".into())
}
