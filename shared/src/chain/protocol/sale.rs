//! A moment's current sales, read from the sale strategies' contracts.

use alloy::primitives::{Address, B256, U256};

use crate::{
    chain::{
        chains::ChainAddresses,
        contracts::native::{Erc20Minter, FixedPriceMinter, MerkleMinter, TimedMinter},
        node::{Node, NodeError},
    },
    model::{MomentRef, SaleTerms},
};

/// Strategy of a sale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// In the chain's own currency.
    FixedPrice,
    /// In an ERC-20 currency.
    Erc20 {
        /// The currency's contract.
        currency: Address,
    },
    /// At the protocol's fee alone, until a market opens.
    Timed,
    /// In the chain's own currency, to the accounts of a list. Each has a price and a limit of its own.
    AllowList {
        /// The strategy's contract.
        minter: Address,
        /// Root of the list's tree of hashes.
        root: B256,
    },
}

/// A sale as its strategy's contract stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CurrentSale {
    /// Strategy of the sale.
    pub strategy: Strategy,
    /// Times, and limit per address.
    pub terms: SaleTerms,
    /// Price of one token, in the currency's smallest unit.
    pub price: U256,
    /// Account that receives the price.
    pub funds_recipient: Address,
}

impl Strategy {
    /// The strategy's contract.
    pub fn minter(&self, addresses: &ChainAddresses) -> Address {
        match self {
            Self::FixedPrice => addresses.fixed_price_minter,
            Self::Erc20 { .. } => addresses.erc20_minter,
            Self::Timed => addresses.timed_minter,
            Self::AllowList { minter, .. } => *minter,
        }
    }
}

impl CurrentSale {
    /// All sales of a moment: ERC-20, fixed price, timed, for a list. Four concurrent calls.
    pub async fn all(node: &Node, addresses: &ChainAddresses, moment: &MomentRef) -> Result<Vec<Self>, NodeError> {
        let place = (moment.collection.into(), moment.token.into());
        let (open, listed) =
            tokio::try_join!(Self::each(node, addresses, place, None), Self::for_list(node, addresses, moment))?;
        Ok(open.into_iter().flatten().chain(listed).collect())
    }

    /// Those to everybody, in the order of ERC-20, fixed price and timed, as of the block with this hash or the newest one.
    pub async fn each(
        node: &Node,
        addresses: &ChainAddresses,
        (collection, token): (Address, U256),
        block: Option<B256>,
    ) -> Result<[Option<Self>; 3], NodeError> {
        let erc20 = Erc20Minter::saleCall { tokenContract: collection, tokenId: token };
        let fixed_price = FixedPriceMinter::saleCall { tokenContract: collection, tokenId: token };
        // `saleV2` reverts where there is none, and a read that reverts has to be made again on its own.
        let timed = TimedMinter::saleCall { collection, tokenId: token };
        let (erc20, fixed_price, timed) = tokio::try_join!(
            node.read_at(block, addresses.erc20_minter, &erc20),
            node.read_at(block, addresses.fixed_price_minter, &fixed_price),
            node.read_at(block, addresses.timed_minter, &timed),
        )?;
        let timed = timed.filter(|sale| !sale.token.is_zero());
        let sales = [erc20.map(Self::from), fixed_price.map(Self::from), timed.map(Self::from)];
        Ok(sales.map(|sale| sale.filter(Self::is_set)))
    }

    /// The sale of a moment to the accounts of a list, if there is one. One call, on chains that have the strategy.
    pub async fn for_list(
        node: &Node,
        addresses: &ChainAddresses,
        moment: &MomentRef,
    ) -> Result<Option<Self>, NodeError> {
        let Some(minter) = addresses.merkle_minter else { return Ok(None) };
        let question = MerkleMinter::saleCall { tokenContract: moment.collection.into(), tokenId: moment.token.into() };
        let settings = node.read(minter, &question).await?;
        Ok(settings.filter(|settings| !settings.merkleRoot.is_zero()).map(|settings| Self {
            strategy: Strategy::AllowList { minter, root: settings.merkleRoot },
            terms: SaleTerms { start: settings.presaleStart, end: settings.presaleEnd, max_per_address: 0 },
            price: U256::ZERO,
            funds_recipient: settings.fundsRecipient,
        }))
    }

