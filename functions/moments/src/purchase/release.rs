//! A purchase of the registry protocol, whose controller sells for the chain's ERC-20 currency.

use alloy::primitives::{Address, U256};
use shared::{
    api::{cost::Cost, error::no_moment},
    chain::{
        contracts::{
            native::Erc20,
            third_party::RegistryCollection::{purchaseTokenWithValueCall, tokenMintConfigurationCall},
        },
        wallet::Call,
    },
    http::ApiError,
    model::MomentRef,
};

use super::Collector;
use crate::collect_moment::{Quantity, Remark};

/// A purchase at the controller's present price.
pub struct ReleasePurchase {
    moment: MomentRef,
    quantity: U256,
    controller: Address,
    cost: Cost,
}

impl ReleasePurchase {
    /// A purchase of an indexed moment. One call.
    ///
    /// # Errors
    /// 404 for an unknown moment, 422 for one that isn't for sale, or with a comment.
    pub async fn of(
        by: Collector<'_>,
        moment: &MomentRef,
        quantity: Quantity,
        Remark(comment): &Remark,
    ) -> Result<Self, ApiError> {
        if !comment.is_empty() {
            return Err(ApiError::unprocessable("Moments of this protocol take no comments: leave it empty"));
        }
        let question = tokenMintConfigurationCall { tokenId: moment.token.into() };
        let sale = by.node.read(moment.collection.into(), &question).await?.ok_or_else(|| no_moment(moment))?;
        let controller = by.chain.addresses.registry.map(|registry| registry.controller);
        // Without a recipient, the controller has no sale of it.
        let controller = controller.filter(|_| !sale.fundsRecipient.is_zero());
        let controller = controller.ok_or_else(|| ApiError::unprocessable("This moment is not for sale"))?;
        let quantity = U256::from(quantity.0);
        let [_, currency] = by.chain.currencies();
        let cost = Cost { currency, amount: U256::from(sale.price).saturating_mul(quantity) };
        Ok(Self { moment: *moment, quantity, controller, cost })
    }

    /// What it costs in all.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// Calls of the account, which receives the tokens.
    pub fn calls(&self, by: Collector<'_>) -> Vec<Call> {
        let purchase = purchaseTokenWithValueCall {
            to: by.account,
            tokenId: self.moment.token.into(),
            amount: self.quantity,
            value: self.cost.amount,
            referrer0: Address::ZERO,
            referrer1: Address::ZERO,
        };
        let approve = Erc20::approveCall { spender: self.controller, amount: self.cost.amount };
        let approval = Call::new(by.chain.addresses.usdc, &approve);
        vec![approval, Call::new(self.moment.collection.into(), &purchase)]
    }
}
