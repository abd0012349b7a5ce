//! What something costs an account, and what the account lacks for it.

use alloy::primitives::{self, U256};
use futures::future::try_join_all;

use crate::{
    chain::{
        node::{Node, NodeError},
        protocol::currency::Currency,
    },
    http::{ApiError, Missing},
    model::Amount,
};

/// A cost in one currency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// The currency.
    pub currency: Currency,
    /// In its smallest unit.
    pub amount: U256,
}

/// A cost that an account can't pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortfall {
    cost: Cost,
    /// What the account has.
    balance: U256,
}

/// What `account` can't pay of `costs`, one currency per cost. One call to the chain each.
pub async fn shortfalls(
    node: &Node,
    account: primitives::Address,
    costs: &[Cost],
) -> Result<Vec<Shortfall>, NodeError> {
    let balances = try_join_all(costs.iter().map(|cost| cost.currency.balance(node, account))).await?;
    let all = costs.iter().zip(balances).map(|(cost, balance)| Shortfall { cost: *cost, balance });
    Ok(all.filter(|it| it.balance < it.cost.amount).collect())
}

impl Shortfall {
    /// Whether the chain's own currency is short.
    pub fn is_native(&self) -> bool {
        self.cost.currency.contract.is_none()
    }

    fn words(&self) -> String {
        let Self { cost: Cost { currency, amount }, balance } = self;
        format!("needs {}, has {}", currency.format(*amount), currency.format(*balance))
    }

    fn missing(&self) -> Missing {
        let Self { cost: Cost { currency, amount }, balance } = self;
        let missing = Amount(amount.saturating_sub(*balance));
        Missing {
            currency: currency.symbol,
            amount: missing,
            decimal_amount: missing.decimal(currency.decimals.into()),
            balance: Amount(*balance),
        }
    }
}

/// 402: cost and balance of each short currency in words, and what is missing.
pub fn cannot_pay(account: &str, short: &[Shortfall]) -> ApiError {
    let words: Vec<_> = short.iter().map(Shortfall::words).collect();
    let missing = short.iter().map(Shortfall::missing).collect();
    ApiError::payment_required(format!("{account} can't pay for this: {}", words.join("; ")), missing)
}
