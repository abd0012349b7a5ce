//! `POST /smartwallet/withdraw`: sends money from the artist's embedded wallet, to a wallet or payout address of theirs.

#[cfg(test)]
mod description;

use std::str::FromStr;

use alloy::primitives::U256;
use shared::{
    api::{
        activity::ActivityLog,
        error::no_artist,
        transact::{Cost, TransactionService, WriteSession},
    },
    auth::{api_key::Caller, session::SessionAuthenticator},
    chain::{Chain, protocol::currency::Currency},
    clock, config,
    http::{ApiError, Endpoint, FieldError, FromFields, Request, Response, Scalar, StartError, serve},
    model::{ActivityKind, Address, ArtistId, ChainId, CheckedAddress, Creation, Invalid, Wallet, WalletType},
    store::{
        artist::{ArtistTable, Artists, PayoutAddresses},
        secret::SecretTable,
    },
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<WithdrawFunds>().await
}

struct WithdrawFunds {
    service: TransactionService,
    sessions: SessionAuthenticator,
    artists: Artists,
    payouts: PayoutAddresses,
    activity: ActivityLog,
}

/// A transfer.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct WithdrawFundsRequest {
    /// Recipient: a connected wallet whose key signed for it, or a payout address that was added 24 hours ago.
    to: CheckedAddress,
    /// More than 0, in `unit`; `max` for the whole balance.
    #[schema(value_type = String, pattern = r"^(max|[0-9]{1,78}(\.[0-9]{1,18})?)$")]
    amount: Withdrawal,
    /// `wei`: the currency's smallest unit. `main`: ether or USDC, with decimals. Without it an amount is in the smallest
    /// unit, and refused below a ten-thousandth of the main one, since it may be meant in that.
    #[schema(value_type = Option<String>, pattern = "^(wei|main)$")]
    unit: Option<Unit>,
    /// `ETH`, `USDC` or a contract.
    #[schema(value_type = Option<String>, default = "ETH", pattern = "^(ETH|USDC|0x[0-9a-fA-F]{40})$")]
    currency: CurrencyName,
    /// The chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    chain_id: ChainId,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Withdrawal {
    Everything,
    /// Digits, perhaps with decimals.
    Amount(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Smallest,
    Main,
}

impl WithdrawFunds {
    /// Requires `to` to be the artist's own wallet or a payout address that is old enough (403). One read, or two.
    async fn require_own(&self, artist: ArtistId, to: Address) -> Result<(), ApiError> {
        let profile = self.artists.profile(artist).await?.ok_or_else(no_artist)?;
        // A contract wallet proved itself on one chain; elsewhere its address may be another's.
        let is_own = |wallet: &Wallet| wallet.address == to && wallet.r#type == WalletType::External;
        if profile.wallets.iter().any(is_own) {
            return Ok(());
        }
        let known = self.payouts.find(artist, to).await?.ok_or_else(|| {
            ApiError::forbidden(format!(
                "{to} is neither a wallet of yours nor a payout address: add it with POST /artists/payout-addresses, and \
                 withdraw 24 hours later"
            ))
        })?;
        if known.usable_at() > clock::now()?.as_secs() {
            let when = clock::iso_8601(known.usable_at())?;
            return Err(ApiError::forbidden(format!("{to} was added lately: money can go there from {when} on")));
        }
        Ok(())
    }
}

impl Endpoint for WithdrawFunds {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let artists = ArtistTable::from_env(&aws)?;
        Ok(Self {
            service: TransactionService::from_env().await?,
            sessions: SessionAuthenticator::from_env(SecretTable::from_env(&aws)?)?,
            artists: Artists::new(artists.clone()),
            payouts: PayoutAddresses::new(artists),
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
        request.required_idempotency_key()?;
        let caller = Caller { artist, key: None };
        let mut sent = None;
        let answer = self
            .service
            .transact(request, caller, chain_id, Creation::Nothing, async |session| {
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
        let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
        let is_part = |part: &str, most: usize| {
            (1..=most).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
        };
        match text {
            "max" => Ok(Self::Everything),
            _ if is_part(whole, 78) && is_part(decimals, 18) => Ok(Self::Amount(text.to_owned())),
            _ => Err(Invalid("must be an amount, such as 25 or 0.5, or max")),
        }
    }
}

impl Scalar for Unit {}

impl FromStr for Unit {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "wei" => Ok(Self::Smallest),
            "main" => Ok(Self::Main),
            _ => Err(Invalid("must be wei or main")),
        }
    }
}

impl Withdrawal {
    /// `None` for the whole balance.
    fn in_smallest_unit(&self, unit: Option<Unit>, currency: &Currency) -> Result<Option<U256>, Invalid> {
        const TEN: U256 = U256::from_limbs([10, 0, 0, 0]);
        const TEN_THOUSANDTH: usize = 4;
        let Self::Amount(text) = self else { return Ok(None) };
        let decimals = usize::from(currency.decimals);
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let amount = match unit {
            Some(Unit::Main) if fraction.len() > decimals => {
                return Err(Invalid("must not have more decimals than the currency"));
            }
            Some(Unit::Main) => format!("{whole}{fraction:0<decimals$}").parse(),
            _ if !fraction.is_empty() => return Err(Invalid("must be a whole number unless unit is main")),
            _ => whole.parse(),
        };
        let amount: U256 = amount.map_err(|_| Invalid("must be less than 2^256 in the smallest unit"))?;
        if amount.is_zero() {
            return Err(Invalid("must be more than 0"));
        }
        if unit.is_none() && amount < TEN.pow(U256::from(decimals.saturating_sub(TEN_THOUSANDTH))) {
            return Err(Invalid(
                "is less than a ten-thousandth of the main unit: give unit main if you mean that one, or unit wei if not",
            ));
        }
        Ok(Some(amount))
    }
}

/// The amount, or all that is there; 402 if there is nothing.
async fn balance_or(amount: Option<U256>, currency: &Currency, session: &WriteSession<'_>) -> Result<U256, ApiError> {
    let account = session.account();
    let amount = match amount {
        Some(amount) => amount,
        None => currency.balance(session.node(), account.into()).await?,
    };
    if amount.is_zero() {
        return Err(ApiError::payment_required(format!("Your account {account} has no {}", currency.symbol)));
    }
    Ok(amount)
}
