//! The secret table: hashes of keys and codes, sign-ins, and rate limits. It is never exported.

pub(super) mod api_keys;
pub(super) mod challenges;
pub(super) mod codes;
pub(super) mod failed_codes;
pub(super) mod rate_windows;
pub(super) mod request_counts;
pub(super) mod sessions;

pub use self::{
    api_keys::{ApiKeys, KeyGrant, KeyOwner, KeyRecord, MAX_KEYS},
    challenges::{CHALLENGE_LIFETIME, Challenges, StoredChallenge},
    codes::{CodeHolder, Codes, StoredCode},
    failed_codes::{FailedCodes, MAX_FAILED_CODES, SignInHistory},
    rate_windows::{RateWindow, RateWindows},
    request_counts::RequestCounts,
    sessions::Sessions,
};
pub use super::engine::table::SecretTable;
