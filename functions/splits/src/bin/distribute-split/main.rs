//! `POST /splits/distribute`: pays what waits in a split to its recipients.

use alloy::primitives::U256;
use shared::{
    api::{
        error::no_split,
        publish::locate_split,
        transact::{TransactionService, WriteSession},
    },
    chain::{
        protocol::{currency::Currency, splits::distribution},
        wallet::Call,
    },
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Address, Creation, FeeRecipient, Invalid, Scope, Share, Split},
};
use splits::distribute_split::{CurrencyName, DistributeSplitRequest};

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
                let split = find(session, split_address).await?;
                payouts(session, &split, split_address, &currencies).await
            })
            .await
    }
}

/// The split at an address: 404 if there is none, 422 unless it is as this service makes them. One read and one call.
async fn find(session: &WriteSession<'_>, address: Address) -> Result<Split, ApiError> {
    let recipients = session.split(address).await?;
    let recipients = recipients.ok_or_else(|| no_split(address))?;
    let share = |recipient: &FeeRecipient| Some((recipient.address, Share::of_millionths(recipient.millionths)?));
    let split = recipients.iter().map(share).collect::<Option<Vec<_>>>().and_then(|shares| Split::new(shares).ok());
    let located = locate_split(session.chain(), session.node(), split.as_ref(), session.account()).await?;
    let is_same = located.is_some_and(|located| {
        located.address == alloy::primitives::Address::from(address) && located.creation.is_none()
    });
    let foreign =
        || ApiError::unprocessable(format!("{address} has an owner or a reward: whoever made it pays it out"));
    split.filter(|_| is_same).ok_or_else(foreign)
}

/// A call for each currency of which anybody gets anything; 422 if there is none. One call to the chain each.
async fn payouts(
    session: &WriteSession<'_>,
    split: &Split,
    address: Address,
    currencies: &[Currency],
) -> Result<Vec<Call>, ApiError> {
    let mut calls = Vec::new();
    let most = split.recipients().iter().map(|(_, share)| share.millionths()).max().unwrap_or_default();
    for currency in currencies {
        let waiting = currency.balance(session.node(), address.into()).await?;
        if waiting.saturating_mul(U256::from(most)) >= U256::from(Share::WHOLE) {
            calls.push(distribution(split, address.into(), currency, session.account().into()));
        }
    }
    if calls.is_empty() {
        return Err(ApiError::unprocessable("Nothing waits in this split"));
    }
    Ok(calls)
}
