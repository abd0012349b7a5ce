//! The supported chains. A known chain needs only its id: its public deployments are the defaults.

use std::collections::HashSet;

use alloy::primitives::{Address, address};
use alloy_chains::NamedChain;
use serde::Deserialize;

use super::spending::{Spending, SpendingSettings};
use crate::{
    config::{self, ConfigError},
    model::{ChainId, Invalid},
};

/// The contract that keeps what the protocol pays out of its fee, the same on every chain:
/// <https://github.com/ourzora/zora-protocol/tree/main/packages/protocol-deployments>
pub const PROTOCOL_REWARDS: Address = address!("7777777F279eba3d3Ad8F4E708545291A6fDBA8B");

/// Contracts on one chain that the service calls or indexes.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChainAddresses {
    /// Creates collections.
    pub factory: Address,
    /// Sells in the chain's own currency.
    pub fixed_price_minter: Address,
    /// Sells in an ERC-20 currency.
    pub erc20_minter: Address,
    /// Sells at the protocol's fee alone, then opens a secondary market.
    pub timed_minter: Address,
    /// Sells to the accounts of a list, if deployed.
    #[serde(default)]
    pub merkle_minter: Option<Address>,
    /// The comments protocol.
    pub comments: Address,
    /// Creates revenue splits that pay out on receipt (0xSplits v2.2, push).
    pub split_factory: Address,
    /// The ERC-20 currency that sales are priced in, with 6 decimals.
    pub usdc: Address,
    /// Other tokens that stand for USDC there: nothing is sold for them here, but what others sold for them is counted
    /// and shown as USDC.
    #[serde(default)]
    pub also_usdc: Vec<Address>,
    /// The registry protocol, if deployed.
    pub registry: Option<RegistryAddresses>,
    /// The editions protocol, if deployed.
    pub editions: Option<EditionsAddresses>,
    /// Earlier contracts of the same roles: nothing is sent to them, but their events are indexed too.
    #[serde(default)]
    pub former: Vec<FormerContract>,
}

/// What a contract does for the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Role {
    /// See [`ChainAddresses::factory`].
    Factory,
    /// See [`ChainAddresses::fixed_price_minter`].
    FixedPriceMinter,
    /// See [`ChainAddresses::erc20_minter`].
    Erc20Minter,
    /// See [`ChainAddresses::timed_minter`].
    TimedMinter,
    /// See [`ChainAddresses::merkle_minter`].
    MerkleMinter,
    /// See [`ChainAddresses::comments`].
    Comments,
    /// See [`ChainAddresses::split_factory`].
    SplitFactory,
}

/// A contract that had a role before the current one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FormerContract {
    /// Its role.
    pub role: Role,
    /// Its address.
    pub address: Address,
    /// First block that can hold an event of it.
    pub first_block: u64,
}

/// Contracts of the registry protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RegistryAddresses {
    /// Creates collections.
    pub factory: Address,
    /// Sells in the ERC-20 currency.
    pub controller: Address,
}

/// Contracts of the editions protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EditionsAddresses {
    /// Creates collections.
    pub creator: Address,
    /// Holds the collections' metadata URIs.
    pub metadata: Address,
}

impl ChainAddresses {
    /// Every contract that has or had a role, the current one first.
    pub fn all(&self, role: Role) -> Vec<Address> {
        let current = match role {
            Role::Factory => Some(self.factory),
            Role::FixedPriceMinter => Some(self.fixed_price_minter),
            Role::Erc20Minter => Some(self.erc20_minter),
            Role::TimedMinter => Some(self.timed_minter),
            Role::MerkleMinter => self.merkle_minter,
            Role::Comments => Some(self.comments),
            Role::SplitFactory => Some(self.split_factory),
        };
        let former = self.former.iter().filter(|former| former.role == role).map(|former| former.address);
        current.into_iter().chain(former).collect()
    }

    /// The first former contract that can't be one.
    fn misplaced(&self) -> Option<Address> {
        let mut named = HashSet::new();
        let mut former = self.former.iter().map(|former| former.address);
        former.find(|address| address.is_zero() || self.contains(*address) || !named.insert(*address))
    }

    /// Whether amounts of a currency are of USDC.
    pub fn is_usdc(&self, currency: Address) -> bool {
        currency == self.usdc || self.also_usdc.contains(&currency)
    }

