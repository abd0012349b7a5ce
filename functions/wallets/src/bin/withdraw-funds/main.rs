//! `POST /smartwallet/withdraw`: sends money from the artist's embedded wallet, to a wallet or payout address of
//! theirs.

use alloy::primitives::U256;
use shared::{
    api::{
        activity::ActivityLog,
        cost::Cost,
        transact::{TransactionService, WriteSession},
    },
    auth::{
        api_key::{Caller, Credential},
        session::SessionAuthenticator,
    },
    chain::{Chain, protocol::currency::Currency},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, FieldError, Request, Response, serve},
    model::{ActivityKind, Address, ArtistId, CheckedAddress, CurrencyName, Invalid},
    store::{
        artist::{ArtistTable, PayoutAddresses},
        secret::SecretTable,
    },
};
use wallets::withdraw_funds::WithdrawFundsRequest;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<WithdrawFunds>().await
}

struct WithdrawFunds {
    service: TransactionService,
    sessions: SessionAuthenticator,
    payouts: PayoutAddresses,
    activity: ActivityLog,
}

impl WithdrawFunds {
    /// Requires `to` to be the artist's own wallet or payout address, and old enough (403). Two reads.
    async fn require_own(&self, artist: ArtistId, to: Address) -> Result<(), ApiError> {
        let payable_from = self.payouts.payable_from(artist, to).await?.ok_or_else(|| {
            ApiError::forbidden(format!(
                "{to} is neither a wallet of yours nor a payout address: add it with POST /artists/payout-addresses, \
                 and withdraw 24 hours later"
            ))
        })?;
        if payable_from <= clock::now()?.as_secs() {
            return Ok(());
        }
        let when = clock::iso_8601(payable_from)?;
        Err(ApiError::forbidden(format!("{to} was added lately: money can go there from {when} on")))
    }
}

impl Endpoint for WithdrawFunds {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            service: TransactionService::from_env_with_places().await?,
            sessions: SessionAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            payouts: PayoutAddresses::new(ArtistTable::from_env(&aws)?),
            activity: ActivityLog::from_env(&aws)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.sessions.authenticate_freshly(request, clock::now()?).await?.artist;
        self.service.count_write(request).await?;
        let WithdrawFundsRequest { to: CheckedAddress(to), amount, unit, currency, chain_id } =
            request.json()?.read_for(&self.service)?;
        let currency = check(self.service.chain(chain_id)?, to, &currency)?;
        let amount = amount
            .in_smallest_unit(unit, &currency)
            .map_err(|Invalid(words)| ApiError::invalid_field("amount", words))?;
        let caller = Caller { artist, credential: Credential::FreshToken, even_suspended: true };
        let mut sent = None;
        let answer = self
            .service
            .transact_once(request, caller, chain_id, async |session| {
                if to == session.account() {
                    return Err(ApiError::invalid_field("to", "must not be your own account"));
                }
                self.require_own(artist, to).await?;
                let amount = balance_or(amount, &currency, session).await?;
                let calls = vec![currency.transfer(to.into(), amount)];
                session.afford(&[Cost { currency, amount }], &calls).await?;
                sent = Some(format!("{} to {to}", currency.format(amount)));
                Ok(calls)
            })
            .await?;
        if let Some(sent) = sent {
            self.activity.note(request, artist, ActivityKind::Withdrawn, &sent).await;
        }
        Ok(answer)
    }
}

/// Finds the currency, and refuses the protocol's contracts as recipients.
fn check(chain: &Chain, to: Address, CurrencyName(name): &CurrencyName) -> Result<Currency, ApiError> {
    let wrong = |field: &str, message: &str| FieldError { field: field.to_owned(), message: message.to_owned() };
    let mut errors = Vec::new();
    if chain.addresses.contains(to.into()) {
        errors.push(wrong("to", "must not be a contract of the protocol: it would keep the money"));
    }
    match chain.currency(name) {
        Ok(currency) if errors.is_empty() => return Ok(currency),
        Ok(_) => {}
        Err(Invalid(message)) => errors.push(wrong("currency", message)),
    }
    Err(ApiError::invalid_fields(errors))
}

/// The amount, or all that is there; 402 if there is nothing.
async fn balance_or(amount: Option<U256>, currency: &Currency, session: &WriteSession<'_>) -> Result<U256, ApiError> {
    let account = session.account();
    let amount = match amount {
        Some(amount) => amount,
        None => currency.balance(session.node(), account.into()).await?,
    };
    if amount.is_zero() {
        return Err(ApiError::payment_required(
            format!("Your account {account} has no {}", currency.symbol),
            Vec::new(),
        ));
    }
    Ok(amount)
}
