//! Authentication and rate limits. `from_env` fails when a variable that it reads is missing or invalid; other calls
//! fail when storage or KMS does.

pub mod api_key;
pub mod caller;
pub mod client_limit;
pub mod rate_limit;
pub mod service_address;
pub mod session;
pub mod sign_in_code;
pub mod token;
pub mod wallet_proof;
