//! The relay packs artists' queued transactions into transactions of lanes, signs them, sends them and stores their
//! outcomes. On each chain one process leads. It stores each decision before it acts, so that another process can take over.

mod assignment;
mod batch;
mod chain;
mod confirm;
mod doubt;
mod draft;
mod election;
mod error;
mod facts;
mod gathering;
mod lane;
mod leader;
mod leaving;
mod market;
mod metrics;
mod outcome;
mod overtaken;
mod packer;
mod reading;
mod report;
mod restored;
mod signed;
mod step;
mod suspicion;
mod tell;
mod trigger;
mod watch;
mod window;
mod words;

use std::time::Instant;

use futures::future::join_all;
use shared::{
    chain::{
        Chain, Chains,
        node::{Node, NodeUrls},
        protocol::provenance::Provenance,
        transaction::Policy,
        wallet::{LaneSigners, OperatorAccount},
    },
    config::{self, StartError},
    store::{
        artist::{ArtistTable, Artists, PayoutAddresses, Transactions},
        chain::ChainTable,
    },
    telemetry,
};
use uuid::Uuid;

pub use crate::{
    chain::{ChainRelay, Times},
    error::RelayError,
    report::Report,
    trigger::Trigger,
};

/// Relays on all chains.
pub struct Relay {
    chains: Vec<ChainRelay>,
}

impl Relay {
    /// Reads `CHAINS`, `RPC_URLS`, `ARTIST_TABLE`, `CHAIN_TABLE`, `OPERATOR_SAFE`, `OPERATOR_LANES`, `OPERATOR_LANE_KEYS`
    /// and the limits of [`Policy`].
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let (signers, policy, urls) =
            (LaneSigners::from_env(&aws)?, Policy::from_env()?, NodeUrls::from_env(&aws).await?);
        let (artists, operator) = (ArtistTable::from_env(&aws)?, OperatorAccount::from_env()?);
        let (transactions, payouts) = (Transactions::new(artists.clone()), PayoutAddresses::new(artists.clone()));
        let provenance = Provenance::new(ChainTable::from_env(&aws)?, artists.clone());
        let artists = Artists::new(artists);
        let holder = Uuid::new_v4().to_string();
        let relay = |chain: &Chain| {
            Ok::<_, StartError>(ChainRelay {
                chain: chain.clone(),
                node: Node::with_timeout(&urls, chain.id, chain::NODE_TIMEOUT)?,
                signers: signers.clone(),
                policy: policy.clone(),
                operator,
                transactions: transactions.clone(),
                artists: artists.clone(),
                payouts: payouts.clone(),
                provenance: provenance.clone(),
                holder: holder.clone(),
                times: Times::default(),
                window: chain::WINDOW,
            })
        };
        // A chain that is only read may have no nodes.
        let chains = Chains::from_env()?;
        let chains = chains.iter().filter(|chain| urls.names(chain.id)).map(relay).collect::<Result<_, _>>()?;
        Ok(Self { chains })
    }

    /// Relays on the chains that `trigger` concerns until there is nothing more to do, or `until`.
    ///
    /// # Errors
    /// The last failure; the other chains are served all the same.
    pub async fn run(&self, trigger: &Trigger, until: Instant) -> Result<Vec<Report>, RelayError> {
        let concerned = self.chains.iter().filter(|relay| trigger.concerns(relay.chain.id));
        let runs = concerned.map(|relay| async move {
            relay.run(until).await.inspect_err(|error| {
                let chain = relay.chain.id;
                tracing::error!(chain.id = chain.0, error = telemetry::chain(error), "relay of chain {chain} stopped");
            })
        });
        join_all(runs).await.into_iter().collect()
    }
}
