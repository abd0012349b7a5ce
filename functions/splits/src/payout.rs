//! Payouts of a split, which anybody may send.

use alloy::primitives::{self, U256};
use shared::{
    api::publish::locate_split,
    chain::{
        Chain,
        node::Node,
        protocol::{currency::Currency, splits::distribution},
        wallet::Call,
    },
    http::ApiError,
    model::{Address, FeeRecipient, Share, Split},
};

/// A split as this service makes them: without an owner or a reward for whoever pays it out.
pub struct Payable {
    split: Split,
    address: primitives::Address,
}

impl Payable {
    /// The indexed split at an address; `None` for one of another making. One call to the chain.
    pub async fn at(
        address: Address,
        recipients: &[FeeRecipient],
        (chain, node): (&Chain, &Node),
    ) -> Result<Option<Self>, ApiError> {
        let share = |recipient: &FeeRecipient| Some((recipient.address, Share::of_millionths(recipient.millionths)?));
        let split = recipients.iter().map(share).collect::<Option<Vec<_>>>().and_then(|shares| Split::new(shares).ok());
        // Its place doesn't depend on who creates it.
        let located = locate_split(chain, node, split.as_ref(), Address::ZERO).await?;
        let address = address.into();
        let is_same = located.is_some_and(|located| located.address == address && located.creation.is_none());
        Ok(split.filter(|_| is_same).map(|split| Self { split, address }))
    }

    /// `distributor`'s call that pays `waiting` of a currency out; `None` where nobody would get anything.
    pub fn payout(&self, currency: &Currency, waiting: U256, distributor: Address) -> Option<Call> {
        let most = self.split.recipients().iter().map(|(_, share)| share.millionths()).max().unwrap_or_default();
        let is_any = waiting.saturating_mul(U256::from(most)) >= U256::from(Share::WHOLE);
        is_any.then(|| distribution(&self.split, self.address, currency, distributor.into()))
    }
}
