//! What the service signs at all: which functions of which contracts, how much gas, at which fees. The last line of
//! defence before a lane's key, whatever the code above it does.

use alloy::{
    primitives::{Address, Bytes},
    sol_types::SolCall,
};

use super::{
    Chain,
    account::{self, Call},
    contracts::{CommentsProtocol, Creator1155, CreatorFactory, Erc20, Erc20Minter, SplitFactory, TimedMinter},
};
use crate::config::{self, ConfigError};

/// Limits on what is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Most gas that one transaction may use.
    pub max_gas: u64,
    /// Most wei that a unit of gas may cost.
    pub max_fee_per_gas: u64,
    /// Most gas that one artist's transactions may use on one chain in a day (UTC).
    pub artist_gas_daily: u64,
    /// Most gas that all transactions may use on one chain in a day, shared evenly among the lanes.
    pub total_gas_daily: u64,
}

/// Why something isn't signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// A function that isn't on the list for this kind of contract.
    #[error("function 0x{} of {target} is not on the allow-list", alloy::hex::encode(selector))]
    Function {
        /// The contract.
        target: Address,
        /// The function.
        selector: [u8; 4],
    },
    /// More gas than one transaction may use.
    #[error("{needed} gas is more than the {max} that one transaction may use")]
    Gas {
        /// What it needs.
        needed: u64,
        /// What it may use.
        max: u64,
    },
    /// The chain's fees have passed what the service pays.
    #[error("the base fee of {base} wei is above the cap of {cap}")]
    Fee {
        /// The next block's base fee.
        base: u64,
        /// The cap.
        cap: u64,
    },
}

/// What a contract is to the service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContractKind {
    /// A collection of moments, or anybody's account: what is nothing else here.
    Collection,
    /// Makes collections.
    Factory,
    /// Makes revenue splits.
    SplitFactory,
    /// An ERC-20 currency that things are bought with.
    Currency,
    /// Sells for an ERC-20 currency.
    Erc20Minter,
    /// Sells at the protocol's fee.
    TimedMinter,
    /// The comments protocol.
    Comments,
    /// A contract that no artist's account has to call.
    OffLimits,
}

impl Policy {
    /// Reads `MAX_GAS_PER_WRITE` (16777216: what the protocol itself allows one transaction, by EIP-7825), `MAX_FEE_PER_GAS` (in wei; 50000000000), `ARTIST_GAS_DAILY` (50000000) and
    /// `TOTAL_GAS_DAILY` (2000000000).
    ///
    /// # Errors
    /// When one of them is no whole number.
    pub fn from_env() -> Result<Self, ConfigError> {
        Ok(Self {
            max_gas: config::parsed_or("MAX_GAS_PER_WRITE", "16777216")?,
            max_fee_per_gas: config::parsed_or("MAX_FEE_PER_GAS", "50000000000")?,
            artist_gas_daily: config::parsed_or("ARTIST_GAS_DAILY", "50000000")?,
            total_gas_daily: config::parsed_or("TOTAL_GAS_DAILY", "2000000000")?,
        })
    }

    /// Whether an account may be made to do `calls` on a chain.
    ///
    /// # Errors
    /// At the first function that isn't on the list.
    pub fn admit_calls(&self, chain: &Chain, account: Address, calls: &[Call]) -> Result<(), PolicyError> {
        for call in calls {
            let refused = |selector| Err(PolicyError::Function { target: call.target, selector });
            let function = selector(&call.data);
            if !is_listed(chain, kind(chain, account, call.target), function, call) {
                return refused(function);
            }
            let mut inside = actions(&call.data).into_iter().map(|action| selector(&action));
            if let Some(action) = inside.find(|action| !COLLECTION_ACTIONS.contains(action)) {
                return refused(action);
            }
        }
        Ok(())
    }

    /// The limit of a transaction that an estimate says needs `estimate`: a fifth more, for what changes until it is
    /// mined, as far as one transaction may use that.
    ///
    /// # Errors
    /// When the estimate is more than one transaction may use.
    pub fn gas_limit(&self, estimate: u64) -> Result<u64, PolicyError> {
        if estimate > self.max_gas {
            return Err(PolicyError::Gas { needed: estimate, max: self.max_gas });
        }
        Ok(estimate.saturating_add(estimate / 5).min(self.max_gas))
    }
}

