//! The secret table: hashes of keys and codes, sign-ins, and rate limits. It is never exported.

pub(super) mod api_keys;
pub(super) mod challenges;
pub(super) mod codes;
pub(super) mod devices;
pub(super) mod failed_codes;
pub(super) mod key_requests;
pub(super) mod passkeys;
pub(super) mod proofs;
pub(super) mod rate_windows;
pub(super) mod request_counts;
pub(super) mod rows;
pub(super) mod sessions;
pub(super) mod stopped_mails;
pub(super) mod waits;

pub use self::rows::ROWS;
pub use self::{
    api_keys::{ApiKeys, KeyGrant, KeyOwner, KeyRecord, MAX_KEYS},
    challenges::{CHALLENGE_LIFETIME, Challenges, StoredChallenge},
    codes::{CodeHolder, Codes, StoredCode, StoredLink},
    devices::{Device, DeviceFields, Devices},
    failed_codes::{FailedCodes, MAX_FAILED_CODES, SignInHistory},
    key_requests::{KeyRequest, KeyRequests},
    passkeys::{Ceremony, MAX_PASSKEYS, MarkedPasskey, PasskeyMark, Passkeys, StoredPasskey},
    proofs::{PROOF_LIFETIME, ProofChallenge, Proofs, StoredProof},
    rate_windows::{RateWindow, RateWindows},
    request_counts::RequestCounts,
    sessions::{Session, SessionState, Sessions},
    stopped_mails::StoppedMails,
    waits::{MAX_NETWORK_WAITS, MAX_PROVIDER_WAITS, MAX_WAITS, WaitPlace, Waits},
};
pub use super::engine::table::SecretTable;
