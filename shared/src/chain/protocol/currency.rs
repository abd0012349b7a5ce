//! Currencies: the chain's own, and the configured ERC-20 one.

use alloy::{
    primitives::{Address, U256},
    sol_types::SolCall,
};

use crate::{
    chain::{
        chains::Chain,
        contracts::native::Erc20,
        node::{Node, NodeError},
        wallet::Call,
    },
    model::{self, ChainId, Invalid},
};

/// Decimals of the chains' own currencies.
pub const ETH_DECIMALS: u8 = 18;

/// Decimals of USDC.
pub const USDC_DECIMALS: u8 = 6;

/// A currency on one chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Currency {
    /// Symbol, such as `ETH`.
    pub symbol: &'static str,
    /// Number of decimals of an amount in the main unit.
    pub decimals: u8,
    /// The currency's contract; `None` for the chain's own currency.
    pub contract: Option<Address>,
}

impl Chain {
    /// The chain's own currency, which pays for gas.
    pub fn native_currency(&self) -> Currency {
        Currency { symbol: "ETH", decimals: ETH_DECIMALS, contract: None }
    }

    /// All supported currencies, the chain's own first.
    pub fn currencies(&self) -> [Currency; 2] {
        [
            self.native_currency(),
            Currency { symbol: "USDC", decimals: USDC_DECIMALS, contract: Some(self.addresses.usdc) },
        ]
    }

    /// The currency with this symbol (in any letter case) or contract; the zero address is the chain's own currency.
    pub fn currency(&self, name: &str) -> Result<Currency, Invalid> {
        let contract = name.parse::<model::Address>().map(Address::from);
        let is_named = |currency: &Currency| match contract {
            Ok(contract) => contract == currency.contract.unwrap_or_default(),
            Err(_) => currency.symbol.eq_ignore_ascii_case(name),
        };
        let mut currencies = self.currencies().into_iter();
        currencies.find(is_named).ok_or(Invalid("must be ETH, USDC, or the contract of one of them on this chain"))
    }
}

/// What calls pay out of their account: wei, and the smallest unit of the chain's USDC. An allowance counts as spent.
pub fn outlay(chain: &Chain, calls: &[Call]) -> (U256, U256) {
    let usdc_of = |call: &Call| match () {
        () if call.target != chain.addresses.usdc => U256::ZERO,
        () => Erc20::approveCall::abi_decode(&call.data)
            .map(|approve| approve.amount)
            .or_else(|_| Erc20::transferCall::abi_decode(&call.data).map(|transfer| transfer.amount))
            .unwrap_or(U256::MAX),
    };
    calls.iter().fold((U256::ZERO, U256::ZERO), |(eth, usdc), call| {
        (eth.saturating_add(call.value), usdc.saturating_add(usdc_of(call)))
    })
}

impl Currency {
    /// Balance of an account in the smallest unit; 0 if the contract isn't an ERC-20 one. One call.
    pub async fn balance(&self, node: &Node, account: Address) -> Result<U256, NodeError> {
        match self.contract {
            None => node.balance(account).await,
            Some(contract) => Ok(node.read(contract, &Erc20::balanceOfCall { account }).await?.unwrap_or_default()),
        }
    }

    /// The call that transfers `amount` to an account.
    pub fn transfer(&self, to: Address, amount: U256) -> Call {
        match self.contract {
            None => Call::payment(to, amount),
            Some(contract) => Call::new(contract, &Erc20::transferCall { to, amount }),
        }
    }

    /// The request of a payment to an account that wallets read from a QR code (ERC-681), for an amount in the smallest unit
    /// if it is known.
    pub fn payment_uri(&self, chain: ChainId, to: model::Address, amount: Option<model::Amount>) -> String {
        match (self.contract.map(model::Address::from), amount) {
            (None, None) => format!("ethereum:{to}@{chain}"),
            (None, Some(amount)) => format!("ethereum:{to}@{chain}?value={amount}"),
            (Some(contract), None) => format!("ethereum:{contract}@{chain}/transfer?address={to}"),
            (Some(contract), Some(amount)) => {
                format!("ethereum:{contract}@{chain}/transfer?address={to}&uint256={amount}")
            }
        }
    }

    /// Formats an amount in the smallest unit with its symbol: `0.000111 ETH`.
    pub fn format(&self, amount: U256) -> String {
        let digits = format!("{amount:0>width$}", amount = amount.to_string(), width = usize::from(self.decimals) + 1);
        let (whole, decimals) = digits.split_at(digits.len() - usize::from(self.decimals));
        match decimals.trim_end_matches('0') {
            "" => format!("{whole} {}", self.symbol),
            decimals => format!("{whole}.{decimals} {}", self.symbol),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::chains::Chains;

    #[test]
    fn payments_are_requested_as_wallets_read_them() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let [eth, usdc] = chains.get(ChainId(8453)).unwrap().currencies();
        let to: model::Address = "0x540c18b7f99b3b599c6feb99964498931c211858".parse().unwrap();
        let amount = Some(model::Amount(U256::from(7_u64)));
        assert_eq!(eth.payment_uri(ChainId(8453), to, None), format!("ethereum:{to}@8453"));
        assert_eq!(eth.payment_uri(ChainId(8453), to, amount), format!("ethereum:{to}@8453?value=7"));
        let contract = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
        let transfer = format!("ethereum:{contract}@8453/transfer?address={to}");
        assert_eq!(usdc.payment_uri(ChainId(8453), to, None), transfer);
        assert_eq!(usdc.payment_uri(ChainId(8453), to, amount), format!("{transfer}&uint256=7"));
    }

    #[test]
    fn amounts_are_formatted_in_the_main_unit() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let [eth, usdc] = chains.get(ChainId(8453)).unwrap().currencies();
        let eth_amounts = [(0_u64, "0 ETH"), (1, "0.000000000000000001 ETH"), (111_000_000_000_000, "0.000111 ETH")];
        for (amount, shown) in eth_amounts {
            assert_eq!(eth.format(U256::from(amount)), shown);
        }
        for (amount, shown) in [(1_500_000_u64, "1.5 USDC"), (20_000_000, "20 USDC"), (999, "0.000999 USDC")] {
            assert_eq!(usdc.format(U256::from(amount)), shown);
        }
        assert!(eth.format(U256::MAX).starts_with("115792089237316195423570985008687907853269984665640564039457."));
    }

    #[test]
    fn currencies_are_found_by_symbol_and_contract() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let [eth, usdc] = chain.currencies();
        for (name, currency) in [
            ("ETH", eth),
            ("eth", eth),
            ("0x0000000000000000000000000000000000000000", eth),
            ("usdc", usdc),
            ("0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", usdc),
        ] {
            assert_eq!(chain.currency(name), Ok(currency), "{name}");
        }
        for name in ["", "DAI", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02914"] {
            assert!(chain.currency(name).is_err(), "{name}");
        }
    }
}