    /// Whether one of the contracts is at `address`.
    pub fn contains(&self, address: Address) -> bool {
        let Self { factory, fixed_price_minter, erc20_minter, timed_minter, comments, split_factory, usdc, .. } = self;
        let own = [factory, fixed_price_minter, erc20_minter, timed_minter, comments, split_factory, usdc];
        let registry = self.registry.iter().flat_map(|of| [&of.factory, &of.controller]);
        let editions = self.editions.iter().flat_map(|of| [&of.creator, &of.metadata]);
        own.into_iter().chain(&self.merkle_minter).chain(registry).chain(editions).any(|known| *known == address)
    }
}

/// A supported chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// EIP-155 id.
    pub id: ChainId,
    /// First block that can hold an event of the service's contracts.
    pub first_block: u64,
    /// Number of newer blocks that a transaction needs before its nonce counts as used for good.
    pub confirmations: u64,
    /// Number of newer blocks that make a block final; indexing of younger blocks can be undone.
    pub reorg_depth: u64,
    /// Whether the nodes' `finalized` tag says which blocks are final; `reorg_depth` stands in for nodes without it.
    pub has_finalized_tag: bool,
    /// Contracts of the chain.
    pub addresses: ChainAddresses,
    /// Governor for proposals to publish on this chain.
    pub governor: Option<Address>,
    /// Limits of what the service pays for.
    pub spending: Spending,
}

impl Chain {
    /// Default of `reorg_depth`, far deeper than any known reorganisation of the known chains.
    const REORG_DEPTH: u64 = 128;

    /// Whether its currencies have no value, as far as is known.
    pub fn is_testnet(&self) -> bool {
        NamedChain::try_from(self.id.0).is_ok_and(NamedChain::is_testnet)
    }

