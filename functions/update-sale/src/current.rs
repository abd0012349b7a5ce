//! A moment's sale as it is on the chain, and what a change makes of it. A strategy keeps no single field: a sale is
//! always written whole.

use alloy::primitives::U256;
use shared::{
    chain::{
        ChainAddresses,
        contracts::{Creator1155, Erc20Minter, FixedPriceMinter},
        node::{Node, NodeError},
        publishing::set_sale,
    },
    http::ApiError,
    model::{Amount, Invalid, MomentRef, Sale, SaleTerms, Whole},
};

use crate::SaleChange;

/// A sale and the strategy that it is at.
pub(crate) struct CurrentSale {
    strategy: alloy::primitives::Address,
    terms: SaleTerms,
    price: U256,
    funds_recipient: alloy::primitives::Address,
    /// The currency's contract, for a sale that isn't for the chain's own currency.
    currency: Option<alloy::primitives::Address>,
}

impl CurrentSale {
    /// Asks both strategies at the same time. A moment that is sold by both is sold for the ERC-20 currency. `None` when
    /// it is sold by neither.
    pub(crate) async fn read(
        node: &Node,
        addresses: &ChainAddresses,
        moment: &MomentRef,
    ) -> Result<Option<Self>, ApiError> {
        let (collection, token) = (moment.collection.into(), moment.token.into());
        let fixed_price = FixedPriceMinter::saleCall { tokenContract: collection, tokenId: token };
        let erc20 = Erc20Minter::saleCall { tokenContract: collection, tokenId: token };
        let (fixed_price, erc20) = tokio::try_join!(
            node.read(addresses.fixed_price_minter, &fixed_price),
            node.read(addresses.erc20_minter, &erc20)
        )
        .map_err(|error: NodeError| ApiError::bad_gateway("The chain's nodes don't answer: try again", error))?;
        let erc20 = erc20.filter(|sale| sale.saleEnd > 0).map(|sale| Self {
            strategy: addresses.erc20_minter,
            terms: SaleTerms { start: sale.saleStart, end: sale.saleEnd, max_per_address: sale.maxTokensPerAddress },
            price: sale.pricePerToken,
            funds_recipient: sale.fundsRecipient,
            currency: Some(sale.currency),
        });
        let fixed_price = fixed_price.map(|sale| Self {
            strategy: addresses.fixed_price_minter,
            terms: SaleTerms { start: sale.saleStart, end: sale.saleEnd, max_per_address: sale.maxTokensPerAddress },
            price: U256::from(sale.pricePerToken),
            funds_recipient: sale.fundsRecipient,
            currency: None,
        });
        Ok(erc20.or(fixed_price.filter(Self::is_set)))
    }

    /// An unset sale is nothing but zeros.
    fn is_set(&self) -> bool {
        let SaleTerms { start, end, max_per_address } = self.terms;
        [start, end, max_per_address].iter().any(|&number| number != 0)
            || !self.price.is_zero()
            || !self.funds_recipient.is_zero()
    }

    /// The call to the collection that writes the sale with the change in it; or the field that the strategy wouldn't
    /// take, and why.
    pub(crate) fn updated(
        mut self,
        change: &SaleChange,
        moment: &MomentRef,
    ) -> Result<Creator1155::callSaleCall, (&'static str, Invalid)> {
        let new = |field: Option<Whole>, current: u64| field.map_or(current, |Whole(number)| number);
        self.terms = SaleTerms {
            start: new(change.start, self.terms.start),
            end: new(change.end, self.terms.end),
            max_per_address: new(change.max_per_address, self.terms.max_per_address),
        };
        // A clash of start and end is the fault of the one that was given.
        let times = if change.end.is_none() && change.start.is_some() { "saleStart" } else { "saleEnd" };
        self.terms.check().map_err(|error| match times {
            "saleStart" if self.terms.end != 0 => (times, Invalid("must not be after the sale's end")),
            _ => ("saleEnd", error),
        })?;
        if let Some(price) = change.price {
            self.price = price.0;
            let holds = match self.currency {
                None => Sale::check_fixed_price(price),
                Some(_) => Sale::check_erc20_price(price),
            };
            holds.map_err(|error| ("pricePerToken", error))?;
        }
        if let Some(recipient) = change.funds_recipient {
            self.funds_recipient = recipient.into();
        }
        let (token, price) = (moment.token.into(), Amount(self.price));
        let sale = match self.currency {
            None => Sale::FixedPrice { terms: self.terms, price },
            Some(currency) => Sale::Erc20 { terms: self.terms, price, currency: currency.into() },
        };
        // The name is for the market of a timed sale, which can't be changed.
        let data = set_sale(token, &sale, self.funds_recipient, "");
        Ok(Creator1155::callSaleCall { tokenId: token, salesConfig: self.strategy, data })
    }
}