/// Whether a contract of this kind may be called in this way. Money goes along only where it buys something, or where
/// giving it away is all that the call does.
fn is_listed(chain: &Chain, kind: ContractKind, function: [u8; 4], call: &Call) -> bool {
    let addresses = &chain.addresses;
    let free: &[[u8; 4]] = match kind {
        ContractKind::Collection => &[
            Creator1155::updateTokenURICall::SELECTOR,
            Creator1155::updateContractMetadataCall::SELECTOR,
            Creator1155::callSaleCall::SELECTOR,
            Creator1155::addPermissionCall::SELECTOR,
            Creator1155::removePermissionCall::SELECTOR,
            Creator1155::multicallCall::SELECTOR,
        ],
        ContractKind::Factory => &[CreatorFactory::createContractCall::SELECTOR],
        ContractKind::SplitFactory => &[SplitFactory::createSplitDeterministicCall::SELECTOR],
        ContractKind::Currency => &[Erc20::transferCall::SELECTOR],
        _ => &[],
    };
    if call.value.is_zero() && free.contains(&function) {
        return true;
    }
    match (kind, function) {
        (ContractKind::Collection, Creator1155::mintCall::SELECTOR) => {
            Creator1155::mintCall::abi_decode(&call.data).is_ok_and(|mint| mint.minter == addresses.fixed_price_minter)
        }
        (ContractKind::Collection, _) => call.data.is_empty(),
        (ContractKind::Currency, Erc20::approveCall::SELECTOR) => {
            let spender = Erc20::approveCall::abi_decode(&call.data).map(|approval| approval.spender);
            call.value.is_zero() && spender == Ok(addresses.erc20_minter)
        }
        (ContractKind::Erc20Minter, Erc20Minter::mintCall::SELECTOR)
        | (ContractKind::TimedMinter, TimedMinter::mintCall::SELECTOR)
        | (ContractKind::Comments, CommentsProtocol::commentCall::SELECTOR) => true,
        _ => false,
    }
}

/// What a collection may be made to do to itself, several at once or as it is made.
const COLLECTION_ACTIONS: [[u8; 4]; 7] = [
    Creator1155::assumeLastTokenIdMatchesCall::SELECTOR,
    Creator1155::setupNewTokenWithCreateReferralCall::SELECTOR,
    Creator1155::addPermissionCall::SELECTOR,
    Creator1155::callSaleCall::SELECTOR,
    Creator1155::updateRoyaltiesForTokenCall::SELECTOR,
    Creator1155::updateTokenURICall::SELECTOR,
    Creator1155::adminMintCall::SELECTOR,
];

/// The actions that a call bundles; none where it is an action itself. One that can't be read is taken for an action
/// without a name, which nothing allows.
fn actions(data: &[u8]) -> Vec<Bytes> {
    let bundled = match selector(data) {
        Creator1155::multicallCall::SELECTOR => Creator1155::multicallCall::abi_decode(data).map(|call| call.data),
        CreatorFactory::createContractCall::SELECTOR => {
            CreatorFactory::createContractCall::abi_decode(data).map(|call| call.setupActions)
        }
        _ => Ok(Vec::new()),
    };
    bundled.unwrap_or_else(|_| vec![Bytes::new()])
}

fn selector(data: &[u8]) -> [u8; 4] {
    data.first_chunk().copied().unwrap_or_default()
}

