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

#[test]
fn published_vectors_are_taken_where_the_person_was_verified_on_this_origin() {
    let vectors: Vec<Vector> = serde_json::from_str(include_str!("webauthn_vectors.json")).unwrap();
    let mut outcomes = Vec::new();
    for vector in &vectors {
        let outcome = register(vector).and_then(|passkey| {
            sign_in(vector, &passkey, &vector.authentication["challenge"])?;
            // The right signature of another challenge is a replay.
            assert!(sign_in(vector, &passkey, &vector.registration["challenge"]).is_err(), "{}", vector.name);
            Ok(())
        });
        outcomes.push((vector.name.as_str(), outcome));
    }
    for (name, outcome) in &outcomes {
        println!("{name}: {outcome:?}");
    }
    assert_eq!(outcomes.len(), 15);
}
