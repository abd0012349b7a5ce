//! Merging of an edit with the sale that the chain has. Strategies store a sale as a whole, so all of its fields are
//! written.

use alloy::{
    primitives::{Bytes, U256},
    sol_types::SolCall,
};

use super::{
    publishing::set_sale,
    sale::{CurrentSale, Strategy},
};
use crate::{
    chain::{
        chains::ChainAddresses,
        contracts::native::{Creator1155::callSaleCall, MerkleMinter},
    },
    model::{Amount, Invalid, Sale, SaleEdit, SaleTerms},
};

impl SaleEdit {
    /// The sale with the edit's fields in place of its own, or the request's field that the strategy refuses, and why.
    pub fn applied_to(&self, sale: CurrentSale) -> Result<CurrentSale, (&'static str, Invalid)> {
        let terms = SaleTerms {
            start: self.start.unwrap_or(sale.terms.start),
            end: self.end.unwrap_or(sale.terms.end),
            max_per_address: self.max_per_address.unwrap_or(sale.terms.max_per_address),
        };
        terms.check().map_err(|error| {
            // Where start and end contradict, the edited one is wrong.
            if self.end.is_none() && self.start.is_some() && terms.end != 0 {
                ("saleStart", Invalid("must not be after the sale's end"))
            } else {
                ("saleEnd", error)
            }
        })?;
        // The stored price needs no check.
        if let Some(price) = self.price {
            let checked = match sale.strategy {
                Strategy::FixedPrice => Sale::check_fixed_price(price),
                Strategy::Erc20 { .. } => Sale::check_erc20_price(price),
                Strategy::Timed | Strategy::AllowList { .. } => Ok(()),
            };
            checked.map_err(|error| ("pricePerToken", error))?;
        }
        Ok(CurrentSale {
            strategy: sale.strategy,
            terms,
            price: self.price.map_or(sale.price, |Amount(price)| price),
            funds_recipient: self.funds_recipient.map_or(sale.funds_recipient, Into::into),
        })
    }
}

impl CurrentSale {
    /// The strategy's call that stores the sale for a token. `market` names the market of a new timed sale.
    pub(super) fn setting(&self, token: U256, market: &str) -> Bytes {
        let (terms, price) = (self.terms, Amount(self.price));
        let sale = match self.strategy {
            Strategy::FixedPrice => Sale::FixedPrice { terms, price },
            Strategy::Erc20 { currency } => Sale::Erc20 { terms, price, currency: currency.into() },
            Strategy::Timed => Sale::Timed { start: terms.start },
            Strategy::AllowList { root, .. } => {
                let settings = MerkleMinter::MerkleSaleSettings {
                    presaleStart: terms.start,
                    presaleEnd: terms.end,
                    fundsRecipient: self.funds_recipient,
                    merkleRoot: root,
                };
                return MerkleMinter::setSaleCall { tokenId: token, merkleSaleSettings: settings }.abi_encode().into();
            }
        };
        set_sale(token, &sale, self.funds_recipient, market)
    }

    /// The collection's call that has the strategy store the sale.
    pub(super) fn storing(&self, addresses: &ChainAddresses, token: U256, market: &str) -> callSaleCall {
        let minter = self.strategy.minter(addresses);
        callSaleCall { tokenId: token, salesConfig: minter, data: self.setting(token, market) }
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Address, aliases::U96};
    use proptest::{
        collection::vec,
        option,
        prelude::{Just, any, prop_assert, prop_assert_eq, proptest},
        strategy,
        strategy::Strategy as _,
    };

    use super::*;
    use crate::chain::contracts::native::{Erc20Minter, FixedPriceMinter};

    fn sale(currency: Option<Address>) -> CurrentSale {
        CurrentSale {
            strategy: currency.map_or(Strategy::FixedPrice, |currency| Strategy::Erc20 { currency }),
            terms: SaleTerms { start: 100, end: 200, max_per_address: 3 },
            price: U256::from(20_000),
            funds_recipient: Address::repeat_byte(7),
        }
    }