    /// A known chain's public deployments: the public service's or, where it has none, the protocol's own.
    fn public(id: ChainId) -> Option<Self> {
        let timed_minter = address!("777777722D078c97c6ad07d9f36801e653E356Ae");
        let split_factory = address!("8E8eB0cC6AE34A38B67D5Cf91ACa38f60bc3Ecf4");
        let (first_block, confirmations, governor, addresses) = match id.0 {
            1 => (
                21_123_814,
                12,
                Some(address!("6f3E6272A167e8AcCb32072d08E0957F9c79223d")),
                ChainAddresses {
                    factory: address!("2bf5EBEEb028D5F9E02F0F432Ebb1a192F5528F1"),
                    fixed_price_minter: address!("e0d3febE1c17DDA1086e89B638Ab54955FE2eF8a"),
                    erc20_minter: address!("0676b307D53EA7ED80b20643E1Ac57A78Ce12f87"),
                    timed_minter,
                    merkle_minter: Some(address!("f48172CA3B6068B20eE4917Eb27b5472f1f272C7")),
                    comments: address!("7777777C2B3132e03a65721a41745C07170a5877"),
                    split_factory,
                    usdc: address!("A0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48"),
                    also_usdc: Vec::new(),
                    registry: None,
                    editions: None,
                    former: Vec::new(),
                },
            ),
            // The protocol's own. `first_block` is that from which the chain has its present form; they came later.
            10 => (
                105_235_063,
                5,
                None,
                ChainAddresses {
                    factory: address!("777777C338d93e2C7adf08D102d45CA7CC4Ed021"),
                    fixed_price_minter: address!("3678862f04290E565cCA2EF163BAeb92Bb76790C"),
                    erc20_minter: address!("777777E8850d8D6d98De2B5f64fae401F96eFF31"),
                    timed_minter,
                    merkle_minter: Some(address!("899ce31dF6C6Af81203AcAaD285bF539234eF4b8")),
                    comments: address!("7777777C2B3132e03a65721a41745C07170a5877"),
                    split_factory,
                    usdc: address!("0b2C639c533813f4Aa9D7837CAf62653d097Ff85"),
                    also_usdc: Vec::new(),
                    registry: None,
                    editions: None,
                    former: Vec::new(),
                },
            ),
            // `first_block` is that of the editions protocol, the oldest.
            8453 => (
                7_272_930,
                5,
                None,
                ChainAddresses {
                    factory: address!("540C18B7f99b3b599c6FeB99964498931c211858"),
                    fixed_price_minter: address!("2994762aA0E4C750c51f333C10d81961faEBE785"),
                    erc20_minter: address!("E27d9Dc88dAB82ACa3ebC49895c663C6a0CfA014"),
                    timed_minter,
                    merkle_minter: Some(address!("f48172CA3B6068B20eE4917Eb27b5472f1f272C7")),
                    comments: address!("89d1e8b71330cd1d5d651b2d3a62472e10dd567d"),
                    split_factory,
                    usdc: address!("833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
                    also_usdc: Vec::new(),
                    registry: Some(RegistryAddresses {
                        factory: address!("94c2FaB68ad0B7cA12e19D37B14eC662633D8025"),
                        controller: address!("bcEaBFcC30a0e050367A6A5FaEa247A43C314709"),
                    }),
                    editions: Some(EditionsAddresses {
                        creator: address!("0000000000aec84F5BFc2af15EAfb943bf4e3522"),
                        metadata: address!("0000000000f5A96Dc85959cAeb0Cfe680f108FB5"),
                    }),
                    // The first ones of this deployment, in its sources' address files.
                    former: vec![
                        former(Role::Factory, address!("4c6b9b23be9dc281c8d49fedaed89c57a00d3b1f"), 7_272_930),
                        former(Role::Erc20Minter, address!("0733a870d0f2ab1ccb94e50ab0039584701c38f2"), 7_272_930),
                    ],
                },
            ),
            // `first_block` is that of the comments protocol: the former factory's isn't known.
            84_532 => (
                17_267_821,
                5,
                None,
                ChainAddresses {
                    factory: address!("6832A997D8616707C7b68721D6E9332E77da7F6C"),
                    fixed_price_minter: address!("2994762aA0E4C750c51f333C10d81961faEBE785"),
                    erc20_minter: address!("4538D7A07227D21597fb851A14057f00d15b4D5e"),
                    timed_minter,
                    merkle_minter: Some(address!("3E8524770adD176bE381a0529E09f1c6c3502A5a")),
                    comments: address!("3836fa55a5d35445d6ede75b4f0991e850546dec"),
                    split_factory,
                    usdc: address!("036CbD53842c5426634e7929541eC2318f3dCF7e"),
                    // The public service prices in it.
                    also_usdc: vec![address!("14196f08a4fa0b66b7331bc40dd6bcd8a1deea9f")],
                    registry: None,
                    editions: None,
                    former: vec![
                        former(Role::Factory, address!("77310ce1b891903710ec5269088a2f249fb8d875"), 17_267_821),
                        former(Role::Erc20Minter, address!("e21e757c9fdecf75bf20d53a760a79f27c17190c"), 17_267_821),
                    ],
                },
            ),
            11_155_111 => (
                6_977_641,
                12,
                Some(address!("35d2670d7C8931AACdd37C89Ddcb0638c3c44A57")),
                ChainAddresses {
                    factory: address!("e0d3febE1c17DDA1086e89B638Ab54955FE2eF8a"),
                    fixed_price_minter: address!("f4Bde77E270c0bCCb7a5F7a9f17a740b597E27bF"),
                    erc20_minter: address!("c0C6F1BdAF7169073Db1FA58a049132343D07dFF"),
                    timed_minter,
                    merkle_minter: Some(address!("e770E6f19aecF8ef3145A50087999b5556aB3610")),
                    comments: address!("7777777C2B3132e03a65721a41745C07170a5877"),
                    split_factory,
                    usdc: address!("1c7D4B196Cb0C7B01d743Fbc6116a902379C7238"),
                    also_usdc: Vec::new(),
                    registry: None,
                    editions: None,
                    former: Vec::new(),
                },
            ),
            _ => return None,
        };
        let reorg_depth = Self::REORG_DEPTH;
        let spending = Spending::of(id, &SpendingSettings::default());
        let has_finalized_tag = true;
        Some(Self { id, first_block, confirmations, reorg_depth, has_finalized_tag, addresses, governor, spending })
    }
}

fn former(role: Role, address: Address, first_block: u64) -> FormerContract {
    FormerContract { role, address, first_block }
}

/// The chains whose money has a value, or all if none has.
pub fn with_value(chains: &[Chain]) -> Vec<ChainId> {
    let has_other = chains.iter().any(|chain| !chain.is_testnet());
    chains.iter().filter(|chain| !(has_other && chain.is_testnet())).map(|chain| chain.id).collect()
}

/// What a chain is that isn't supported.
const NOT_CONFIGURED: Invalid = Invalid("is not a chain that this service is configured for: see GET /chains");

/// The supported chains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chains(Vec<Chain>);

/// Reason why the value of `CHAINS` can't be used.
#[derive(Debug, thiserror::Error)]
pub enum InvalidChains {
    /// Not JSON of the documented shape.
    #[error("not a JSON array of chains: {0}")]
    Json(#[from] serde_json::Error),
    /// An unknown chain without its own first block and contracts.
    #[error("chain {0} has no public deployment: give its firstBlock and contracts")]
    Unknown(ChainId),
    /// An empty list, or one chain twice.
    #[error("name at least one chain, and each only once")]
    Count,
    /// A former contract that is in use, named twice or nowhere.
    #[error("chain {0}: {1} is no former contract: it is in use, named twice or no address")]
    Former(ChainId, Address),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ChainSettings {
    id: ChainId,
    first_block: Option<u64>,
    confirmations: Option<u64>,
    reorg_depth: Option<u64>,
    contracts: Option<ChainAddresses>,
    governor: Option<Address>,
    #[serde(default)]
    spending: SpendingSettings,
}

impl Chains {
    /// Reads `CHAINS` (docs/configuration.md), by default chain 8453 alone.
    pub fn from_env() -> Result<Self, ConfigError> {
        config::parsed(config::variables::CHAINS)
    }

    /// The chain with this id, if it is supported.
    pub fn get(&self, id: ChainId) -> Result<&Chain, Invalid> {
        self.iter().find(|chain| chain.id == id).ok_or(NOT_CONFIGURED)
    }

    /// The named chain, or those that lists and sums of everyone's have: see [`with_value`].
    pub fn of_everyone(&self, named: Option<ChainId>) -> Vec<ChainId> {
        named.map_or_else(|| with_value(&self.0), |chain| vec![chain])
    }

    /// All chains, in the configured order.
    pub fn iter(&self) -> impl Iterator<Item = &Chain> {
        self.0.iter()
    }
}

impl std::str::FromStr for Chains {
    type Err = InvalidChains;

    fn from_str(json: &str) -> Result<Self, InvalidChains> {
        let settings: Vec<ChainSettings> = serde_json::from_str(json)?;
        let chains = settings
            .into_iter()
            .map(|chain| {
                let public = Chain::public(chain.id);
                let from_public = |field: fn(&Chain) -> u64| public.as_ref().map(field);
                let (Some(first_block), Some(addresses)) = (
                    chain.first_block.or(from_public(|known| known.first_block)),
                    chain.contracts.or(public.as_ref().map(|known| known.addresses.clone())),
                ) else {
                    return Err(InvalidChains::Unknown(chain.id));
                };
                if let Some(address) = addresses.misplaced() {
                    return Err(InvalidChains::Former(chain.id, address));
                }
                let confirmations = chain.confirmations.or(from_public(|known| known.confirmations)).unwrap_or(0);
                let reorg_depth = chain.reorg_depth.unwrap_or(Chain::REORG_DEPTH);
                let has_finalized_tag = chain.reorg_depth.is_none();
                let governor = chain.governor.or(public.as_ref().and_then(|known| known.governor));
                let spending = Spending::of(chain.id, &chain.spending);
                let first_block = addresses.former.iter().map(|former| former.first_block).fold(first_block, u64::min);
                Ok(Chain {
                    id: chain.id,
                    first_block,
                    confirmations,
                    reorg_depth,
                    has_finalized_tag,
                    addresses,
                    governor,
                    spending,
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        let repeated =
            chains.iter().enumerate().any(|(index, chain)| chains.iter().take(index).any(|other| other.id == chain.id));
        if chains.is_empty() || repeated { Err(InvalidChains::Count) } else { Ok(Self(chains)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_money_counts_only_where_there_is_no_other() {
        let ids = |text: &str| -> Vec<ChainId> {
            let chains: Chains = text.parse().unwrap();
            chains.of_everyone(None)
        };
        assert_eq!(ids(r#"[{"id": 8453}, {"id": 84532}]"#), [ChainId(8453)]);
        assert_eq!(ids(r#"[{"id": 84532}, {"id": 11155111}]"#), [ChainId(84532), ChainId(11155111)]);
    }

    #[test]
    fn a_known_chain_needs_only_its_id_and_every_part_can_be_overridden() {
        let chains: Chains = r#"[{"id": 8453}, {"id": 1, "firstBlock": 0, "confirmations": 0}]"#.parse().unwrap();
        let base = chains.get(ChainId(8453)).unwrap();
        assert_eq!((base.first_block, base.confirmations), (7_272_930, 5));
        let mainnet = chains.get(ChainId(1)).unwrap();
        assert_eq!((mainnet.first_block, mainnet.confirmations), (0, 0));
        assert!(chains.get(ChainId(10)).is_err(), "it is known, and not configured");
        let optimism: Chains = r#"[{"id": 10}]"#.parse().unwrap();
        assert_eq!(optimism.get(ChainId(10)).map(|chain| chain.first_block), Ok(105_235_063));
    }

    #[test]
    fn former_contracts_are_read_from_their_first_block() {
        let contracts = |former: &str| {
            let roles =
                ["factory", "fixedPriceMinter", "erc20Minter", "timedMinter", "comments", "splitFactory", "usdc"];
            let current = roles.map(|role| format!(r#""{role}": "{}""#, Address::repeat_byte(1))).join(", ");
            format!(r#"[{{"id": 137, "firstBlock": 500, "contracts": {{{current}, "former": [{former}]}}}}]"#)
        };
        let chain = |json: &str| json.parse::<Chains>().unwrap().iter().next().unwrap().clone();
        assert_eq!(chain(&contracts("")).first_block, 500);
        let old = Address::repeat_byte(2);
        let moved = chain(&contracts(&format!(r#"{{"role": "factory", "address": "{old}", "firstBlock": 20}}"#)));
        assert_eq!(moved.first_block, 20);
        assert_eq!(moved.addresses.all(Role::Factory), [Address::repeat_byte(1), old]);
        assert_eq!(moved.addresses.all(Role::Comments), [Address::repeat_byte(1)]);
        // None, one that is in use, and one twice.
        for wrong in [vec![0], vec![1], vec![2, 2]] {
            let entry = |byte| {
                format!(r#"{{"role": "factory", "address": "{}", "firstBlock": 20}}"#, Address::repeat_byte(byte))
            };
            let refused = contracts(&wrong.into_iter().map(entry).collect::<Vec<_>>().join(",")).parse::<Chains>();
            assert!(matches!(refused, Err(InvalidChains::Former(ChainId(137), _))), "{refused:?}");
        }
    }

    #[test]
    fn other_tokens_may_stand_for_usdc() {
        let tested = "14196f08a4fa0b66b7331bc40dd6bcd8a1deea9f".parse().unwrap();
        let chains: Chains = r#"[{"id": 84532}, {"id": 8453}]"#.parse().unwrap();
        let counts = |id| chains.get(ChainId(id)).unwrap().addresses.is_usdc(tested);
        assert_eq!([counts(84_532), counts(8453)], [true, false]);
        let mut contracts = serde_json::json!({"alsoUsdc": [tested]});
        for role in ["factory", "fixedPriceMinter", "erc20Minter", "timedMinter", "comments", "splitFactory", "usdc"] {
            contracts[role] = serde_json::json!(Address::ZERO);
        }
        assert!(serde_json::from_value::<ChainAddresses>(contracts).unwrap().is_usdc(tested));
    }

    #[test]
    fn public_governors_are_known_and_can_be_overridden() {
        let governor = |json: &str| json.parse::<Chains>().unwrap().iter().next().unwrap().governor;
        assert_eq!(governor(r#"[{"id": 1}]"#), Some(address!("6f3E6272A167e8AcCb32072d08E0957F9c79223d")));
        assert_eq!(governor(r#"[{"id": 11155111}]"#), Some(address!("35d2670d7C8931AACdd37C89Ddcb0638c3c44A57")));
        assert_eq!(governor(r#"[{"id": 8453}]"#), None);
        let other = Address::repeat_byte(7);
        assert_eq!(governor(&format!(r#"[{{"id": 1, "governor": "{other}"}}]"#)), Some(other));
    }

    #[test]
    fn an_invalid_list_is_refused_with_its_reason() {
        for (json, reason) in [
            ("[]", "at least one chain"),
            ("8453", "not a JSON array"),
            (r#"[{"id": 137}]"#, "chain 137 has no public deployment"),
            (r#"[{"id": 1}, {"id": 1}]"#, "only once"),
            (r#"[{"id": 1, "rpc": "x"}]"#, "unknown field"),
        ] {
            let error = json.parse::<Chains>().unwrap_err().to_string();
            assert!(error.contains(reason), "{json}: {error}");
        }
    }
}
