//! Who a caller is, and how often they may ask.

pub mod api_key;
pub mod caller;
pub mod rate_limit;
pub mod sign_in_code;
pub mod token;
pub mod wallet_proof;
