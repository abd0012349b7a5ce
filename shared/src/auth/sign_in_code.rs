//! Mailed sign-in codes, stored as a KMS HMAC over address, code and time: the table is no use for testing a guess.

use std::time::Duration;

use crate::{
    kms::{KmsError, MacKey},
    model::{Email, Nonce, OneTimeCode},
    store::{
        StoreError,
        secret::{CodeHolder, Codes, StoredCode},
    },
};

/// Failure to issue or check a code. A wrong code is no error.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// KMS failed.
    #[error(transparent)]
    Kms(#[from] KmsError),
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness")]
    Random(#[from] getrandom::Error),
}

/// Issues codes and checks them.
#[derive(Clone)]
pub struct SignInCodes {
    codes: Codes,
    key: MacKey,
}

/// An issued code, for withdrawing it or using it up.
#[derive(Debug)]
pub struct IssuedCode {
    email: Email,
    stored: StoredCode,
}

impl SignInCodes {
    /// Codes kept in `codes`, authenticated with `key`.
    pub fn new(codes: Codes, key: MacKey) -> Self {
        Self { codes, key }
    }

    /// Issues a code for an address and its holder, in place of an earlier one of theirs. One KMS call and up to two writes.
    pub async fn issue(
        &self,
        email: &Email,
        holder: CodeHolder,
        now: Duration,
    ) -> Result<(OneTimeCode, IssuedCode), SignInError> {
        let code = OneTimeCode::random()?;
        let issued_at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let mac = self.key.generate(&message(email, &code, issued_at)).await?;
        let expires_at = (now + OneTimeCode::LIFETIME).as_secs();
        let stored = StoredCode { mac: alloy::hex::encode(mac), issued_at, expires_at, tries: 0, holder };
        self.codes.put(email, &stored).await?;
        Ok((code, IssuedCode { email: email.clone(), stored }))
    }

    /// Counts a try; the holder's code if `code` matches. Always one write and one KMS call: timing tells nothing.
    pub async fn check(
        &self,
        email: &Email,
        code: &OneTimeCode,
        holder: &CodeHolder,
        now: Duration,
    ) -> Result<Option<IssuedCode>, SignInError> {
        let stored = self.codes.count_try(email, holder, now.as_secs()).await?;
        let (issued_at, mac) = match &stored {
            Some(stored) => (stored.issued_at, alloy::hex::decode(&stored.mac).unwrap_or_default()),
            None => (0, vec![0; 32]),
        };
        let right = self.key.verify(&message(email, code, issued_at), &mac).await?;
        Ok(stored.filter(|_| right).map(|stored| IssuedCode { email: email.clone(), stored }))
    }

    /// Deletes a code. `false` if it was used or replaced meanwhile: one code signs in only once. One write.
    pub async fn withdraw(&self, issued: &IssuedCode) -> Result<bool, SignInError> {
        Ok(self.codes.remove(&issued.email, &issued.stored).await?)
    }
}

/// Who asks for a code or tries one: whoever has the nonce, or the client with this hash.
pub fn holder(nonce: Option<&Nonce>, client: &str) -> CodeHolder {
    nonce.map_or_else(|| CodeHolder::Client(client.to_owned()), |nonce| CodeHolder::Nonce(nonce.hash()))
}

/// The authenticated text. No part can contain the line break that separates them.
fn message(email: &Email, code: &OneTimeCode, issued_at: u64) -> Vec<u8> {
    format!("{email}\n{}\n{issued_at}", code.reveal()).into_bytes()
}
