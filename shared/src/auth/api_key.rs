//! API keys: a prefix, 32 random base62 characters and a checksum of 6. The checksum refuses a mistyped key before any
//! read, and lets scanners for leaked secrets recognise a key for certain. Only the hash is stored.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use sha2::{Digest, Sha256};

use super::{key_log::KeyLog, token::bearer};
use crate::{
    config::{self, ConfigError},
    http::{ApiError, Principal, Request},
    model::{ArtistId, DailySpend, KeyId, Scope},
    store::secret::{ApiKeys, KeyOwner, KeyRequests, SecretTable},
};

/// Prefix of every key. It must never change: clients, secret scanners and stored keys rely on it.
pub const PREFIX: &str = "moments_";

const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const RANDOM_CHARACTERS: usize = 32;
const CHECKSUM_CHARACTERS: usize = 6;

/// An API key in plain text. Shown once, never stored, never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct PlainKey(String);

/// SHA-256 of a key in hexadecimal digits, as it is stored. A key is random, so a slow hash would protect nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HashedKey(String);

impl PlainKey {
    /// A new key from the operating system's randomness.
    pub fn random() -> Result<Self, getrandom::Error> {
        let mut characters = String::with_capacity(RANDOM_CHARACTERS);
        while characters.len() < RANDOM_CHARACTERS {
            let mut bytes = [0; RANDOM_CHARACTERS];
            getrandom::fill(&mut bytes)?;
            // Bytes past the last whole alphabet would bias the remainder.
            let fair = bytes.iter().map(|&byte| usize::from(byte)).filter(|&byte| byte < 256 - 256 % ALPHABET.len());
            let missing = RANDOM_CHARACTERS - characters.len();
            characters.extend(fair.take(missing).map(|byte| char::from(ALPHABET[byte % ALPHABET.len()])));
        }
        let checksum = checksum(&characters);
        Ok(Self(format!("{PREFIX}{characters}{checksum}")))
    }

    /// Parses a key from a request; `None` on a wrong prefix, length or checksum.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(PREFIX)?;
        let (characters, sum) = rest.split_at_checked(RANDOM_CHARACTERS)?;
        (sum == checksum(characters)).then(|| Self(text.to_owned()))
    }

    /// The plain key, for the one answer that shows it.
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The prefix and 4 characters, by which the owner recognises the key.
    pub fn shown_prefix(&self) -> &str {
        &self.0[..PREFIX.len() + 4]
    }

    /// The hash to store or look up.
    pub fn hash(&self) -> HashedKey {
        HashedKey(alloy::hex::encode(Sha256::digest(&self.0)))
    }
}

impl HashedKey {
    /// The hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for PlainKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PlainKey(…)")
    }
}

/// Who acts: an artist, in person or through a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The artist.
    pub artist: ArtistId,
    /// What the request brings.
    pub credential: Credential,
    /// Whether a suspended artist may make the request.
    pub even_suspended: bool,
}

/// What a request is authenticated by, and so how much it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// A token of a recent sign-in.
    FreshToken,
    /// An older token: it may be stolen, so it spends no more in a day than a key and gives no permission away.
    OldToken,
    /// An API key.
    Key(KeyInUse),
}

impl Credential {
    /// Reads `KEY_DAILY_WEI` (0.01 ETH) and `KEY_DAILY_USDC` (25 USDC): what a key may spend in a day unless its artist
    /// says otherwise, and an old token always.
    pub fn daily_spend() -> Result<DailySpend, ConfigError> {
        Ok(DailySpend {
            eth: config::parsed(config::variables::KEY_DAILY_WEI)?,
            usdc: config::parsed(config::variables::KEY_DAILY_USDC)?,
        })
    }
}

impl Caller {
    /// The same of a request that a suspended artist may make.
    #[must_use]
    pub fn even_suspended(self) -> Self {
        Self { even_suspended: true, ..self }
    }

    /// Requires an API key or a token of a recent sign-in; 401 that asks for one otherwise (RFC 9470).
    pub fn require_fresh(&self) -> Result<(), ApiError> {
        if self.credential == Credential::OldToken { Err(ApiError::stale_sign_in()) } else { Ok(()) }
    }
}

/// The key that a request brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyInUse {
    /// Its id.
    pub id: KeyId,
    /// Most that it may spend in a day.
    pub daily_spend: DailySpend,
}

