//! `POST /moment/collect`: buys tokens of a moment for the artist's account, which pays for them.

#[cfg(test)]
mod description;
mod purchase;
mod release;

use std::str::FromStr;

use shared::{
    api::transact::{Cost, TransactionService},
    http::{ApiError, Endpoint, Form, FromFields, Request, Response, Scalar, StartError, json, serve},
    model::{Amount, CommentText, Creation, Invalid, MomentRef, Protocol, Scope, Whole},
};
use utoipa::ToSchema;

use crate::{purchase::Purchase, release::ReleasePurchase};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CollectMoment>().await
}

struct CollectMoment {
    service: TransactionService,
}

/// An order.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct CollectMomentRequest {
    /// The moment.
    moment: MomentRef,
    /// Number of tokens.
    #[schema(value_type = u16, minimum = 1, maximum = 1000)]
    amount: Quantity,
    /// The collector's comment, without control characters.
    #[schema(value_type = Option<String>, default = "", max_length = 1000, pattern = r"^([^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*)?$")]
    comment: Remark,
    /// Most that the order may cost, in the smallest unit of the sale's currency, with every fee that is paid in it. If it
    /// costs more, nothing is bought.
    max_price: Option<Amount>,
}

/// Tokens per order: 1 to 1000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Quantity(u64);

/// A comment of up to 1000 characters, without control characters; may be empty.
#[derive(Debug, PartialEq, Eq)]
struct Remark(String);

impl Endpoint for CollectMoment {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Collect).await?;
        let order: CollectMomentRequest = request.json()?.read_for(&self.service)?;
        let CollectMomentRequest { moment, amount, comment, max_price } = order;
        request.required_idempotency_key()?;
        self.service
            .transact(request, caller, moment.chain, Creation::Nothing, async |session| {
                if session.protocol(moment.collection).await? == Some(Protocol::Registry) {
                    let purchase = ReleasePurchase::of(session, &moment, amount, &comment).await?;
                    require_price(purchase.cost(), max_price)?;
                    let calls = purchase.calls(session);
                    session.afford(&[purchase.cost()], &calls).await?;
                    return Ok(calls);
                }
                let purchase = Purchase::of(session, &moment, amount).await?;
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

impl Scalar for Quantity {
    const FORM: Form = Form::Number;
}

impl Scalar for Remark {}

impl FromStr for Quantity {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(Whole(number @ 1..=1_000)) => Ok(Self(number)),
            _ => Err(Invalid("must be a whole number from 1 to 1000")),
        }
    }
}

impl FromStr for Remark {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let is_short = text.is_empty() || text.parse::<CommentText>().is_ok();
        if !is_short || text.contains(char::is_control) {
            return Err(Invalid("must be up to 1000 characters long, without control characters"));
        }
        Ok(Self(text.to_owned()))
    }
}
