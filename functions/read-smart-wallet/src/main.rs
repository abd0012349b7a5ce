//! `GET /smartwallet`: what an artist's embedded wallet has.

#[cfg(test)]
mod description;

use serde::Serialize;
use shared::{
    chain::{
        Chain, Chains,
        currency::Currency,
        node::{Node, NodeError, NodeUrls},
    },
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, Amount, ChainId, Invalid},
    store::{Artists, Table},
    telemetry,
    writing::answer_node_error,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ReadSmartWallet::from_env().await?).await
}

struct ReadSmartWallet {
    artists: Artists,
    chains: Vec<(Chain, Node)>,
}

/// Whose balances are asked for, and where.
struct ReadSmartWalletQuery<'a> {
    /// `address`: the embedded wallet, or any other wallet of its artist.
    address: Address,
    /// `chainId`: 8453 unless given.
    chain: &'a (Chain, Node),
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReadSmartWalletResponse {
    /// The embedded wallet.
    address: Address,
    chain_id: ChainId,
    /// What it has of each currency that the service deals with, the chain's own first.
    balances: Vec<Balance>,
}

#[derive(Serialize, ToSchema)]
struct Balance {
    /// The currency's contract; the zero address for the chain's own.
    currency: Address,
    /// What people call it.
    symbol: &'static str,
    /// How many digits of `amount` are behind the point.
    decimals: u8,
    /// In the smallest unit.
    amount: Amount,
}

impl ReadSmartWallet {
    async fn from_env() -> Result<Self, StartError> {
        let urls = NodeUrls::from_env()?;
        let chains = Chains::from_env()?;
        let chains = chains.iter().filter(|chain| urls.names(chain.id));
        let with_node = |chain: &Chain| Ok((chain.clone(), Node::for_requests(&urls, chain.id)?));
        Ok(Self {
            artists: Artists::new(Table::artists(&config::aws().await)?),
            chains: chains.map(with_node).collect::<Result<_, NodeError>>()?,
        })
    }

    fn parse(&self, request: &Request) -> Result<ReadSmartWalletQuery<'_>, ApiError> {
        let mut query = request.query();
        let address = query.required("address");
        let chain = query.optional_number_or("chainId", ChainId::DEFAULT).and_then(|id| {
            let chain = self.chains.iter().find(|(chain, _)| chain.id == id);
            chain.or_else(|| {
                query.refuse("chainId", Invalid("is not a chain that this service is configured for"));
                None
            })
        });
        query.finish(|| Some(ReadSmartWalletQuery { address: address?, chain: chain? }))
    }
}

impl Endpoint for ReadSmartWallet {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadSmartWalletQuery { address, chain: (chain, node) } = self.parse(request)?;
        let profile = self.artists.profile_of(address).await?;
        let profile = profile.ok_or_else(|| ApiError::not_found(format!("{address} is no artist's wallet")))?;
        let wallet = profile.artist.embedded_wallet;
        let balances = chain.currencies().map(|currency| Balance::read(currency, node, wallet));
        let balances = futures::future::try_join_all(balances).await.map_err(answer_node_error)?;
        Response::json(&ReadSmartWalletResponse { address: wallet, chain_id: chain.id, balances })
    }
}

impl Balance {
    async fn read(currency: Currency, node: &Node, wallet: Address) -> Result<Self, NodeError> {
        let Currency { symbol, decimals, contract } = currency;
        let amount = Amount(currency.balance(node, wallet.into()).await?);
        Ok(Self { currency: contract.unwrap_or_default().into(), symbol, decimals, amount })
    }
}
