//! The test vectors of <https://www.w3.org/TR/webauthn-3/#sctn-test-vectors>, whose relying party is `example.org`, sent to
//! ours: what it takes, and what it refuses although the signature is right.

use serde::Deserialize;
use serde_json::{Value, json};
use webauthn_rs::prelude::{DiscoverableAuthentication, Passkey, PasskeyRegistration, Uuid};

use crate::passkey::relying_party;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Vector {
    name: String,
    credential_id: String,
    registration: Value,
    authentication: Value,
}

/// Sets the challenge wherever a ceremony's state has it.
fn challenged(state: &mut Value, challenge: &Value) -> usize {
    match state {
        Value::Object(fields) => fields.iter_mut().fold(0, |count, (name, field)| {
            if name == "challenge" {
                *field = challenge.clone();
                return count + 1;
            }
            count + challenged(field, challenge)
        }),
        _ => 0,
    }
}

fn register(vector: &Vector) -> Result<Passkey, String> {
    let party = relying_party(&"https://example.org".parse().unwrap()).unwrap();
    let (_, state) = party.start_passkey_registration(Uuid::nil(), "ada", "Ada", None).unwrap();
    let mut state = serde_json::to_value(state).unwrap();
    assert_eq!(challenged(&mut state, &vector.registration["challenge"]), 1, "{state}");
    let state: PasskeyRegistration = serde_json::from_value(state).unwrap();
    let (id, made) = (&vector.credential_id, &vector.registration);
    let response = json!({"clientDataJSON": made["clientDataJSON"], "attestationObject": made["attestationObject"]});
    let credential = json!({"id": id, "rawId": id, "type": "public-key", "response": response});
    let credential = serde_json::from_value(credential).map_err(|error| error.to_string())?;
    party.finish_passkey_registration(&credential, &state).map_err(|error| format!("{error:?}"))
}

fn sign_in(vector: &Vector, passkey: &Passkey, challenge: &Value) -> Result<(), String> {
    let party = relying_party(&"https://example.org".parse().unwrap()).unwrap();
    let (_, state) = party.start_discoverable_authentication().unwrap();
    let mut state = serde_json::to_value(state).unwrap();
    assert_eq!(challenged(&mut state, challenge), 1, "{state}");
    let state: DiscoverableAuthentication = serde_json::from_value(state).unwrap();
    let (id, mut response) = (&vector.credential_id, vector.authentication.clone());
    response["userHandle"] = "AAAAAAAAAAAAAAAAAAAAAA".into();
    let credential = json!({"id": id, "rawId": id, "type": "public-key", "response": response});
    let credential = serde_json::from_value(credential).map_err(|error| error.to_string())?;
    let result = party.finish_discoverable_authentication_v2(&credential, state, passkey);
    result.map(|_| ()).map_err(|error| format!("{error:?}"))
}

/// What becomes of each vector. Passkeys take a verified person and ES256; statements about the authenticator aren't asked
/// for, and refused where the library can't read them.
const OUTCOMES: [(&str, Result<(), &str>); 15] = [
    ("ES256 Credential with No Attestation", Err("UserNotVerified")),
    ("ES256 Credential with Self Attestation", Err("UserNotVerified")),
    ("ES256 Credential with \"crossOrigin\": true in clientDataJSON", Err("CredentialCrossOrigin")),
    ("ES256 Credential with \"topOrigin\" in clientDataJSON", Err("CredentialCrossOrigin")),
    ("ES256 Credential with very long credential ID", Err("UserNotVerified")),
    ("Packed Attestation with ES256 Credential", Ok(())),
    ("Packed Attestation with ES384 Credential", Err("UserNotVerified")),
    ("Packed Attestation with ES512 Credential", Err("CredentialAlteredAlgFromRequest")),
    ("Packed Attestation with RS256 Credential", Err("COSEKeyRSANEInvalid")),
    ("Packed Attestation with Ed25519 Credential", Err("UserNotVerified")),
    ("Packed Attestation with Ed448 Credential", Err("UserNotVerified")),
    ("TPM Attestation with ES256 Credential", Err("COSEKeyInvalidType")),
    ("Android Key Attestation with ES256 Credential", Err("AttestationStatementX5CInvalid")),
    ("Apple Anonymous Attestation with ES256 Credential", Err("UserNotVerified")),
    ("FIDO U2F Attestation with ES256 Credential", Err("UserNotVerified")),
];

#[test]
fn published_vectors_are_taken_where_the_person_was_verified_on_this_origin() {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("webauthn_vectors.json")).unwrap();
    assert_eq!(vectors.len(), OUTCOMES.len());
    for (vector, (name, expected)) in vectors.iter().zip(OUTCOMES) {
        let outcome = register(vector).and_then(|passkey| {
            sign_in(vector, &passkey, &vector.authentication["challenge"])?;
            // The right signature of another challenge is a replay.
            assert!(sign_in(vector, &passkey, &vector.registration["challenge"]).is_err(), "{name}");
            Ok(())
        });
        assert_eq!(
            (vector.name.as_str(), outcome.as_ref().map_err(String::as_str)),
            (name, expected.as_ref().map_err(|why| *why))
        );
    }
}