fn kind(chain: &Chain, account: Address, target: Address) -> ContractKind {
    let addresses = &chain.addresses;
    let known = [
        (addresses.factory, ContractKind::Factory),
        (addresses.split_factory, ContractKind::SplitFactory),
        (addresses.usdc, ContractKind::Currency),
        (addresses.erc20_minter, ContractKind::Erc20Minter),
        (addresses.timed_minter, ContractKind::TimedMinter),
        (addresses.comments, ContractKind::Comments),
        (addresses.fixed_price_minter, ContractKind::OffLimits),
        (account::PROXY_FACTORY, ContractKind::OffLimits),
        (account::SINGLETON, ContractKind::OffLimits),
        (account::FALLBACK_HANDLER, ContractKind::OffLimits),
        (account::MULTI_SEND_CALL_ONLY, ContractKind::OffLimits),
        (account, ContractKind::OffLimits),
    ];
    known.into_iter().find(|(address, _)| *address == target).map_or(ContractKind::Collection, |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use alloy::primitives::U256;

    use super::*;
    use crate::{chain::Chains, model::ChainId};

    fn policy() -> Policy {
        Policy { max_gas: 1_000_000, max_fee_per_gas: 100, artist_gas_daily: 0, total_gas_daily: 0 }
    }

    #[test]
    fn only_listed_functions_of_collections_are_admitted() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let (account, collection) = (Address::repeat_byte(1), Address::repeat_byte(2));
        let admit = |call: Call| policy().admit_calls(chain, account, &[call]);
        let update = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: String::new() };
        let give = Creator1155::addPermissionCall { tokenId: U256::ONE, user: account, permissionBits: U256::ONE };
        let move_in = Creator1155::setupNewTokenCall { newURI: String::new(), maxSupply: U256::ONE };

        assert_eq!(admit(Call::new(collection, &update)), Ok(()));
        assert_eq!(admit(Call::new(collection, &give)), Ok(()));
        for refused in [
            Call::new(collection, &move_in),
            Call::new(chain.addresses.usdc, &update),
            Call::new(account, &update),
            Call::new(account::PROXY_FACTORY, &update),
            Call { value: U256::ONE, ..Call::new(collection, &update) },
            Call { data: [1, 2, 3].into(), ..Call::new(collection, &update) },
        ] {
            assert!(matches!(admit(refused), Err(PolicyError::Function { .. })));
        }
    }

    #[test]
    fn money_goes_along_where_it_buys_something_or_is_given_away() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let addresses = &chain.addresses;
        let (account, stranger) = (Address::repeat_byte(1), Address::repeat_byte(2));
        let is_admitted = |call: Call| policy().admit_calls(chain, account, &[call]).is_ok();
        let mint = |minter| {
            let quantity = U256::ONE;
            let (rewards, arguments) = (Vec::new(), Bytes::new());
            Creator1155::mintCall {
                minter,
                tokenId: quantity,
                quantity,
                rewardsRecipients: rewards,
                minterArguments: arguments,
            }
        };
        let approve = |spender| Erc20::approveCall { spender, amount: U256::MAX };
        let transfer = Erc20::transferCall { to: stranger, amount: U256::ONE };
        for (admitted, call) in [
            (true, Call::new(stranger, &mint(addresses.fixed_price_minter)).with_value(U256::ONE)),
            (false, Call::new(stranger, &mint(stranger)).with_value(U256::ONE)),
            (false, Call::new(addresses.fixed_price_minter, &mint(addresses.fixed_price_minter))),
            (true, Call::new(addresses.usdc, &approve(addresses.erc20_minter))),
            (false, Call::new(addresses.usdc, &approve(stranger))),
            (false, Call::new(stranger, &approve(addresses.erc20_minter))),
            (true, Call::new(addresses.usdc, &transfer)),
            (false, Call::new(addresses.usdc, &transfer).with_value(U256::ONE)),
            (false, Call::new(stranger, &transfer)),
            (true, Call::payment(stranger, U256::ONE)),
            (false, Call::payment(addresses.usdc, U256::ONE)),
            (false, Call::payment(addresses.factory, U256::ONE)),
            (false, Call::payment(account, U256::ONE)),
        ] {
            assert_eq!(is_admitted(call.clone()), admitted, "{call:?}");
        }
    }

    #[test]
    fn bundled_actions_are_looked_into() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let admit = |target: Address, function: &dyn Fn(Vec<Bytes>) -> Vec<u8>, actions: Vec<Vec<u8>>| {
            let data = function(actions.into_iter().map(Bytes::from).collect()).into();
            let call = Call { target, value: U256::ZERO, data };
            policy().admit_calls(chain, Address::repeat_byte(1), &[call])
        };
        let multicall = |data: Vec<Bytes>| Creator1155::multicallCall { data }.abi_encode();
        let create = |actions: Vec<Bytes>| {
            CreatorFactory::createContractCall {
                newContractURI: String::new(),
                name: String::new(),
                defaultRoyaltyConfiguration: CreatorFactory::RoyaltyConfiguration {
                    royaltyMintSchedule: 0,
                    royaltyBPS: 0,
                    royaltyRecipient: Address::ZERO,
                },
                defaultAdmin: Address::ZERO,
                setupActions: actions,
            }
            .abi_encode()
        };
        let mint = Creator1155::adminMintCall {
            recipient: Address::ZERO,
            tokenId: U256::ONE,
            quantity: U256::ONE,
            data: Bytes::new(),
        };
        let (collection, factory) = (Address::repeat_byte(2), chain.addresses.factory);
        assert_eq!(admit(collection, &multicall, vec![mint.abi_encode()]), Ok(()));
        assert_eq!(admit(factory, &create, vec![mint.abi_encode()]), Ok(()));
        assert_eq!(admit(factory, &create, vec![]), Ok(()));
        let upgrade = alloy::hex!("3659cfe6").to_vec();
        for (target, function) in [(collection, &multicall as &dyn Fn(Vec<Bytes>) -> Vec<u8>), (factory, &create)] {
            assert!(admit(target, function, vec![mint.abi_encode(), upgrade.clone()]).is_err());
            assert!(admit(target, function, vec![multicall(vec![mint.abi_encode().into()])]).is_err());
            assert!(admit(target, function, vec![vec![]]).is_err());
        }
        assert!(admit(collection, &create, vec![]).is_err(), "a collection makes no collections");
        assert!(admit(factory, &multicall, vec![]).is_err());
        let garbled = |_: Vec<Bytes>| [Creator1155::multicallCall::SELECTOR.as_slice(), &[0xff; 40]].concat();
        assert!(admit(collection, &garbled, vec![]).is_err());
    }

    #[test]
    fn gas_has_a_margin_and_a_limit() {
        assert_eq!(policy().gas_limit(100_000), Ok(120_000));
        assert_eq!(policy().gas_limit(900_000), Ok(1_000_000));
        assert_eq!(policy().gas_limit(1_000_001), Err(PolicyError::Gas { needed: 1_000_001, max: 1_000_000 }));
    }
}
