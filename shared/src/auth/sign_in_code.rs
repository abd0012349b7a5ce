//! Mailed sign-in codes and links. A code is stored as a KMS HMAC over address, code and time: the table is no use for
//! testing a guess. A link is 128 random bits, of which a hash is enough.

use std::time::Duration;

use futures::future::try_join_all;

use crate::{
    kms::{KmsError, MacKeys},
    model::{DeviceId, Email, Nonce, OneTimeCode, SignInLink},
    store::{
        StoreError,
        secret::{CodeHolder, Codes, StoredCode, StoredLink},
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
    keys: MacKeys,
}

/// What is mailed, and what is stored of it.
#[derive(Debug)]
pub struct Issued {
    /// The code, unless only a link is mailed.
    pub code: Option<OneTimeCode>,
    /// The link.
    pub link: SignInLink,
    stored: StoredLink,
}

/// What a try was compared with.
#[derive(Debug)]
pub struct CheckedCode {
    /// The code that matches.
    pub matching: Option<StoredCode>,
    /// Number of codes that it was compared with.
    pub compared: u32,
}

impl SignInCodes {
    /// Codes kept in `codes`, authenticated with `keys`.
    pub fn new(codes: Codes, keys: MacKeys) -> Self {
        Self { codes, keys }
    }

    /// Issues a link for an address and, if there is a holder, a code in place of an earlier one of theirs. One KMS call,
    /// then up to three writes at once.
    pub async fn issue(&self, email: &Email, holder: Option<CodeHolder>, now: Duration) -> Result<Issued, SignInError> {
        let link = SignInLink::random(email)?;
        let mut stored =
            StoredLink { email: email.clone(), expires_at: (now + SignInLink::LIFETIME).as_secs(), code: None };
        let mut code = None;
        if let Some(holder) = holder {
            let (random, of_code) = self.new_code(email, holder, link.hash(), now).await?;
            stored.code = Some(of_code);
            code = Some(random);
        }
        self.codes.put(email, &link, &stored).await?;
        Ok(Issued { code, link, stored })
    }

    async fn new_code(
        &self,
        email: &Email,
        holder: CodeHolder,
        link: String,
        now: Duration,
    ) -> Result<(OneTimeCode, StoredCode), SignInError> {
        let code = OneTimeCode::random()?;
        let issued_at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let mac = alloy::hex::encode(self.keys.generate(self.keys.first(), &message(email, &code, issued_at)).await?);
        let expires_at = (now + OneTimeCode::LIFETIME).as_secs();
        Ok((code, StoredCode { mac, issued_at, expires_at, tries: 0, holder, link: Some(link) }))
    }

    /// Counts a try and compares `code` with the holder's and the address's newest. Up to two writes, then up to two KMS
    /// calls for each key, at least one of each: timing doesn't tell whether there is a code.
    pub async fn check(
        &self,
        email: &Email,
        code: &OneTimeCode,
        holder: &CodeHolder,
        now: Duration,
    ) -> Result<CheckedCode, SignInError> {
        let found = self.codes.count_try(email, holder, now.as_secs()).await?;
        let compare = async |issued_at, mac: Vec<u8>| self.keys.verify(&message(email, code, issued_at), &mac).await;
        if found.is_empty() {
            compare(0, vec![0; 32]).await?;
        }
        let macs = found.iter().map(|stored| (stored.issued_at, alloy::hex::decode(&stored.mac).unwrap_or_default()));
        let is_right = try_join_all(macs.map(|(issued_at, mac)| compare(issued_at, mac))).await?;
        let compared = u32::try_from(found.len()).unwrap_or(u32::MAX);
        let matching = found.into_iter().zip(is_right).find_map(|(stored, is_right)| is_right.then_some(stored));
        Ok(CheckedCode { matching, compared })
    }

    /// Uses up a code, and the link of its mail. `false` if it was used or replaced meanwhile: one mail signs in only once.
    pub async fn use_code(&self, email: &Email, code: &StoredCode) -> Result<bool, SignInError> {
        Ok(self.codes.remove(email, code).await?)
    }

    /// Takes back what couldn't be mailed.
    pub async fn withdraw(&self, issued: &Issued) -> Result<(), SignInError> {
        self.codes.remove_link(&issued.link, &issued.stored).await?;
        Ok(())
    }
}

/// Who asks for a code or tries one: whoever has the nonce, the known device, or the client with this hash.
pub fn holder(nonce: Option<&Nonce>, device: Option<&DeviceId>, client: &str) -> CodeHolder {
    match (nonce, device) {
        (Some(nonce), _) => CodeHolder::Nonce(nonce.hash()),
        (None, Some(device)) => CodeHolder::Device(device.clone()),
        (None, None) => CodeHolder::Client(client.to_owned()),
    }
}

/// The authenticated text. No part can contain the line break that separates them.
fn message(email: &Email, code: &OneTimeCode, issued_at: u64) -> Vec<u8> {
    format!("{email}\n{}\n{issued_at}", code.reveal()).into_bytes()
}
