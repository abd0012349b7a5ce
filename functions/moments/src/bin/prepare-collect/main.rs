//! `POST /moment/collect/prepare`: what a wallet of anybody sends to collect a moment.

use std::time::Duration;

use alloy::{primitives::U256, sol_types::SolCall};
use futures::future::try_join_all;
use moments::{
    prepare_collect::{PrepareCollectRequest, PrepareCollectResponse},
    purchase::{Collector, Purchase, ReleasePurchase, require_price},
};
use shared::{
    api::{error::no_moment, transact::Cost},
    auth::client_limit::ClientLimit,
    chain::{
        ServedChains,
        contracts::native::Erc20,
        node::NodeError,
        transaction::{PlanError, simulate_with_gas},
        wallet::Call,
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, MomentRef, Protocol},
    store::{
        chain::{ChainTable, Moments},
        secret::SecretTable,
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<PrepareCollect>().await
}

struct PrepareCollect {
    moments: Moments,
    chains: ServedChains,
    clients: ClientLimit,
}

impl Endpoint for PrepareCollect {
    async fn from_env() -> Result<Self, StartError> {
        const MINUTE: Duration = Duration::from_secs(60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::WALLET_READS_PER_CLIENT_MINUTELY)?);
        Ok(Self {
            moments: Moments::new(ChainTable::from_env(&aws)?.eventually_consistent()),
            chains: ServedChains::from_env()?,
            clients: ClientLimit::new(SecretTable::from_env(&aws)?, "prepare", most, MINUTE),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let order: PrepareCollectRequest = request.json()?.read_for(&self.chains)?;
        let PrepareCollectRequest { moment, amount, account, comment, max_price } = order;
        request.note_limits(&[self.clients.admit(request, clock::now()?).await?]);
        let CheckedAddress(account) = account;
        let account = account.into();
        let (chain, node) = self.chains.get(moment.chain).map_err(ApiError::internal)?;
        let by = Collector { chain, node, account };
        // Only what a known factory made: its index is what says so.
        let (costs, calls) = match self.protocol(&moment).await? {
            Protocol::Registry => {
                let purchase = ReleasePurchase::of(by, &moment, amount, &comment).await?;
                (vec![purchase.cost()], purchase.calls(by))
            }
            _ => {
                let purchase = Purchase::read(by, &moment, amount).await?;
                (purchase.costs(chain), purchase.calls(by, &comment))
            }
        };
        let cost = *costs.first().ok_or_else(|| ApiError::unprocessable("This moment can't be paid for"))?;
        require_price(cost, max_price)?;
        let calls = without_needless_approval(by, calls).await?;
        afford(by, &costs).await?;
        simulate_with_gas(node, account, &calls).await.map_err(PlanError::from)?;
        Response::json(&PrepareCollectResponse {
            chain_id: moment.chain,
            calls: calls.iter().map(Into::into).collect(),
            cost: cost.into(),
            fee: costs.get(1).filter(|fee| !fee.amount.is_zero()).map(|fee| (*fee).into()),
            simulated: true,
        })
    }
}

impl PrepareCollect {
    /// The protocol of an indexed moment's collection (404). One read.
    async fn protocol(&self, moment: &MomentRef) -> Result<Protocol, ApiError> {
        let collection = self.moments.collection(moment.chain, moment.collection).await?;
        collection.map(|collection| collection.protocol).ok_or_else(|| no_moment(moment))
    }
}

/// The calls without an approval that the wallet has given already. At most one call to the chain.
async fn without_needless_approval(by: Collector<'_>, calls: Vec<Call>) -> Result<Vec<Call>, NodeError> {
    let approved = calls.first().and_then(|call| Some((call.target, Erc20::approveCall::abi_decode(&call.data).ok()?)));
    let Some((currency, approve)) = approved else { return Ok(calls) };
    let question = Erc20::allowanceCall { owner: by.account, spender: approve.spender };
    let allowance = by.node.read(currency, &question).await?.unwrap_or_default();
    let needless = usize::from(allowance >= approve.amount);
    Ok(calls.into_iter().skip(needless).collect())
}

/// Requires the wallet to have what it costs, one currency per cost (402). One call to the chain each.
async fn afford(Collector { node, account, .. }: Collector<'_>, costs: &[Cost]) -> Result<(), ApiError> {
    let balances: Vec<U256> = try_join_all(costs.iter().map(|cost| cost.currency.balance(node, account))).await?;
    let short = costs.iter().zip(balances).filter(|(cost, balance)| *balance < cost.amount);
    let short: Vec<_> = short
        .map(|(Cost { currency, amount }, balance)| {
            format!("needs {}, has {}", currency.format(*amount), currency.format(balance))
        })
        .collect();
    if short.is_empty() {
        return Ok(());
    }
    let account = shared::model::Address::from(account);
    Err(ApiError::payment_required(format!("The wallet {account} can't pay for this: {}", short.join("; "))))
}