/// The key that `Authorization: Bearer` has in the place of a token or, without that header, the one in `x-api-key`.
pub(super) fn sent_key(request: &Request) -> Option<&str> {
    match request.header("authorization") {
        Some(_) => bearer(request).filter(|text| text.starts_with(PREFIX)),
        None => request.header("x-api-key"),
    }
}

/// Authenticates requests by API key.
#[derive(Clone)]
pub struct KeyAuthenticator {
    keys: ApiKeys,
    log: KeyLog,
    /// When this process noted a key's use last, in Unix seconds.
    noted: Arc<Mutex<HashMap<String, u64>>>,
}

impl KeyAuthenticator {
    /// An authenticator for the stored keys.
    pub fn new(secrets: SecretTable) -> Self {
        let log = KeyLog::new(KeyRequests::new(secrets.clone()));
        Self { keys: ApiKeys::new(secrets), log, noted: Arc::default() }
    }

    /// The key that the request brings, and its owner; 401 unless it is a live key, 403 if it lacks the scope. One read,
    /// none for a text that can't be a key; one write a minute and process to note the key's use,
    /// and one when the request is answered.
    pub async fn authenticate(
        &self,
        request: &Request,
        scope: Option<Scope>,
        now: Duration,
    ) -> Result<KeyOwner, ApiError> {
        let text =
            sent_key(request).ok_or_else(|| ApiError::unauthorized_key("Send an API key in the x-api-key header"))?;
        let wrong = || ApiError::unauthorized_key("The API key is wrong or revoked");
        let hash = PlainKey::parse(text).ok_or_else(wrong)?.hash();
        let owner = self.keys.owner(hash.as_str()).await?.ok_or_else(wrong)?;
        if owner.grant.valid_until.is_some_and(|end| end <= now.as_secs()) {
            return Err(ApiError::unauthorized_key("The API key has expired: make a new one"));
        }
        request.note_principal(Principal { artist: Some(owner.artist_id), key: Some(owner.id), scope });
        request.note_answer_in(self.log.of(&owner));
        if self.is_to_be_noted(&hash, now.as_secs()) {
            self.keys.note_use(&owner, now.as_secs()).await?;
        }
        if let Some(scope) = scope.filter(|scope| !owner.grant.scopes.contains(scope)) {
            let words = format!("This API key lacks the scope {}: make one that has it", scope.word());
            return Err(ApiError::forbidden(words));
        }
        Ok(owner)
    }

    fn is_to_be_noted(&self, hash: &HashedKey, now: u64) -> bool {
        const NOTED_EVERY: u64 = 60;
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.retain(|_, at| *at + NOTED_EVERY > now);
        if noted.contains_key(hash.as_str()) {
            return false;
        }
        noted.insert(hash.as_str().to_owned(), now);
        true
    }
}

fn checksum(characters: &str) -> String {
    let mut rest = crc32fast::hash(characters.as_bytes()) as usize;
    let mut digits = [0; CHECKSUM_CHARACTERS];
    for digit in digits.iter_mut().rev() {
        *digit = ALPHABET[rest % ALPHABET.len()];
        rest /= ALPHABET.len();
    }
    digits.map(char::from).iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_key_has_its_parts_and_parses() {
        let key = PlainKey::random().unwrap();
        assert_eq!(key.reveal().len(), PREFIX.len() + 38);
        assert_eq!(PlainKey::parse(key.reveal()), Some(key.clone()));
        assert!(key.reveal().starts_with(key.shown_prefix()));
        assert_eq!(key.hash().as_str().len(), 64);
        assert_eq!(format!("{key:?}"), "PlainKey(…)");
        assert_ne!(key, PlainKey::random().unwrap());
    }

    #[test]
    fn one_wrong_character_anywhere_is_refused() {
        let key = PlainKey::random().unwrap();
        for position in 0..key.reveal().len() {
            let mut wrong = key.reveal().to_owned().into_bytes();
            wrong[position] = if wrong[position] == b'x' { b'y' } else { b'x' };
            assert_eq!(PlainKey::parse(std::str::from_utf8(&wrong).unwrap()), None, "at {position}");
        }
        for text in ["", PREFIX, &key.reveal()[..45], &format!("{}0", key.reveal()), "moments_é"] {
            assert_eq!(PlainKey::parse(text), None, "{text:?} was accepted");
        }
    }

    #[test]
    fn the_checksum_is_crc_32_in_base62() {
        // CRC-32's standard check value, 0xCBF43926.
        assert_eq!(checksum("123456789"), "3jZRME");
    }
}
