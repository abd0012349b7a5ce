//! Support for the end-to-end tests: the running stack, signed-in artists, and responses that are easy to check.

mod answer;
mod artist;
mod claim;
mod database_proxy;
pub mod history;
mod list;
mod passkey;
mod patience;
mod places;
mod prepared;
mod published;
mod python;
mod reading;
mod restoration;
mod rpc_proxy;
mod sandbox;
mod stack;
mod test_chain;
mod wallet;
mod window;
mod write;

pub use answer::Answer;
pub use artist::{SignedIn, another_code, token_part, unused_email};
pub use claim::ClaimLink;
pub use database_proxy::DatabaseProxy;
pub use local::recorder::{Call, Recorder};
pub use passkey::ceremony_of;
pub use patience::eventually;
pub use places::{ELSEWHERE, PLACES, Place, Shown};
pub use prepared::{PNG, picture, split_among};
pub use published::{GivenUri, Published, given_uris};
pub use python::python;
pub use reading::{document, fields};
pub use restoration::{restore, restored_table};
pub use rpc_proxy::RpcProxy;
pub use sandbox::{Sandbox, empty_tables};
pub use stack::Stack;
pub use test_chain::TestChain;
pub use wallet::{UndeployedSafe, personal_sign, safe_of, sign_as_safe};
pub use window::{DAY, HOUR, MINUTE, unused_address, unused_network, window_now, within_one_day, within_one_window};
pub use write::{Collector, Writer};

/// Any error of a test.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
