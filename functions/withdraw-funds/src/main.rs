//! `POST /smartwallet/withdraw`: sends money from the artist's account to somebody.

#[cfg(test)]
mod description;

use std::str::FromStr;

use alloy::primitives::U256;
use shared::{
    chain::currency::Currency,
    http::{ApiError, Endpoint, FieldError, Fields, Request, Response, StartError, serve},
    model::{Address, Amount, ChainId, CheckedAddress, Invalid},
    telemetry,
    writing::{Begun, Cost, Wording, Writers, Writing, answer_node_error},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(WithdrawFunds { writers: Writers::from_env().await? }).await
}

struct WithdrawFunds {
    writers: Writers,
}

/// The body of the request. The response is the transaction: `{hash, chainId}`.
#[derive(ToSchema)]
struct WithdrawFundsRequest {
    /// Who gets it; neither the account itself nor one of the contracts that the service deals with.
    #[schema(value_type = CheckedAddress)]
    to: Address,
    /// How much, in the currency's smallest unit; `max` for all that is there.
    #[schema(value_type = String, pattern = "^(max|0*[1-9][0-9]{0,76})$")]
    amount: Withdrawal,
    /// `ETH`, `USDC` or a contract.
    #[schema(value_type = Option<String>, default = "ETH", pattern = "^(ETH|USDC|0x[0-9a-fA-F]{40})$")]
    currency: Currency,
    /// The chain.
    #[schema(rename = "chainId", value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    chain: ChainId,
}

/// How much is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Withdrawal {
    /// All that is there.
    Everything,
    /// More than nothing.
    Amount(U256),
}

impl Endpoint for WithdrawFunds {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let WithdrawFundsRequest { to, amount, currency, chain } = WithdrawFundsRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        if to == writing.account() {
            let message = "must not be your own account".to_owned();
            return Err(ApiError::invalid_fields(vec![FieldError { field: "to".to_owned(), message }]));
        }
        let amount = amount.of(&currency, &writing).await?;
        let calls = vec![currency.transfer(to.into(), amount)];
        writing.afford(&[Cost { currency, amount }], &calls).await?;
        writing.send(calls).await
    }
}

impl WithdrawFundsRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let to = fields.required("to").map(|CheckedAddress(to)| to);
        let amount = fields.required("amount");
        let chain = writers.chain(&mut fields);
        let currency = chain.and_then(|chain| Self::parse_currency(&mut fields, writers, chain, to));
        fields.finish(|| Some(Self { to: to?, amount: amount?, currency: currency?, chain: chain? }))
    }

    /// What can only be told knowing the chain.
    fn parse_currency(fields: &mut Fields, writers: &Writers, chain: ChainId, to: Option<Address>) -> Option<Currency> {
        let chain = writers.chain_of(chain)?;
        if to.is_some_and(|to| chain.addresses.contains(to.into())) {
            fields.refuse("to", Invalid("must not be a contract of the protocol: it would keep the money"));
        }
        let name = fields.optional_or("currency", CurrencyName(chain.native_currency().symbol.to_owned()))?;
        chain.currency(&name.0).map_err(|error| fields.refuse("currency", error)).ok()
    }
}

/// What a request calls a currency.
struct CurrencyName(String);

impl FromStr for CurrencyName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Ok(Self(text.to_owned()))
    }
}

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
    /// How much that is.
    async fn of(self, currency: &Currency, writing: &Writing<'_>) -> Result<U256, ApiError> {
        let account = writing.account();
        let amount = match self {
            Self::Amount(amount) => amount,
            Self::Everything => currency.balance(writing.node(), account.into()).await.map_err(answer_node_error)?,
        };
        if amount.is_zero() {
            return Err(ApiError::payment_required(format!("Your account {account} has no {}", currency.symbol)));
        }
        Ok(amount)
    }
}
