//! Artists' accounts (Safe), the operator lanes that own them, and contract signatures.

mod call;
pub mod erc1271;
mod lanes;
mod safe;
mod signer;

pub use self::{
    call::{Call, MULTI_SEND_CALL_ONLY, batch},
    lanes::Lanes,
    safe::{EmbeddedWallet, FALLBACK_HANDLER, PROXY_FACTORY, SINGLETON},
    signer::{LaneSigner, LaneSigners, SignerError},
};