    #[test]
    fn missing_fields_keep_their_values() {
        let edit = SaleEdit { end: Some(u64::MAX), ..SaleEdit::default() };
        let token = U256::from(5);
        let fixed = edit.applied_to(sale(None)).unwrap().setting(token, "");
        let written = FixedPriceMinter::setSaleCall::abi_decode(&fixed).unwrap();
        assert_eq!(written.tokenId, token);
        let config = written.salesConfig;
        assert_eq!((config.saleStart, config.saleEnd, config.maxTokensPerAddress), (100, u64::MAX, 3));
        assert_eq!(config.pricePerToken, U96::from(20_000));
        assert_eq!(config.fundsRecipient, Address::repeat_byte(7));

        let usdc = Address::repeat_byte(9);
        let erc20 = edit.applied_to(sale(Some(usdc))).unwrap().setting(token, "");
        let config = Erc20Minter::setSaleCall::abi_decode(&erc20).unwrap().salesConfig;
        assert_eq!((config.currency, config.pricePerToken), (usdc, U256::from(20_000)));
    }

    #[test]
    fn value_that_the_strategy_refuses_is_refused_with_its_field() {
        let usdc = Some(Address::repeat_byte(9));
        let price = |text: &str| SaleEdit { price: text.parse().ok(), ..SaleEdit::default() };
        let times = |start: Option<u64>, end: Option<u64>| SaleEdit { start, end, ..SaleEdit::default() };
        for (currency, edit, field) in [
            (None, price("79228162514264337593543950336"), "pricePerToken"),
            (usdc, price("9999"), "pricePerToken"),
            (usdc, price("0"), "pricePerToken"),
            (None, times(None, Some(0)), "saleEnd"),
            (None, times(None, Some(99)), "saleEnd"),
            (None, times(Some(201), None), "saleStart"),
            (None, times(Some(300), Some(250)), "saleEnd"),
        ] {
            let refused = edit.applied_to(sale(currency)).map_err(|(field, _)| field);
            assert_eq!(refused, Err(field), "{edit:?}");
        }
        for (currency, edit) in [
            (None, price("0")),
            (None, price("79228162514264337593543950335")),
            (usdc, price("10000")),
            (None, times(Some(200), None)),
        ] {
            assert!(edit.applied_to(sale(currency)).is_ok(), "{edit:?}");
        }
    }

    fn edits() -> impl strategy::Strategy<Value = SaleEdit> {
        let address = any::<[u8; 20]>().prop_map(|bytes| Address::from(bytes).into());
        (
            option::of((10_000_u64..u64::MAX).prop_map(|price| Amount(U256::from(price)))),
            option::of(0..300_u64),
            option::of(0..300_u64),
            option::of(any::<u64>()),
            option::of(address),
        )
            .prop_map(|(price, start, end, max_per_address, funds_recipient)| SaleEdit {
                price,
                start,
                end,
                max_per_address,
                funds_recipient,
            })
    }

    proptest! {
        /// Two artists' edits, each artist's in order, in any interleaving, in both currencies.
        #[test]
        fn interleaved_edits_undo_no_other_and_refused_ones_change_nothing(
            first in vec(edits(), 0..6),
            second in vec(edits(), 0..6),
            turns in vec(any::<bool>(), 12),
            currency in option::of(Just(Address::repeat_byte(9))),
        ) {
            let (mut first, mut second) = (first.into_iter(), second.into_iter());
            let mut on_chain = sale(currency);
            let mut done = SaleEdit::default();
            for turn in turns {
                let Some(edit) = (if turn { first.next() } else { second.next() }) else { continue };
                let Ok(after) = edit.applied_to(on_chain) else { continue };
                on_chain = after;
                done = SaleEdit {
                    price: edit.price.or(done.price),
                    start: edit.start.or(done.start),
                    end: edit.end.or(done.end),
                    max_per_address: edit.max_per_address.or(done.max_per_address),
                    funds_recipient: edit.funds_recipient.or(done.funds_recipient),
                };
                prop_assert!(on_chain.terms.start <= on_chain.terms.end);
            }
            prop_assert_eq!(Ok(on_chain), done.applied_to(sale(currency)));
            prop_assert_eq!(on_chain.strategy, sale(currency).strategy);
        }
    }
}
