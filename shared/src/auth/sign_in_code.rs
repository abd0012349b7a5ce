//! Sign-in by a code that is mailed. A code is kept only as a KMS HMAC over the address, the code and the time of issue:
//! whoever reads the table can't sign in, nor test a guess.

use std::time::Duration;

use crate::{
    kms::{KmsError, MacKey},
    model::{Email, OneTimeCode},
    store::{Codes, StoreError, StoredCode},
};

/// Issuing or checking a code failed; a wrong code is no failure.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// KMS failed.
    #[error(transparent)]
    Kms(#[from] KmsError),
    /// The operating system has no randomness.
    #[error("randomness")]
    Random(#[from] getrandom::Error),
}

/// Issues codes and checks them.
#[derive(Clone)]
pub struct SignInCodes {
    codes: Codes,
    key: MacKey,
}

/// A code that is out: what withdraws it, or uses it up.
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

    /// Issues a code for an address, in place of any earlier one. One KMS call and one write.
    ///
    /// # Errors
    /// When KMS or storage fails; there is then no new code.
    pub async fn issue(&self, email: &Email, now: Duration) -> Result<(OneTimeCode, IssuedCode), SignInError> {
        let code = OneTimeCode::random()?;
        let issued_at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let mac = self.key.generate(&message(email, &code, issued_at)).await?;
        let expires_at = (now + OneTimeCode::LIFETIME).as_secs();
        let stored = StoredCode { mac: alloy::hex::encode(mac), issued_at, expires_at, tries: 0 };
        self.codes.put(email, &stored).await?;
        Ok((code, IssuedCode { email: email.clone(), stored }))
    }

    /// Counts a try and gives the code that is out for the address, if that is it. One write and one KMS call, whether
    /// there is a code or not, so that the time taken tells nothing.
    ///
    /// # Errors
    /// When storage or KMS fails.
    pub async fn check(
        &self,
        email: &Email,
        code: &OneTimeCode,
        now: Duration,
    ) -> Result<Option<IssuedCode>, SignInError> {
        let stored = self.codes.count_try(email, now.as_secs()).await?;
        let (issued_at, mac) = match &stored {
            Some(stored) => (stored.issued_at, alloy::hex::decode(&stored.mac).unwrap_or_default()),
            None => (0, vec![0; 32]),
        };
        let right = self.key.verify(&message(email, code, issued_at), &mac).await?;
        Ok(stored.filter(|_| right).map(|stored| IssuedCode { email: email.clone(), stored }))
    }

    /// Takes a code out of use. `false` when it was used or superseded meanwhile: of two who bring the same code, one
    /// gets `true`. One write.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn withdraw(&self, issued: &IssuedCode) -> Result<bool, SignInError> {
        Ok(self.codes.remove(&issued.email, &issued.stored).await?)
    }
}

/// What is authenticated. No part can hold the line break that parts them.
fn message(email: &Email, code: &OneTimeCode, issued_at: u64) -> Vec<u8> {
    format!("{email}\n{}\n{issued_at}", code.reveal()).into_bytes()
}
