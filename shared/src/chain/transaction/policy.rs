//! What lanes sign: an allow-list of functions per contract, checked last, whatever the code above it does.

use std::collections::BTreeSet;

use alloy::{
    primitives::{Address, Bytes},
    sol_types::SolCall,
};

use crate::{
    chain::{
        chains::Chain,
        contracts::{
            native::{
                CommentsProtocol, Creator1155, CreatorFactory, Erc20, Erc20Minter, PushSplit, SplitFactory, TimedMinter,
            },
            third_party::RegistryCollection,
        },
        protocol::splits::NATIVE_TOKEN,
        wallet::{self, Call},
    },
    config::{self, ConfigError},
};

/// Limits on transactions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Policy {
    /// Most gas of a transaction with one write.
    pub max_gas: u64,
}

/// Reason why the policy refuses a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// The function isn't allowed for this kind of contract.
    #[error("function 0x{} of {target} is not on the allow-list", alloy::hex::encode(selector))]
    Function {
        /// Contract that would be called.
        target: Address,
        /// Selector of the function.
        selector: [u8; 4],
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContractKind {
    /// A collection or any other address without a role below.
    Collection,
    Factory,
    SplitFactory,
    Currency,
    Erc20Minter,
    TimedMinter,
    Comments,
    /// A contract that artists' accounts never need to call.
    OffLimits,
}

impl Policy {
    /// Reads `MAX_GAS_PER_WRITE` (default 16777216, the protocol's own limit per transaction by EIP-7825).
    pub fn from_env() -> Result<Self, ConfigError> {
        Ok(Self { max_gas: config::parsed(config::variables::MAX_GAS_PER_WRITE)? })
    }

    /// Checks that an account may make `calls`; the error names the first function that isn't allowed.
    pub fn admit_calls(&self, chain: &Chain, account: Address, calls: &[Call]) -> Result<(), PolicyError> {
        for call in calls {
            let refused = |selector| Err(PolicyError::Function { target: call.target, selector });
            let function = selector(&call.data);
            if !is_listed(chain, account, function, call) {
                return refused(function);
            }
            let mut inside = actions(&call.data).into_iter().map(|action| selector(&action));
            if let Some(action) = inside.find(|action| !COLLECTION_ACTIONS.contains(action)) {
                return refused(action);
            }
        }
        Ok(())
    }
}

/// The collections that calls are about: those called to do more than pay, and those named to minters and the comments protocol.
pub fn collections(chain: &Chain, account: Address, calls: &[Call]) -> BTreeSet<Address> {
    let of_call = |call: &Call| match kind(chain, account, call.target) {
        ContractKind::Collection => {
            let pays = call.data.is_empty() || selector(&call.data) == PushSplit::distributeCall::SELECTOR;
            (!pays).then_some(call.target)
        }
        ContractKind::Erc20Minter => Erc20Minter::mintCall::abi_decode(&call.data).ok().map(|mint| mint.tokenAddress),
        ContractKind::TimedMinter => TimedMinter::mintCall::abi_decode(&call.data).ok().map(|mint| mint.collection),
        ContractKind::Comments => {
            CommentsProtocol::commentCall::abi_decode(&call.data).ok().map(|comment| comment.contractAddress)
        }
        _ => None,
    };
    calls.iter().filter_map(of_call).collect()
}

/// The accounts that calls send money to outright: the recipients of plain payments and of transfers of the currency.
pub fn payees(chain: &Chain, calls: &[Call]) -> BTreeSet<Address> {
    let of_call = |call: &Call| {
        if call.data.is_empty() {
            return Some(call.target);
        }
        let is_currency = call.target == chain.addresses.usdc;
        let transfer = is_currency.then(|| Erc20::transferCall::abi_decode(&call.data).ok()).flatten();
        transfer.map(|transfer| transfer.to)
    };
    calls.iter().filter_map(of_call).collect()
}

/// Whether the allow-list has the call. Value may be sent only with purchases and comments, or as a plain payment. What
/// is bought, and a comment, is the account's own: gifts are mints by a collection's admins, without value.
fn is_listed(chain: &Chain, account: Address, function: [u8; 4], call: &Call) -> bool {
    let (addresses, kind) = (&chain.addresses, kind(chain, account, call.target));
    let free: &[[u8; 4]] = match kind {
        ContractKind::Collection => &[
            Creator1155::updateTokenURICall::SELECTOR,
            Creator1155::updateContractMetadataCall::SELECTOR,
            Creator1155::callSaleCall::SELECTOR,
            Creator1155::addPermissionCall::SELECTOR,
            Creator1155::removePermissionCall::SELECTOR,
            Creator1155::multicallCall::SELECTOR,
        ],
        ContractKind::Factory => &[
            CreatorFactory::createContractCall::SELECTOR,
            CreatorFactory::getOrCreateContractDeterministicCall::SELECTOR,
        ],
        ContractKind::SplitFactory => &[SplitFactory::createSplitDeterministicCall::SELECTOR],
        _ => &[],
    };
    if call.value.is_zero() && free.contains(&function) {
        return true;
    }
    match (kind, function) {
        (ContractKind::Collection, Creator1155::mintCall::SELECTOR) => {
            let is_seller = |minter| minter == addresses.fixed_price_minter || Some(minter) == addresses.merkle_minter;
            let purchase = Creator1155::mintCall::abi_decode(&call.data);
            purchase.is_ok_and(|mint| is_seller(mint.minter) && is_for(account, &mint.minterArguments))
        }
        (ContractKind::Collection, PushSplit::distributeCall::SELECTOR) => {
            let pays_known = |payout: PushSplit::distributeCall| [NATIVE_TOKEN, addresses.usdc].contains(&payout.token);
            call.value.is_zero() && PushSplit::distributeCall::abi_decode(&call.data).is_ok_and(pays_known)
        }
        (ContractKind::Collection, RegistryCollection::purchaseTokenWithValueCall::SELECTOR) => {
            let purchase = RegistryCollection::purchaseTokenWithValueCall::abi_decode(&call.data);
            call.value.is_zero() && purchase.is_ok_and(|purchase| purchase.to == account)
        }
        (ContractKind::Collection, _) => call.data.is_empty(),
        (ContractKind::Currency, Erc20::transferCall::SELECTOR) => {
            // What has no readable recipient can't be checked.
            call.value.is_zero() && Erc20::transferCall::abi_decode(&call.data).is_ok()
        }
        (ContractKind::Currency, Erc20::approveCall::SELECTOR) => {
            let spender = Erc20::approveCall::abi_decode(&call.data).map(|approval| approval.spender);
            let controller = addresses.registry.map(|registry| registry.controller);
            let is_seller = |spender| spender == addresses.erc20_minter || Some(spender) == controller;
            call.value.is_zero() && spender.is_ok_and(is_seller)
        }
        (ContractKind::Erc20Minter, Erc20Minter::mintCall::SELECTOR) => {
            Erc20Minter::mintCall::abi_decode(&call.data).is_ok_and(|mint| mint.mintTo == account)
        }
        (ContractKind::TimedMinter, TimedMinter::mintCall::SELECTOR) => {
            TimedMinter::mintCall::abi_decode(&call.data).is_ok_and(|mint| mint.mintTo == account)
        }
        (ContractKind::Comments, CommentsProtocol::commentCall::SELECTOR) => {
            CommentsProtocol::commentCall::abi_decode(&call.data).is_ok_and(|comment| comment.commenter == account)
        }
        _ => false,
    }
}

/// Whether a seller's arguments name the account as who gets the tokens: those of each seller begin with it.
fn is_for(account: Address, arguments: &[u8]) -> bool {
    arguments.starts_with(account.into_word().as_slice())
}

/// Actions that a collection may run on itself in a batch or during creation.
const COLLECTION_ACTIONS: [[u8; 4]; 7] = [
    Creator1155::assumeLastTokenIdMatchesCall::SELECTOR,
    Creator1155::setupNewTokenWithCreateReferralCall::SELECTOR,
    Creator1155::addPermissionCall::SELECTOR,
    Creator1155::callSaleCall::SELECTOR,
    Creator1155::updateRoyaltiesForTokenCall::SELECTOR,
    Creator1155::updateTokenURICall::SELECTOR,
    Creator1155::adminMintCall::SELECTOR,
];

/// The actions bundled in a call. An unreadable bundle becomes an action without a selector, which nothing allows.
pub(super) fn actions(data: &[u8]) -> Vec<Bytes> {
    let bundled = match selector(data) {
        Creator1155::multicallCall::SELECTOR => Creator1155::multicallCall::abi_decode(data).map(|call| call.data),
        CreatorFactory::createContractCall::SELECTOR => {
            CreatorFactory::createContractCall::abi_decode(data).map(|call| call.setupActions)
        }
        CreatorFactory::getOrCreateContractDeterministicCall::SELECTOR => {
            let decoded = CreatorFactory::getOrCreateContractDeterministicCall::abi_decode(data);
            decoded.map(|call| call.setupActions)
        }
        _ => Ok(Vec::new()),
    };
    bundled.unwrap_or_else(|_| vec![Bytes::new()])
}

pub(super) fn selector(data: &[u8]) -> [u8; 4] {
    data.first_chunk().copied().unwrap_or_default()
}

pub(super) fn kind(chain: &Chain, account: Address, target: Address) -> ContractKind {
    let addresses = &chain.addresses;
    let registry = addresses.registry.iter().flat_map(|of| [of.factory, of.controller]);
    let known = [
        (addresses.factory, ContractKind::Factory),
        (addresses.split_factory, ContractKind::SplitFactory),
        (addresses.usdc, ContractKind::Currency),
        (addresses.erc20_minter, ContractKind::Erc20Minter),
        (addresses.timed_minter, ContractKind::TimedMinter),
        (addresses.comments, ContractKind::Comments),
        (addresses.fixed_price_minter, ContractKind::OffLimits),
        (wallet::PROXY_FACTORY, ContractKind::OffLimits),
        (wallet::SINGLETON, ContractKind::OffLimits),
        (wallet::FALLBACK_HANDLER, ContractKind::OffLimits),
        (wallet::MULTI_SEND_CALL_ONLY, ContractKind::OffLimits),
        (account, ContractKind::OffLimits),
    ];
    let off_limits = registry.chain(addresses.merkle_minter).map(|address| (address, ContractKind::OffLimits));
    let mut known = known.into_iter().chain(off_limits);
    known.find(|(address, _)| *address == target).map_or(ContractKind::Collection, |(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use alloy::{
        primitives::{B256, U256},
        sol_types::SolValue,
    };

    use super::*;
    use crate::{chain::chains::Chains, model::ChainId};

    fn policy() -> Policy {
        Policy { max_gas: 1_000_000 }
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
            Call::new(wallet::PROXY_FACTORY, &update),
            Call { value: U256::ONE, ..Call::new(collection, &update) },
            Call { data: [1, 2, 3].into(), ..Call::new(collection, &update) },
        ] {
            assert!(matches!(admit(refused), Err(PolicyError::Function { .. })));
        }
    }

    #[test]
    fn value_is_allowed_only_in_purchases_and_payments() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let addresses = &chain.addresses;
        let (account, stranger) = (Address::repeat_byte(1), Address::repeat_byte(2));
        let is_admitted = |call: Call| policy().admit_calls(chain, account, &[call]).is_ok();
        let mint = |minter| {
            let quantity = U256::ONE;
            let (rewards, arguments) = (Vec::new(), account.into_word().to_vec().into());
            Creator1155::mintCall {
                minter,
                tokenId: quantity,
                quantity,
                rewardsRecipients: rewards,
                minterArguments: arguments,
            }
        };
        let approve = |spender| Erc20::approveCall { spender, amount: U256::MAX };
        let pay_out = |token| {
            let split = SplitFactory::SplitParams {
                recipients: Vec::new(),
                allocations: Vec::new(),
                totalAllocation: U256::ZERO,
                distributionIncentive: 0,
            };
            PushSplit::distributeCall { split, token, distributor: account }
        };
        let transfer = Erc20::transferCall { to: stranger, amount: U256::ONE };
        let controller = addresses.registry.unwrap().controller;
        let buy = |to| RegistryCollection::purchaseTokenWithValueCall {
            to,
            tokenId: U256::ONE,
            amount: U256::ONE,
            value: U256::ONE,
            referrer0: Address::ZERO,
            referrer1: Address::ZERO,
        };
        for (admitted, call) in [
            (true, Call::new(stranger, &buy(account))),
            (false, Call::new(stranger, &buy(stranger))),
            (false, Call::new(stranger, &buy(account)).with_value(U256::ONE)),
            (false, Call::new(controller, &buy(account))),
            (true, Call::new(addresses.usdc, &approve(controller))),
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
            (true, Call::new(stranger, &pay_out(NATIVE_TOKEN))),
            (true, Call::new(stranger, &pay_out(addresses.usdc))),
            (false, Call::new(stranger, &pay_out(stranger))),
            (false, Call::new(stranger, &pay_out(NATIVE_TOKEN)).with_value(U256::ONE)),
            (false, Call::new(addresses.usdc, &pay_out(NATIVE_TOKEN))),
        ] {
            assert_eq!(is_admitted(call.clone()), admitted, "{call:?}");
        }
    }

    #[test]
    fn what_is_bought_is_the_accounts_own() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let addresses = &chain.addresses;
        let [account, stranger, collection] = [1, 2, 3].map(Address::repeat_byte);
        let mint = |minter, arguments: Vec<u8>| {
            let mint = Creator1155::mintCall {
                minter,
                tokenId: U256::ONE,
                quantity: U256::ONE,
                rewardsRecipients: vec![stranger],
                minterArguments: arguments.into(),
            };
            Call::new(collection, &mint)
        };
        let for_usdc = |to| Erc20Minter::mintCall {
            mintTo: to,
            quantity: U256::ONE,
            tokenAddress: collection,
            tokenId: U256::ONE,
            totalValue: U256::ONE,
            currency: addresses.usdc,
            mintReferral: stranger,
            comment: String::new(),
        };
        let timed = |to| TimedMinter::mintCall {
            mintTo: to,
            quantity: U256::ONE,
            collection,
            tokenId: U256::ONE,
            mintReferral: stranger,
            comment: String::new(),
        };
        let comment = |commenter| CommentsProtocol::commentCall {
            commenter,
            contractAddress: collection,
            tokenId: U256::ONE,
            text: String::new(),
            replyTo: CommentsProtocol::CommentIdentifier {
                commenter: stranger,
                contractAddress: collection,
                tokenId: U256::ONE,
                nonce: B256::ZERO,
            },
            commenterSmartWallet: Address::ZERO,
            referrer: Address::ZERO,
        };
        let path = vec![B256::repeat_byte(9)];
        for to in [account, stranger] {
            for call in [
                mint(addresses.fixed_price_minter, to.into_word().to_vec()),
                mint(addresses.fixed_price_minter, (to, "Mine").abi_encode_params()),
                mint(addresses.merkle_minter.unwrap(), (to, U256::ONE, U256::ONE, path.clone()).abi_encode_params()),
                Call::new(addresses.erc20_minter, &for_usdc(to)),
                Call::new(addresses.timed_minter, &timed(to)),
                Call::new(addresses.comments, &comment(to)),
            ] {
                let call = call.with_value(U256::ONE);
                let admitted = policy().admit_calls(chain, account, std::slice::from_ref(&call));
                assert_eq!(admitted.is_ok(), to == account, "{call:?}");
            }
        }
        let nobodys = mint(addresses.fixed_price_minter, Vec::new());
        assert!(policy().admit_calls(chain, account, &[nobodys]).is_err());
    }

    #[test]
    fn payees_are_those_of_payments_and_transfers() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let [account, collection, paid, given] = [1, 2, 3, 4].map(Address::repeat_byte);
        let transfer = Call::new(chain.addresses.usdc, &Erc20::transferCall { to: given, amount: U256::ONE });
        let update = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: String::new() };
        let calls = [Call::payment(paid, U256::ONE), transfer.clone(), Call::new(collection, &update)];
        assert_eq!(payees(chain, &calls), BTreeSet::from([paid, given]));
        let cut = Call { data: transfer.data[..40].to_vec().into(), ..transfer };
        assert!(policy().admit_calls(chain, account, &[cut]).is_err());
    }

    #[test]
    fn collections_are_those_called_and_those_named_to_other_contracts() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let [account, called, named, payee] = [1, 2, 3, 4].map(Address::repeat_byte);
        let update = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: String::new() };
        let mint = TimedMinter::mintCall {
            mintTo: account,
            quantity: U256::ONE,
            collection: named,
            tokenId: U256::ONE,
            mintReferral: account,
            comment: String::new(),
        };
        let calls = [
            Call::new(called, &update),
            Call::new(chain.addresses.timed_minter, &mint),
            Call::payment(payee, U256::ONE),
            Call::new(chain.addresses.usdc, &Erc20::transferCall { to: payee, amount: U256::ONE }),
        ];
        assert_eq!(collections(chain, account, &calls), BTreeSet::from([called, named]));
    }

    #[test]
    fn bundled_actions_are_checked_too() {
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
}
