//! `POST /smartwallet/withdraw`: sends money from the artist's embedded wallet.

#[cfg(test)]
mod description;

use std::str::FromStr;

use alloy::primitives::U256;
use shared::{
    api::transact::{Cost, TransactionService, WriteSession},
    chain::{Chain, protocol::currency::Currency},
    http::{ApiError, Endpoint, FieldError, FromFields, Request, Response, Scalar, StartError, serve},
    model::{Address, Amount, ChainId, CheckedAddress, Creation, Invalid},
    telemetry,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(WithdrawFunds { service: TransactionService::from_env().await? }).await
}

struct WithdrawFunds {
    service: TransactionService,
}

/// A transfer.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct WithdrawFundsRequest {
    /// Recipient: neither the account itself nor a contract of the protocol.
    to: CheckedAddress,
    /// In the currency's smallest unit; `max` for the whole balance.
    #[schema(value_type = String, pattern = "^(max|0*[1-9][0-9]{0,76})$")]
    amount: Withdrawal,
    /// `ETH`, `USDC` or a contract.
    #[schema(value_type = Option<String>, default = "ETH", pattern = "^(ETH|USDC|0x[0-9a-fA-F]{40})$")]
    currency: CurrencyName,
    /// The chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    chain_id: ChainId,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Withdrawal {
    Everything,
    /// More than 0.
    Amount(U256),
}

impl Endpoint for WithdrawFunds {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.service.authenticate(request).await?;
        let WithdrawFundsRequest { to: CheckedAddress(to), amount, currency, chain_id } =
            request.json()?.read_for(&self.service)?;
        let currency = check(self.service.chain(chain_id)?, to, &currency)?;
        self.service
            .transact(request, artist, chain_id, Creation::Nothing, async |session| {
                if to == session.account() {
                    return Err(ApiError::invalid_field("to", "must not be your own account"));
                }
                let amount = amount.of(&currency, session).await?;
                let calls = vec![currency.transfer(to.into(), amount)];
                session.afford(&[Cost { currency, amount }], &calls).await?;
                Ok(calls)
            })
            .await
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

/// A symbol or a contract.
struct CurrencyName(String);

impl Scalar for CurrencyName {}

impl FromStr for CurrencyName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self(text.to_owned()))
    }
}

impl Scalar for Withdrawal {}

impl FromStr for Withdrawal {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            _ if text == "max" => Ok(Self::Everything),
            Ok(Amount(amount)) if !amount.is_zero() => Ok(Self::Amount(amount)),
            _ => Err(Invalid("must be an amount in the smallest unit, more than 0, or max")),
        }
    }
}

impl Withdrawal {
    /// The amount in the currency's smallest unit.
    async fn of(self, currency: &Currency, session: &WriteSession<'_>) -> Result<U256, ApiError> {
        let account = session.account();
        let amount = match self {
            Self::Amount(amount) => amount,
            Self::Everything => currency.balance(session.node(), account.into()).await?,
        };
        if amount.is_zero() {
            return Err(ApiError::payment_required(format!("Your account {account} has no {}", currency.symbol)));
        }
        Ok(amount)
    }
}
