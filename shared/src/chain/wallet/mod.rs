//! Safes: artists' accounts, the operator Safe that owns them, its owners, the lanes; contract signatures.

mod call;
pub mod erc1271;
mod execution;
mod lanes;
mod operator;
mod proxy;
mod safe;
mod signer;

pub(crate) use self::call::{PACKED_HEAD, combined};
pub use self::{
    call::{Call, CallKind, MULTI_SEND_CALL_ONLY, batch, unbatch},
    execution::{approved_by_sender, capped_execution, execution},
    lanes::Lanes,
    operator::OperatorAccount,
    proxy::{FALLBACK_HANDLER, OPERATOR_SINGLETON, PROXY_FACTORY, SINGLETON},
    safe::EmbeddedWallet,
    signer::{LaneSigner, LaneSigners, SignerError},
};
