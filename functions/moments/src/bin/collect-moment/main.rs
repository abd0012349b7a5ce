//! `POST /moment/collect`: buys tokens of a moment for the artist's account, which pays for them.

mod purchase;
mod release;

use moments::collect_moment::CollectMomentRequest;
use shared::{
    api::transact::{Cost, TransactionService},
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, json, serve},
    model::{Amount, Protocol, Scope},
};

use crate::release::ReleasePurchase;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CollectMoment>().await
}

struct CollectMoment {
    service: TransactionService,
}

impl Endpoint for CollectMoment {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Collect).await?;
        let order: CollectMomentRequest = request.json()?.read_for(&self.service)?;
        let CollectMomentRequest { moment, amount, comment, max_price } = order;
        self.service
            .transact_once(request, caller, moment.chain, async |session| {
                if session.protocol(moment.collection).await? == Some(Protocol::Registry) {
                    let purchase = ReleasePurchase::of(session, &moment, amount, &comment).await?;
                    require_price(purchase.cost(), max_price)?;
                    let calls = purchase.calls(session);
                    session.afford(&[purchase.cost()], &calls).await?;
                    return Ok(calls);
                }
                let purchase = purchase::read(session, &moment, amount).await?;
                session.require_genuine(moment.collection).await?;
                let costs = purchase.costs(session.chain());
                costs.first().map_or(Ok(()), |cost| require_price(*cost, max_price))?;
                let calls = purchase.calls(session, &comment);
                session.afford(&costs, &calls).await?;
                Ok(calls)
            })
            .await
    }
}

/// Requires an order to cost `most` or less in the sale's currency, fees included (409).
fn require_price(cost: Cost, most: Option<Amount>) -> Result<(), ApiError> {
    match most {
        Some(Amount(most)) if cost.amount > most => {
            let words = format!("This costs {} now, more than your maxPrice", cost.currency.format(cost.amount));
            Err(ApiError::conflict(words).with_detail("price", json!(Amount(cost.amount))))
        }
        _ => Ok(()),
    }
}
