//! A purchase of the native protocol: its costs, its limits and its calls.

mod choice;
mod read;
mod release;

use alloy::{
    primitives::{Address, Bytes, U256},
    sol_types::SolValue,
};
use shared::{
    api::cost::Cost,
    chain::{
        Chain,
        contracts::native::{Creator1155, Erc20, Erc20Minter, TimedMinter},
        node::Node,
        protocol::sale::{CurrentSale, Strategy},
        wallet::Call,
    },
    clock,
    http::{ApiError, json},
    model::{Amount, ListProof, MomentRef},
};

use crate::collect_moment::Remark;

pub use self::release::ReleasePurchase;

/// Who collects.
#[derive(Clone, Copy)]
pub struct Collector<'a> {
    /// The chain.
    pub chain: &'a Chain,
    /// Its nodes.
    pub node: &'a Node,
    /// The account that pays and gets the tokens.
    pub account: Address,
    /// The account that gets the protocol's reward for having sent the collector.
    pub referral: Option<Address>,
}

/// A purchase that the chain's current state allows.
pub struct Purchase {
    /// What is bought.
    pub moment: MomentRef,
    /// The sale that it is bought from.
    pub sale: CurrentSale,
    /// Number of tokens.
    pub quantity: U256,
    /// Protocol's fee per token, in wei.
    pub fee: U256,
    /// What proves that the account is on the sale's list, if it has one.
    pub proof: Option<ListProof>,
}

impl Purchase {
    /// Costs for the account, one per currency.
    pub fn costs(&self, chain: &Chain) -> Vec<Cost> {
        let native = Cost { currency: chain.native_currency(), amount: self.value() };
        match self.sale.strategy {
            Strategy::FixedPrice | Strategy::Timed | Strategy::AllowList { .. } => vec![native],
            Strategy::Erc20 { currency } => {
                let paid_with = chain.currencies().into_iter().find(|known| known.contract == Some(currency));
                let price = paid_with.map(|currency| Cost { currency, amount: self.price() });
                price.into_iter().chain([native]).collect()
            }
        }
    }

    /// Calls of the account, which receives the tokens.
    pub fn calls(&self, by: Collector<'_>, Remark(comment): &Remark) -> Vec<Call> {
        let collector = by.account;
        let (collection, token) = (self.moment.collection.into(), self.moment.token.into());
        let minter = self.sale.strategy.minter(&by.chain.addresses);
        let mint_referral = by.referral.unwrap_or_default();
        match self.sale.strategy {
            Strategy::FixedPrice | Strategy::AllowList { .. } => {
                let mint = Creator1155::mintCall {
                    minter,
                    tokenId: token,
                    quantity: self.quantity,
                    rewardsRecipients: by.referral.into_iter().collect(),
                    minterArguments: self.arguments(collector, comment),
                };
                vec![Call::new(collection, &mint).with_value(self.value())]
            }
            Strategy::Erc20 { currency } => {
                let approve = Erc20::approveCall { spender: minter, amount: self.price() };
                let mint = Erc20Minter::mintCall {
                    mintTo: collector,
                    quantity: self.quantity,
                    tokenAddress: collection,
                    tokenId: token,
                    totalValue: self.price(),
                    currency,
                    mintReferral: mint_referral,
                    comment: comment.clone(),
                };
                vec![Call::new(currency, &approve), Call::new(minter, &mint).with_value(self.value())]
            }
            Strategy::Timed => {
                let mint = TimedMinter::mintCall {
                    mintTo: collector,
                    quantity: self.quantity,
                    collection,
                    tokenId: token,
                    mintReferral: mint_referral,
                    comment: comment.clone(),
                };
                vec![Call::new(minter, &mint).with_value(self.value())]
            }
        }
    }

    /// What the strategy is told of a purchase for the chain's own currency.
    fn arguments(&self, collector: Address, comment: &str) -> Bytes {
        let Some(ListProof { entry, path }) = &self.proof else {
            return (collector, comment).abi_encode_params().into();
        };
        (collector, U256::from(entry.max_amount), entry.price.0, path.clone()).abi_encode_params().into()
    }

    /// 422 for a comment on a purchase from a list, which its strategy doesn't take.
    pub fn check_comment(&self, Remark(comment): &Remark) -> Result<(), ApiError> {
        if self.proof.is_none() || comment.is_empty() {
            return Ok(());
        }
        let words = "You collect this as one of a list, which takes no comment: leave it empty, and comment on it then";
        Err(ApiError::unprocessable(words))
    }

    /// Total price, in the sale's currency.
    fn price(&self) -> U256 {
        self.sale.price.saturating_mul(self.quantity)
    }

