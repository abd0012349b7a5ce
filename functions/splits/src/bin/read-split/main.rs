//! `GET /splits/{network}/{address}`: the recipients of a split, and what waits for them.

use std::time::Duration;

use alloy::primitives::U256;
use futures::{
    TryFutureExt,
    future::{try_join, try_join_all},
};
use shared::{
    api::{error::no_split, prepare::PreparedCall, read::FeeRecipientView},
    auth::client_limit::ClientLimit,
    chain::{ServedChains, protocol::currency::Currency},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, CaipNetwork},
    store::{
        chain::{ChainTable, Moments},
        secret::SecretTable,
    },
};
use splits::{
    payout::Payable,
    read_split::{ReadSplitResponse, SplitPath, WaitingAmount},
};

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
            chains: ServedChains::from_env(&aws).await?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SplitPath { network: CaipNetwork(chain_id), address } = request.path_parameters().read_for(&self.chains)?;
        self.reads.admit(request, clock::now()?).await?;
        let (chain, node) = self.chains.get(chain_id).map_err(ApiError::internal)?;
        let recipients = self.moments.split(chain_id, address).await?.ok_or_else(|| no_split(address))?;
        let currencies = chain.currencies();
        let amounts = currencies.iter().map(|currency| currency.balance(node, address.into()).err_into::<ApiError>());
        let (payable, amounts) =
            try_join(Payable::at(address, &recipients, (chain, node)), try_join_all(amounts)).await?;
        let waiting = currencies.iter().zip(amounts);
        let payout = |(currency, amount): (&Currency, U256)| payable.as_ref()?.payout(currency, amount, Address::ZERO);
        Response::json(&ReadSplitResponse {
            address,
            chain_id,
            recipients: recipients.iter().map(FeeRecipientView::of).collect(),
            payout: waiting.clone().filter_map(payout).map(|call| PreparedCall::from(&call)).collect(),
            waiting: waiting.map(|(currency, amount)| WaitingAmount::of(*currency, amount)).collect(),
        })
    }
}