#[cfg(test)]
mod tests {
    use alloy::{
        primitives::{address, aliases::U96},
        sol_types::SolCall,
    };

    use super::*;

    fn sale(currency: Option<alloy::primitives::Address>) -> CurrentSale {
        CurrentSale {
            strategy: address!("2994762aA0E4C750c51f333C10d81961faEBE785"),
            terms: SaleTerms { start: 100, end: 200, max_per_address: 3 },
            price: U256::from(20_000),
            funds_recipient: alloy::primitives::Address::repeat_byte(7),
            currency,
        }
    }

    fn moment() -> MomentRef {
        MomentRef {
            chain: shared::model::ChainId(8453),
            collection: alloy::primitives::Address::repeat_byte(1).into(),
            token: U256::from(5).into(),
        }
    }

    #[test]
    fn what_is_not_given_stays() {
        let change = SaleChange { end: Some(Whole(u64::MAX)), ..SaleChange::default() };
        let call = sale(None).updated(&change, &moment()).unwrap();
        let written = FixedPriceMinter::setSaleCall::abi_decode(&call.data).unwrap();
        assert_eq!((call.tokenId, written.tokenId), (U256::from(5), U256::from(5)));
        let sale = written.salesConfig;
        assert_eq!((sale.saleStart, sale.saleEnd, sale.maxTokensPerAddress), (100, u64::MAX, 3));
        assert_eq!(sale.pricePerToken, U96::from(20_000));
        assert_eq!(sale.fundsRecipient, alloy::primitives::Address::repeat_byte(7));
    }

    #[test]
    fn what_the_strategy_would_not_take_is_refused_with_its_field() {
        let usdc = Some(alloy::primitives::Address::repeat_byte(9));
        let price = |text: &str| SaleChange { price: text.parse::<Amount>().ok(), ..SaleChange::default() };
        let times = |start: Option<u64>, end: Option<u64>| SaleChange {
            start: start.map(Whole),
            end: end.map(Whole),
            ..SaleChange::default()
        };
        for (currency, change, field) in [
            (None, price("79228162514264337593543950336"), "pricePerToken"),
            (usdc, price("9999"), "pricePerToken"),
            (usdc, price("0"), "pricePerToken"),
            (None, times(None, Some(0)), "saleEnd"),
            (None, times(None, Some(99)), "saleEnd"),
            (None, times(Some(201), None), "saleStart"),
            (None, times(Some(300), Some(250)), "saleEnd"),
        ] {
            let refused = sale(currency).updated(&change, &moment()).map(drop).map_err(|(field, _)| field);
            assert_eq!(refused, Err(field), "{change:?}");
        }
        for (currency, change) in [
            (None, price("0")),
            (None, price("79228162514264337593543950335")),
            (usdc, price("10000")),
            (None, times(Some(200), None)),
        ] {
            assert!(sale(currency).updated(&change, &moment()).is_ok(), "{change:?}");
        }
    }

    #[test]
    fn a_sale_of_zeros_is_none() {
        let nothing = CurrentSale {
            terms: SaleTerms { start: 0, end: 0, max_per_address: 0 },
            price: U256::ZERO,
            funds_recipient: alloy::primitives::Address::ZERO,
            ..sale(None)
        };
        assert!(!nothing.is_set());
        assert!(sale(None).is_set());
    }
}
