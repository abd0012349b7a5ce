//! The relay packs artists' queued transactions into transactions of lanes, signs them, sends them and stores their
//! outcomes. On each chain one process leads. It stores each decision before it acts, so that another process can take over.

mod chain;
mod fleet;
mod leader;
mod order;
mod outcome;
mod pack;
mod submit;
mod vitals;
mod wake;
mod watch;

use std::time::Instant;

use futures::future::join_all;
use serde::Serialize;
use shared::{
    chain::{
        Chains,
        node::{Node, NodeError, NodeUrls},
        transaction::Policy,
        wallet::{LaneSigners, OperatorAccount, SignerError},
    },
    config,
    http::StartError,
    model::ChainId,
    store::{
        StoreError,
        artist::{ArtistTable, Transactions},
    },
    telemetry,
};
use uuid::Uuid;

pub use crate::{chain::ChainRelay, wake::Wake};

/// Why the relay stopped on a chain. What it had begun is stored.
#[derive(Debug, thiserror::Error)]
pub enum RelayError {
    /// Storage failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// No node answered.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// A lane didn't sign.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// A lane didn't sign.
    #[error(transparent)]
    Signature(#[from] alloy::signers::Error),
    /// A node answers for another chain.
    #[error("a node of chain {0} answers for another chain")]
    WrongChain(ChainId),
    /// Stored bytes aren't a transaction.
    #[error("stored bytes of {0} are no transaction")]
    Bytes(alloy::primitives::B256),
    /// The clock is set before 1970.
    #[error(transparent)]
    Clock(#[from] std::time::SystemTimeError),
    /// Another process leads.
    #[error("another process leads")]
    LostLead,
}

/// Fails if a write was refused because another process leads.
fn still_leads(written: bool) -> Result<(), RelayError> {
    if written { Ok(()) } else { Err(RelayError::LostLead) }
}

/// What was done on a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The chain.
    pub chain_id: ChainId,
    /// Batches sent.
    pub batches: usize,
    /// Transactions in them.
    pub transactions: usize,
    /// Transactions that ended.
    pub ended: usize,
    /// Batches replaced by one with higher fees.
    pub bumped: usize,
    /// Signatures made.
    pub signatures: usize,
}

impl Report {
    fn of(chain_id: ChainId) -> Self {
        Self { chain_id, batches: 0, transactions: 0, ended: 0, bumped: 0, signatures: 0 }
    }
}

/// Relays on all chains.
pub struct Relay {
    chains: Vec<ChainRelay>,
}

impl Relay {
    /// Reads `CHAINS`, `RPC_URLS`, `ARTIST_TABLE`, `OPERATOR_SAFE`, `OPERATOR_LANES`, `OPERATOR_LANE_KEYS` and the limits
    /// of [`Policy`].
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (signers, policy, urls) = (LaneSigners::from_env(&aws)?, Policy::from_env()?, NodeUrls::from_env()?);
        let (transactions, operator) = (Transactions::new(ArtistTable::from_env(&aws)?), OperatorAccount::from_env()?);
        let holder = Uuid::new_v4().to_string();
        let relay = |chain: &shared::chain::Chain| {
            Ok::<_, StartError>(ChainRelay {
                chain: chain.clone(),
                node: Node::with_timeout(&urls, chain.id, chain::NODE_TIMEOUT)?,
                signers: signers.clone(),
                policy: policy.clone(),
                operator,
                transactions: transactions.clone(),
                holder: holder.clone(),
                loyalty: chain::LOYALTY,
            })
        };
        // A chain that is only read may have no nodes.
        let chains = Chains::from_env()?;
        let chains = chains.iter().filter(|chain| urls.names(chain.id)).map(relay).collect::<Result<_, _>>()?;
        Ok(Self { chains })
    }

    /// Relays on the chains that `wake` concerns until there is nothing more to do, or `until`.
    ///
    /// # Errors
    /// The last failure; the other chains are served all the same.
    pub async fn run(&self, wake: &Wake, until: Instant) -> Result<Vec<Report>, RelayError> {
        let concerned = self.chains.iter().filter(|relay| wake.concerns(relay.chain.id));
        let runs = concerned.map(|relay| async move {
            relay.run(until).await.inspect_err(|error| {
                tracing::error!(chain.id = relay.chain.id.0, error = telemetry::chain(error), "relay stopped");
            })
        });
        join_all(runs).await.into_iter().collect()
    }
}
