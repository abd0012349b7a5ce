//! `GET /splits/{network}/{address}`: the recipients of a split, and what waits for them.

#[cfg(test)]
mod description;

use std::time::Duration;

use serde::Serialize;
use shared::{
    api::read::FeeRecipientView,
    auth::client_limit::ClientLimit,
    chain::{
        Chain, Chains,
        node::{Node, NodeError, NodeUrls},
        protocol::currency::Currency,
    },
    clock, config,
    http::{AllowedChains, ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{Address, Amount, CaipNetwork, ChainId, Invalid},
    store::{
        chain::{ChainTable, Moments},
        secret::SecretTable,
    },
};
use utoipa::{IntoParams, ToSchema};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadSplit>().await
}

struct ReadSplit {
    moments: Moments,
    reads: ClientLimit,
    chains: Vec<(Chain, Node)>,
}

/// A split in a path.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
struct SplitPath {
    /// The split's chain.
    network: CaipNetwork,
    /// Its contract.
    address: Address,
}

/// A split.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReadSplitResponse {
    address: Address,
    chain_id: ChainId,
    recipients: Vec<FeeRecipientView>,
    /// What the next payout divides, in each supported currency, the chain's own first.
    waiting: Vec<WaitingAmount>,
}

/// What waits in a split in one currency.
#[derive(Serialize, ToSchema)]
struct WaitingAmount {
    /// The currency's contract; the zero address for the chain's own.
    currency: Address,
    /// Currency symbol.
    symbol: &'static str,
    /// Decimals of `amount`.
    decimals: u8,
    /// In the smallest unit.
    amount: Amount,
}

impl ReadSplit {
    fn chain(&self, id: ChainId) -> Result<&(Chain, Node), Invalid> {
        let chain = self.chains.iter().find(|(chain, _)| chain.id == id);
        chain.ok_or(Invalid("is not a chain that this service is configured for"))
    }
}

impl AllowedChains for ReadSplit {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.chain(chain).map(drop)
    }
}

impl Endpoint for ReadSplit {
    async fn from_env() -> Result<Self, StartError> {
        const MINUTE: Duration = Duration::from_secs(60);
        let (urls, chains) = (NodeUrls::from_env()?, Chains::from_env()?);
        let with_node = |chain: &Chain| Ok((chain.clone(), Node::for_requests(&urls, chain.id)?));
        let chains = chains.iter().filter(|chain| urls.names(chain.id)).map(with_node);
        let (aws, most) = (config::aws().await, config::parsed_or("WALLET_READS_PER_CLIENT_MINUTELY", "120")?);
        Ok(Self {
            moments: Moments::new(ChainTable::from_env(&aws)?.eventually_consistent()),
            reads: ClientLimit::new(SecretTable::from_env(&aws)?, "wallet", most, MINUTE),
            chains: chains.collect::<Result<_, NodeError>>()?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SplitPath { network: CaipNetwork(chain_id), address } = request.path_parameters().read_for(self)?;
        self.reads.admit(request, clock::now()?).await?;
        let (chain, node) = self.chain(chain_id).map_err(ApiError::internal)?;
        let recipients = self.moments.split(chain_id, address).await?;
        let recipients = recipients
            .ok_or_else(|| ApiError::not_found(format!("There is no split at {address} on chain {chain_id}")))?;
        let recipients = recipients.iter().map(FeeRecipientView::of).collect();
        let waiting = chain.currencies().map(|currency| WaitingAmount::read(currency, node, address));
        let waiting = futures::future::try_join_all(waiting).await?;
        Response::json(&ReadSplitResponse { address, chain_id, recipients, waiting })
    }
}

impl WaitingAmount {
    async fn read(currency: Currency, node: &Node, split: Address) -> Result<Self, NodeError> {
        let Currency { symbol, decimals, contract } = currency;
        let amount = Amount(currency.balance(node, split.into()).await?);
        Ok(Self { currency: contract.unwrap_or_default().into(), symbol, decimals, amount })
    }
}