    /// Root of its list, if it is to one.
    pub fn root(&self) -> Option<B256> {
        match self.strategy {
            Strategy::AllowList { root, .. } => Some(root),
            _ => None,
        }
    }

    /// The sale of a moment that can be changed, as of the block with this hash or the newest one: in an ERC-20
    /// currency, which is in force where there are two, or at a fixed price. Two concurrent calls.
    pub async fn changeable(
        node: &Node,
        addresses: &ChainAddresses,
        (collection, token): (Address, U256),
        block: Option<B256>,
    ) -> Result<Option<Self>, NodeError> {
        let erc20 = Erc20Minter::saleCall { tokenContract: collection, tokenId: token };
        let fixed_price = FixedPriceMinter::saleCall { tokenContract: collection, tokenId: token };
        let (erc20, fixed_price) = tokio::try_join!(
            node.read_at(block, addresses.erc20_minter, &erc20),
            node.read_at(block, addresses.fixed_price_minter, &fixed_price),
        )?;
        Ok([erc20.map(Self::from), fixed_price.map(Self::from)].into_iter().flatten().find(Self::is_set))
    }

    /// Whether the sale is open at a Unix time in seconds.
    pub fn is_open(&self, now: u64) -> bool {
        (self.terms.start..=self.terms.end).contains(&now)
    }

    /// A strategy answers with zeros for a moment that it doesn't sell.
    fn is_set(&self) -> bool {
        let SaleTerms { start, end, max_per_address } = self.terms;
        match self.strategy {
            Strategy::FixedPrice => {
                [start, end, max_per_address].iter().any(|&number| number != 0)
                    || !self.price.is_zero()
                    || !self.funds_recipient.is_zero()
            }
            Strategy::Erc20 { currency } => !currency.is_zero(),
            Strategy::Timed | Strategy::AllowList { .. } => true,
        }
    }
}

impl From<FixedPriceMinter::SalesConfig> for CurrentSale {
    fn from(sale: FixedPriceMinter::SalesConfig) -> Self {
        Self {
            strategy: Strategy::FixedPrice,
            terms: SaleTerms { start: sale.saleStart, end: sale.saleEnd, max_per_address: sale.maxTokensPerAddress },
            price: U256::from(sale.pricePerToken),
            funds_recipient: sale.fundsRecipient,
        }
    }
}

impl From<Erc20Minter::SalesConfig> for CurrentSale {
    fn from(sale: Erc20Minter::SalesConfig) -> Self {
        Self {
            strategy: Strategy::Erc20 { currency: sale.currency },
            terms: SaleTerms { start: sale.saleStart, end: sale.saleEnd, max_per_address: sale.maxTokensPerAddress },
            price: sale.pricePerToken,
            funds_recipient: sale.fundsRecipient,
        }
    }
}

impl From<TimedMinter::saleReturn> for CurrentSale {
    fn from(sale: TimedMinter::saleReturn) -> Self {
        // The end is 0 until enough tokens are collected for the market to open.
        let end = if sale.saleEnd == 0 { u64::MAX } else { sale.saleEnd };
        Self {
            strategy: Strategy::Timed,
            terms: SaleTerms { start: sale.saleStart, end, max_per_address: 0 },
            price: U256::ZERO,
            funds_recipient: Address::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sale_of_zeros_is_not_set() {
        let nothing = CurrentSale {
            strategy: Strategy::FixedPrice,
            terms: SaleTerms { start: 0, end: 0, max_per_address: 0 },
            price: U256::ZERO,
            funds_recipient: Address::ZERO,
        };
        assert!(!nothing.is_set());
        assert!(!CurrentSale { strategy: Strategy::Erc20 { currency: Address::ZERO }, ..nothing }.is_set());
        assert!(CurrentSale { price: U256::ONE, ..nothing }.is_set());
        assert!(CurrentSale { terms: SaleTerms { end: 1, ..nothing.terms }, ..nothing }.is_set());
    }

    #[test]
    fn a_sale_is_open_from_its_start_to_its_end() {
        let sale = CurrentSale {
            strategy: Strategy::Timed,
            terms: SaleTerms { start: 10, end: 20, max_per_address: 0 },
            price: U256::ZERO,
            funds_recipient: Address::ZERO,
        };
        assert_eq!([9, 10, 20, 21].map(|now| sale.is_open(now)), [false, true, true, false]);
    }
}
