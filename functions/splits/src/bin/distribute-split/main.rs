//! `POST /splits/distribute`: pays what waits in a split to its recipients.

use futures::future::try_join_all;
use shared::{
    api::{
        error::no_split,
        transact::{TransactionService, WriteSession},
    },
    chain::{protocol::currency::Currency, wallet::Call},
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, Creation, CurrencyName, Invalid, Scope},
};
use splits::{distribute_split::DistributeSplitRequest, payout::Payable};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<DistributeSplit>().await
}

struct DistributeSplit {
    service: TransactionService,
}

impl Endpoint for DistributeSplit {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?.even_suspended();
        let body: DistributeSplitRequest = request.json()?.read_for(&self.service)?;
        let DistributeSplitRequest { split_address, currency, chain_id } = body;
        let chain = self.service.chain(chain_id)?;
        let currencies = match currency {
            None => chain.currencies().to_vec(),
            Some(CurrencyName(name)) => {
                vec![chain.currency(&name).map_err(|Invalid(words)| ApiError::invalid_field("currency", words))?]
            }
        };
        self.service
            .transact(request, caller, chain_id, Creation::Nothing, async |session| {
                payouts(session, split_address, &currencies).await
            })
            .await
    }
}

/// A call for each currency of which anybody gets anything. One read, and one round trip of calls to the chain.
///
/// # Errors
/// 404 for an unknown split, 422 for one of another making or one in which nothing waits.
async fn payouts(session: &WriteSession<'_>, address: Address, currencies: &[Currency]) -> Result<Vec<Call>, ApiError> {
    let recipients = session.split(address).await?.ok_or_else(|| no_split(address))?;
    let balances = currencies.iter().map(|currency| currency.balance(session.node(), address.into()));
    let (payable, waiting) =
        tokio::join!(Payable::at(address, &recipients, (session.chain(), session.node())), try_join_all(balances));
    let foreign =
        || ApiError::unprocessable(format!("{address} has an owner or a reward: whoever made it pays it out"));
    let payable = payable?.ok_or_else(foreign)?;
    let waiting = currencies.iter().zip(waiting?);
    let calls: Vec<_> =
        waiting.filter_map(|(currency, amount)| payable.payout(currency, amount, session.account())).collect();
    if calls.is_empty() {
        return Err(ApiError::unprocessable("Nothing waits in this split"));
    }
    Ok(calls)
}
