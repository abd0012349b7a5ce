//! `GET /splits/{network}/{address}`: the recipients of a split, and what waits for them.

use std::time::Duration;

use shared::{
    api::{error::no_split, read::FeeRecipientView},
    auth::client_limit::ClientLimit,
    chain::{
        ServedChains,
        node::{Node, NodeError},
        protocol::currency::Currency,
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, Amount, CaipNetwork},
    store::{
        chain::{ChainTable, Moments},
        secret::SecretTable,
    },
};
use splits::read_split::{ReadSplitResponse, SplitPath, WaitingAmount};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadSplit>().await
}

struct ReadSplit {
    moments: Moments,
    reads: ClientLimit,
    chains: ServedChains,
}

impl Endpoint for ReadSplit {
    async fn from_env() -> Result<Self, StartError> {
        const MINUTE: Duration = Duration::from_secs(60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::WALLET_READS_PER_CLIENT_MINUTELY)?);
        Ok(Self {
            moments: Moments::new(ChainTable::from_env(&aws)?.eventually_consistent()),
            reads: ClientLimit::new(SecretTable::from_env(&aws)?, "wallet", most, MINUTE),
            chains: ServedChains::from_env()?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SplitPath { network: CaipNetwork(chain_id), address } = request.path_parameters().read_for(&self.chains)?;
        self.reads.admit(request, clock::now()?).await?;
        let (chain, node) = self.chains.get(chain_id).map_err(ApiError::internal)?;
        let recipients = self.moments.split(chain_id, address).await?;
        let recipients = recipients.ok_or_else(|| no_split(address))?.iter().map(FeeRecipientView::of).collect();
        let waiting = chain.currencies().map(|currency| read_waiting(currency, node, address));
        let waiting = futures::future::try_join_all(waiting).await?;
        Response::json(&ReadSplitResponse { address, chain_id, recipients, waiting })
    }
}

/// What waits in a split in one currency. One call to the chain.
async fn read_waiting(currency: Currency, node: &Node, split: Address) -> Result<WaitingAmount, NodeError> {
    let Currency { symbol, decimals, contract } = currency;
    let amount = Amount(currency.balance(node, split.into()).await?);
    Ok(WaitingAmount { currency: contract.unwrap_or_default().into(), symbol, decimals, amount })
}
