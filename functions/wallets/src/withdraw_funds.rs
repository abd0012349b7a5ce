//! Contract of `POST /smartwallet/withdraw`.

use std::str::FromStr;

use alloy::primitives::U256;
use shared::{
    api::transact::SentTransaction,
    chain::protocol::currency::Currency,
    http::{FromFields, Scalar},
    model::{ChainId, CheckedAddress, CurrencyName, Invalid},
};
use utoipa::ToSchema;

/// A transfer.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct WithdrawFundsRequest {
    /// Recipient: a connected wallet whose key signed for it, or a payout address; added 24 hours ago or earlier.
    pub to: CheckedAddress,
    /// More than 0, in `unit`; `max` for the whole balance.
    #[schema(value_type = String, pattern = r"^(max|[0-9]{1,78}(\.[0-9]{1,18})?)$")]
    pub amount: Withdrawal,
    /// `wei`: the currency's smallest unit. `main`: ether or USDC, with decimals. Without it an amount is in the
    /// smallest unit, and refused below a ten-thousandth of the main one, since it may be meant in that.
    #[schema(value_type = Option<String>, pattern = "^(wei|main)$")]
    pub unit: Option<Unit>,
    /// `ETH`, `USDC` or a contract.
    #[schema(value_type = Option<String>, default = "ETH", pattern = "^(ETH|USDC|0x[0-9a-fA-F]{40})$")]
    pub currency: CurrencyName,
    /// The chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// How much to withdraw.
pub enum Withdrawal {
    /// The whole balance.
    Everything,
    /// Digits, perhaps with decimals.
    Amount(String),
}

/// Unit of an amount.
#[derive(Clone, Copy)]
pub enum Unit {
    /// Wei, or a millionth of a USDC.
    Smallest,
    /// Ether, or USDC.
    Main,
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
    /// `None` for the whole balance. Fails for an amount that the unit or the currency can't have.
    pub fn in_smallest_unit(&self, unit: Option<Unit>, currency: &Currency) -> Result<Option<U256>, Invalid> {
        const TEN: U256 = U256::from_limbs([10, 0, 0, 0]);
        const TEN_THOUSANDTH: usize = 4;
        let Self::Amount(text) = self else { return Ok(None) };
        let decimals = usize::from(currency.decimals);
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let amount = match unit {
            Some(Unit::Main) if fraction.len() > decimals => {
                return Err(Invalid("must not have more decimals than the currency: ETH has 18, USDC has 6"));
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
                "is less than a ten-thousandth of the main unit: give unit main if you mean that one, or unit wei if \
                 not",
            ));
        }
        Ok(Some(amount))
    }
}

/// Withdraw money from the artist's account
///
/// Sends money to a connected wallet whose key signed for it, or to a payout address; either must have been added 24
/// hours ago or earlier. Needs a sign-in within the last 15 minutes. The artist is notified by mail. To withdraw the same
/// again within ten minutes, send an `Idempotency-Key`.
#[utoipa::path(
    post,
    path = "/smartwallet/withdraw",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = WithdrawFundsRequest, example = json!({
        "to": "0x00000000000000000000000000000000000000a1",
        "amount": "0.25",
        "unit": "main",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-errors" = json!([404]))),
)]
pub fn withdraw_funds() {}