    /// Wei to send with the call.
    fn value(&self) -> U256 {
        let fee = self.fee.saturating_mul(self.quantity);
        match self.sale.strategy {
            Strategy::FixedPrice | Strategy::AllowList { .. } => fee.saturating_add(self.price()),
            Strategy::Erc20 { .. } | Strategy::Timed => fee,
        }
    }

    /// 422 if fewer tokens are left.
    pub fn check_supply(&self, token: &Creator1155::TokenData) -> Result<(), ApiError> {
        let left = token.maxSupply.saturating_sub(token.totalMinted);
        match left {
            _ if left >= self.quantity => Ok(()),
            U256::ZERO => Err(ApiError::unprocessable("This moment is sold out")),
            left => Err(ApiError::unprocessable(format!("Only {left} of this moment are left"))),
        }
    }

    /// 422 if the account, which collected `had` tokens before, would pass the sale's limit per address.
    pub fn check_limit(&self, had: U256) -> Result<(), ApiError> {
        let limit = self.sale.terms.max_per_address;
        if limit == 0 || had.saturating_add(self.quantity) <= U256::from(limit) {
            return Ok(());
        }
        let reason = format!("An address can collect {limit} of this moment at most, and your account has had {had}");
        Err(ApiError::unprocessable(reason))
    }
}

/// Requires an order to cost `most` or less in the sale's currency, fees included (409).
pub fn require_price(cost: Cost, most: Option<Amount>) -> Result<(), ApiError> {
    match most {
        Some(Amount(most)) if cost.amount > most => {
            let words = format!("This costs {} now, more than your maxPrice", cost.currency.format(cost.amount));
            Err(ApiError::conflict(words).with_detail("price", json!(Amount(cost.amount))))
        }
        _ => Ok(()),
    }
}

/// 422 if the sale isn't open at the time `now`.
pub fn check_terms(sale: &CurrentSale, now: u64) -> Result<(), ApiError> {
    let when = |time: u64| clock::iso_8601(time).unwrap_or_else(|_| time.to_string());
    if now < sale.terms.start {
        let reason = format!("The sale has not started: it starts at {}", when(sale.terms.start));
        return Err(ApiError::unprocessable(reason));
    }
    if now > sale.terms.end {
        return Err(ApiError::unprocessable(format!("The sale is over: it ended at {}", when(sale.terms.end))));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use shared::{
        chain::Chains,
        model::{ChainId, SaleTerms},
    };

    use super::*;

    fn purchase(strategy: Strategy, price: u64, quantity: u64) -> Purchase {
        let terms = SaleTerms { start: 10, end: 20, max_per_address: 5 };
        Purchase {
            moment: MomentRef {
                chain: ChainId::DEFAULT,
                collection: Address::repeat_byte(1).into(),
                token: U256::ONE.into(),
            },
            sale: CurrentSale { strategy, terms, price: U256::from(price), funds_recipient: Address::ZERO },
            quantity: U256::from(quantity),
            fee: U256::from(111),
            proof: None,
        }
    }

    #[test]
    fn every_strategy_costs_what_its_contract_takes() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId::DEFAULT).unwrap();
        let [eth, usdc] = chain.currencies();
        let erc20 = Strategy::Erc20 { currency: chain.addresses.usdc };
        let costs = |strategy, price| purchase(strategy, price, 3).costs(chain);
        let cost = |currency, amount: u64| Cost { currency, amount: U256::from(amount) };
        assert_eq!(costs(Strategy::FixedPrice, 1_000), [cost(eth, 3_333)]);
        assert_eq!(costs(Strategy::FixedPrice, 0), [cost(eth, 333)]);
        assert_eq!(costs(erc20, 10_000), [cost(usdc, 30_000), cost(eth, 333)]);
        assert_eq!(costs(Strategy::Timed, 0), [cost(eth, 333)]);
    }

    #[test]
    fn an_impossible_purchase_is_refused_with_its_reason() {
        let sale = purchase(Strategy::FixedPrice, 0, 2);
        let words = |outcome: Result<(), ApiError>| outcome.map_err(|error| error.body()).unwrap_err();
        assert!(words(check_terms(&sale.sale, 9)).contains("starts at 1970-01-01T00:00:10Z"));
        assert!(words(check_terms(&sale.sale, 21)).contains("ended at 1970-01-01T00:00:20Z"));
        let token = |minted: u64| Creator1155::TokenData {
            uri: String::new(),
            maxSupply: U256::from(10),
            totalMinted: U256::from(minted),
        };
        assert!(words(sale.check_supply(&token(10))).contains("sold out"));
        assert!(words(sale.check_supply(&token(9))).contains("Only 1"));
        assert!(words(sale.check_limit(U256::from(4))).contains("5 of this moment at most"));
        assert!(sale.check_supply(&token(8)).is_ok() && sale.check_limit(U256::from(3)).is_ok());
    }
}
