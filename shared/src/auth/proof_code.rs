//! Mailed codes that prove one act. A code is stored as a KMS HMAC over all that it is for: the table is no use for testing a
//! guess, and no code is another's, nor one of a sign-in.

use std::time::Duration;

use super::sign_in_code::SignInError;
use crate::{
    kms::{KmsError, MacKeys},
    model::{ArtistId, Email, OneTimeCode, ProofId, ProvenAct},
    store::secret::{ProofChallenge, Proofs, StoredProof},
};

/// Issues codes and checks them.
#[derive(Clone)]
pub struct ProofCodes {
    proofs: Proofs,
    keys: MacKeys,
}

impl ProofCodes {
    /// Proofs kept in `proofs`, authenticated with `keys`.
    pub fn new(proofs: Proofs, keys: MacKeys) -> Self {
        Self { proofs, keys }
    }

    /// Asks for a proof by a code that is to be mailed to an address. One KMS call, then one write.
    pub async fn issue(
        &self,
        artist: ArtistId,
        proven: &ProvenAct,
        email: &Email,
        now: Duration,
    ) -> Result<(ProofId, OneTimeCode), SignInError> {
        let (id, code, email_hash) = (ProofId::random(), OneTimeCode::random()?, email.fingerprint());
        let challenge = ProofChallenge::Email { email_hash: email_hash.clone(), mac: String::new() };
        let proof = StoredProof::new(artist, proven, challenge, now);
        let mac = self.keys.generate(self.keys.first(), &message(&proof, &email_hash, &code)).await?;
        let challenge = ProofChallenge::Email { email_hash, mac: alloy::hex::encode(mac) };
        self.proofs.put(id, &StoredProof { challenge, ..proof }).await?;
        Ok((id, code))
    }

    /// Whether it is the proof's code. Up to one KMS call for each key.
    pub async fn is_right(
        &self,
        proof: &StoredProof,
        email_hash: &str,
        mac: &str,
        code: &OneTimeCode,
    ) -> Result<bool, KmsError> {
        let mac = alloy::hex::decode(mac).unwrap_or_default();
        self.keys.verify(&message(proof, email_hash, code), &mac).await
    }
}

/// The authenticated text: parts with their lengths, after words that no sign-in code's begins with.
fn message(proof: &StoredProof, email_hash: &str, code: &OneTimeCode) -> Vec<u8> {
    let (act, artist, issued_at) = (proof.act.to_string(), proof.artist_id.to_string(), proof.issued_at.to_string());
    let mut message = b"proof\0".to_vec();
    for part in [&*act, &*artist, &*proof.subject, email_hash, code.reveal(), &*issued_at] {
        message.extend(u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
        message.extend(part.as_bytes());
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::PasskeyId;

    #[test]
    fn each_part_is_authenticated_apart() {
        let (artist, now) = (ArtistId::random(), Duration::from_secs(1_000));
        let code: OneTimeCode = "123456".parse().unwrap();
        let other: OneTimeCode = "123457".parse().unwrap();
        let proof = |artist, proven: &ProvenAct, now| {
            let challenge = ProofChallenge::Email { email_hash: String::new(), mac: String::new() };
            StoredProof::new(artist, proven, challenge, now)
        };
        let passkey = PasskeyId::of(b"one");
        let (removal, keeping) = (ProvenAct::RemovePasskey(passkey.clone()), ProvenAct::KeepPasskey(passkey));
        let of = |proof: &StoredProof, hash: &str, code: &OneTimeCode| message(proof, hash, code);
        let right = proof(artist, &removal, now);
        let moved = StoredProof { subject: format!("{}a", right.subject), ..right.clone() };
        let messages = [
            of(&right, "ab", &code),
            of(&right, "ab", &other),
            of(&right, "b", &code),
            of(&moved, "b", &code),
            of(&proof(ArtistId::random(), &removal, now), "ab", &code),
            of(&proof(artist, &keeping, now), "ab", &code),
            of(&proof(artist, &removal, now + Duration::from_millis(1)), "ab", &code),
        ];
        for (index, message) in messages.iter().enumerate() {
            assert!(!messages[..index].contains(message), "{index}");
        }
    }
}
