//! A changed sale. Strategies store a sale as a whole, so all of its fields are written.

use moments::update_sale::SaleChange;
use shared::{
    chain::{
        ChainAddresses,
        contracts::native::Creator1155,
        protocol::{
            publishing::set_sale,
            sale::{CurrentSale, Strategy},
        },
    },
    model::{Amount, CheckedAddress, Invalid, MomentRef, Sale, SaleTerms, Whole},
};

/// Returns the call that writes the changed sale, or the field that the strategy refuses, and why.
pub(crate) fn updated(
    sale: CurrentSale,
    change: &SaleChange,
    moment: &MomentRef,
    addresses: &ChainAddresses,
) -> Result<Creator1155::callSaleCall, (&'static str, Invalid)> {
    let new = |field: Option<Whole>, current: u64| field.map_or(current, |Whole(number)| number);
    let terms = SaleTerms {
        start: new(change.sale_start, sale.terms.start),
        end: new(change.sale_end, sale.terms.end),
        max_per_address: new(change.max_tokens_per_address, sale.terms.max_per_address),
    };
    // Where start and end contradict, the changed one is wrong.
    let times = if change.sale_end.is_none() && change.sale_start.is_some() { "saleStart" } else { "saleEnd" };
    terms.check().map_err(|error| match times {
        "saleStart" if terms.end != 0 => (times, Invalid("must not be after the sale's end")),
        _ => ("saleEnd", error),
    })?;
    let price = change.price_per_token.unwrap_or(Amount(sale.price));
    // The stored price needs no check.
    let check = |holds: fn(Amount) -> Result<(), Invalid>| match change.price_per_token {
        Some(price) => holds(price).map_err(|error| ("pricePerToken", error)),
        None => Ok(()),
    };
    let changed = match sale.strategy {
        Strategy::FixedPrice => {
            check(Sale::check_fixed_price)?;
            Sale::FixedPrice { terms, price }
        }
        Strategy::Erc20 { currency } => {
            check(Sale::check_erc20_price)?;
            Sale::Erc20 { terms, price, currency: currency.into() }
        }
        Strategy::Timed => Sale::Timed { start: terms.start },
    };
    let (token, recipient) = (
        moment.token.into(),
        change.funds_recipient.map_or(sale.funds_recipient, |CheckedAddress(recipient)| recipient.into()),
    );
    // The name is for the market of a timed sale, which doesn't change.
    let data = set_sale(token, &changed, recipient, "");
    Ok(Creator1155::callSaleCall { tokenId: token, salesConfig: sale.strategy.minter(addresses), data })
}

#[cfg(test)]
mod tests {
    use alloy::{
        primitives::{Address, U256, aliases::U96},
        sol_types::SolCall,
    };
    use shared::{
        chain::{Chains, contracts::native::FixedPriceMinter},
        model::ChainId,
    };

    use super::*;

    fn sale(currency: Option<Address>) -> CurrentSale {
        CurrentSale {
            strategy: currency.map_or(Strategy::FixedPrice, |currency| Strategy::Erc20 { currency }),
            terms: SaleTerms { start: 100, end: 200, max_per_address: 3 },
            price: U256::from(20_000),
            funds_recipient: Address::repeat_byte(7),
        }
    }

    fn changed(
        currency: Option<Address>,
        change: &SaleChange,
    ) -> Result<Creator1155::callSaleCall, (&'static str, Invalid)> {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        updated(sale(currency), change, &moment(), &chains.get(ChainId(8453)).unwrap().addresses)
    }

    fn moment() -> MomentRef {
        MomentRef { chain: ChainId(8453), collection: Address::repeat_byte(1).into(), token: U256::from(5).into() }
    }

    #[test]
    fn missing_fields_keep_their_values() {
        let change = SaleChange { sale_end: Some(Whole(u64::MAX)), ..SaleChange::default() };
        let call = changed(None, &change).unwrap();
        let written = FixedPriceMinter::setSaleCall::abi_decode(&call.data).unwrap();
        assert_eq!((call.tokenId, written.tokenId), (U256::from(5), U256::from(5)));
        let sale = written.salesConfig;
        assert_eq!((sale.saleStart, sale.saleEnd, sale.maxTokensPerAddress), (100, u64::MAX, 3));
        assert_eq!(sale.pricePerToken, U96::from(20_000));
        assert_eq!(sale.fundsRecipient, Address::repeat_byte(7));
    }

    #[test]
    fn a_value_that_the_strategy_refuses_is_refused_with_its_field() {
        let usdc = Some(Address::repeat_byte(9));
        let price = |text: &str| SaleChange { price_per_token: text.parse::<Amount>().ok(), ..SaleChange::default() };
        let times = |start: Option<u64>, end: Option<u64>| SaleChange {
            sale_start: start.map(Whole),
            sale_end: end.map(Whole),
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
            let refused = changed(currency, &change).map(drop).map_err(|(field, _)| field);
            assert_eq!(refused, Err(field), "{change:?}");
        }
        for (currency, change) in [
            (None, price("0")),
            (None, price("79228162514264337593543950335")),
            (usdc, price("10000")),
            (None, times(Some(200), None)),
        ] {
            assert!(changed(currency, &change).is_ok(), "{change:?}");
        }
    }
}
