//! Contract of `GET /chains`.

use alloy::primitives::U256;
use alloy_chains::NamedChain;
use serde::Serialize;
use shared::{
    chain::{Chain, protocol::currency::Currency},
    model::{Address, Amount, ChainId},
};
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListChainsResponse<'a> {
    pub chains: &'a [ChainView],
    /// The chain of requests that name none.
    pub default_chain_id: ChainId,
}

/// A chain that is served.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Chain)]
pub struct ChainView {
    pub chain_id: ChainId,
    /// The chain in paths (CAIP-2).
    pub network: String,
    /// Usual name in lower case; null for a chain that has none.
    #[schema(required = true)]
    pub name: Option<&'static str>,
    /// Whether its currencies have no value; null for a chain without a usual name.
    #[schema(required = true)]
    pub is_testnet: Option<bool>,
    /// Currencies of sales and withdrawals, the chain's own first.
    pub currencies: Vec<CurrencyView>,
    pub contracts: Contracts,
    /// Blocks after which what a block says can't be undone, where nodes don't say it.
    pub reorg_depth: u64,
    /// The highest price of gas, in wei, at which the service sends transactions.
    pub max_fee_per_gas: Amount,
    #[schema(required = true)]
    pub explorer: Option<Explorer>,
}

/// A currency.
#[derive(Serialize, ToSchema)]
#[schema(as = Currency)]
pub struct CurrencyView {
    pub symbol: &'static str,
    /// Decimals of an amount in the main unit.
    pub decimals: u8,
    /// The currency's contract; the zero address for the chain's own.
    pub address: Address,
}

/// Contracts that the service calls.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Contracts {
    /// Makes collections.
    pub factory: Address,
    /// Sells in the chain's own currency.
    pub fixed_price_minter: Address,
    /// Sells in an ERC-20 currency.
    pub erc20_minter: Address,
    /// Sells at the protocol's fee alone.
    pub timed_minter: Address,
    /// Sells to the accounts of a list; null where there is none.
    #[schema(required = true)]
    pub merkle_minter: Option<Address>,
    pub comments: Address,
    /// Makes revenue splits.
    pub split_factory: Address,
    /// Governor that proposals are made to.
    #[schema(required = true)]
    pub governor: Option<Address>,
}

/// Where people look a chain up.
#[derive(Serialize, ToSchema)]
pub struct Explorer {
    pub url: String,
    /// Template of an account's page.
    #[schema(example = "https://basescan.org/address/{address}")]
    pub address: String,
    /// Template of a transaction's page.
    #[schema(example = "https://basescan.org/tx/{hash}")]
    pub transaction: String,
}

/// List chains
///
/// The chains that are served, with their contracts, currencies and explorers.
#[utoipa::path(
    get,
    path = "/chains",
    tag = "Service",
    responses((status = 200, description = "The chains.", body = ListChainsResponse<'static>, headers(("cache-control" = String, description = "How long it may be kept.")))),
)]
pub fn list_chains() {}

impl ChainView {
    pub fn new(chain: &Chain) -> Self {
        let named = NamedChain::try_from(chain.id.0).ok();
        let of = &chain.addresses;
        Self {
            chain_id: chain.id,
            network: format!("eip155:{}", chain.id),
            name: named.map(|chain| chain.as_str()),
            is_testnet: named.map(NamedChain::is_testnet),
            currencies: chain.currencies().into_iter().map(CurrencyView::from).collect(),
            contracts: Contracts {
                factory: of.factory.into(),
                fixed_price_minter: of.fixed_price_minter.into(),
                erc20_minter: of.erc20_minter.into(),
                timed_minter: of.timed_minter.into(),
                merkle_minter: of.merkle_minter.map(Address::from),
                comments: of.comments.into(),
                split_factory: of.split_factory.into(),
                governor: chain.governor.map(Address::from),
            },
            reorg_depth: chain.reorg_depth,
            max_fee_per_gas: Amount(U256::from(chain.spending.max_fee_per_gas)),
            explorer: named.and_then(NamedChain::etherscan_urls).map(|(_, url)| Explorer::at(url)),
        }
    }
}

impl Explorer {
    fn at(url: &str) -> Self {
        let url = url.trim_end_matches('/');
        Self {
            url: url.to_owned(),
            address: format!("{url}/address/{{address}}"),
            transaction: format!("{url}/tx/{{hash}}"),
        }
    }
}

impl From<Currency> for CurrencyView {
    fn from(currency: Currency) -> Self {
        let address = currency.contract.unwrap_or_default().into();
        Self { symbol: currency.symbol, decimals: currency.decimals, address }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use shared::chain::Chains;

    use super::*;

    #[test]
    fn known_chain_has_a_name_and_an_explorer() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let view = json!(chains.iter().map(ChainView::new).collect::<Vec<_>>());
        assert_eq!((&view[0]["network"], &view[0]["name"]), (&json!("eip155:8453"), &json!("base")));
        assert_eq!(view[0]["isTestnet"], json!(false));
        assert_eq!(view[0]["explorer"]["transaction"], json!("https://basescan.org/tx/{hash}"));
        assert_eq!(view[0]["currencies"][1]["decimals"], json!(6));
    }
}
