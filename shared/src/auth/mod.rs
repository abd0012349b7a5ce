//! Authentication and rate limits. `from_env` fails on a missing or invalid variable, calls when storage or KMS do.

pub mod api_key;
pub mod caller;
pub mod client_limit;
pub mod credentials;
pub mod device_limit;
mod key_log;
pub mod mail_budget;
pub mod page_session;
pub mod proof_code;
pub mod rate_limit;
pub mod service_address;
pub mod session;
pub mod sign_in_code;
pub mod token;
pub mod total_limit;
pub mod wallet_proof;
pub mod webhook_secret;
