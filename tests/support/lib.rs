//! What the end-to-end tests share: the running stack, artists who sign in, and answers that are easy to check.

mod answer;
mod artist;
mod ground;
pub mod history;
mod published;
mod reading;
mod relay;
mod sandbox;
mod stack;
mod veil;
mod wallet;
mod write;

pub use answer::Answer;
pub use artist::{SignedIn, unused_email};
pub use ground::Ground;
pub use local::recorder::{Call, Recorder};
pub use published::Published;
pub use reading::{document, fields};
pub use relay::Relay;
pub use sandbox::{Sandbox, empty_tables};
pub use stack::Stack;
pub use veil::Veil;
pub use wallet::{personal_sign, safe_of, sign_as_safe};
pub use write::{Collector, Writer};

/// Whatever keeps a test from going on.
pub type Error = Box<dyn std::error::Error + Send + Sync>;
