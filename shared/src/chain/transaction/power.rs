//! What calls have the power to do, whoever queued them.

use std::collections::BTreeSet;

use alloy::{primitives::Address, sol_types::SolCall};

use super::policy::{ContractKind, actions, kind, selector};
use crate::{
    chain::{
        chains::{Chain, ChainAddresses},
        contracts::{
            native::{Creator1155, CreatorFactory},
            third_party::RegistryCollection,
        },
        wallet::Call,
    },
    model::WriteKind,
    store::{
        StoreError,
        artist::{Artist, Artists},
    },
};

/// What calls do beyond changing what is the account's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Power {
    /// They send money, or let a minter take it.
    pub pays: bool,
    /// Others than the account and the protocol's minters whose permissions change.
    pub appointed: BTreeSet<Address>,
}

impl Power {
    /// That of calls of an account.
    pub fn of(chain: &Chain, account: Address, calls: &[Call]) -> Self {
        let ChainAddresses { fixed_price_minter, erc20_minter, timed_minter, merkle_minter, .. } = &chain.addresses;
        let minters = [fixed_price_minter, erc20_minter, timed_minter].into_iter().chain(merkle_minter);
        let minters: Vec<Address> = minters.copied().collect();
        let mut appointed: BTreeSet<_> = calls.iter().flat_map(appointed).collect();
        appointed.retain(|user| *user != account && !minters.contains(user));
        Self { pays: calls.iter().any(|call| pays(chain, account, call)), appointed }
    }

    /// The queue that takes them, if the artist owns those of `appointed` that are in `own`; `None` for calls that do two
    /// things of which each has a queue of its own.
    pub fn kind(&self, own: &BTreeSet<Address>) -> Option<WriteKind> {
        match (self.pays, self.appointed.is_subset(own)) {
            (false, true) => Some(WriteKind::Plain),
            (true, true) => Some(WriteKind::Payment),
            (false, false) => Some(WriteKind::Grant),
            (true, false) => None,
        }
    }
}

/// The queue for calls of an artist's account; `None` for calls that belong into two. A read for each account that isn't
/// the artist's embedded one and whose permissions change.
pub async fn kind_of(
    chain: &Chain,
    artists: &Artists,
    artist: &Artist,
    calls: &[Call],
) -> Result<Option<WriteKind>, StoreError> {
    let power = Power::of(chain, artist.embedded_wallet.into(), calls);
    let own = artists.owned_of(artist.artist_id, power.appointed.iter().copied().map(Into::into)).await?;
    Ok(power.kind(&own.into_iter().map(Into::into).collect()))
}

fn pays(chain: &Chain, account: Address, call: &Call) -> bool {
    const PURCHASES: [[u8; 4]; 2] =
        [Creator1155::mintCall::SELECTOR, RegistryCollection::purchaseTokenWithValueCall::SELECTOR];
    let is_seller = matches!(
        kind(chain, account, call.target),
        ContractKind::Currency | ContractKind::Erc20Minter | ContractKind::TimedMinter
    );
    is_seller || !call.value.is_zero() || call.data.is_empty() || PURCHASES.contains(&selector(&call.data))
}

/// Users that a call, or what is bundled in it, names for a permission.
fn appointed(call: &Call) -> Vec<Address> {
    let mut users: Vec<_> = actions(&call.data).iter().chain([&call.data]).filter_map(|data| user(data)).collect();
    users.extend(match selector(&call.data) {
        CreatorFactory::createContractCall::SELECTOR => {
            CreatorFactory::createContractCall::abi_decode(&call.data).ok().map(|new| new.defaultAdmin)
        }
        CreatorFactory::getOrCreateContractDeterministicCall::SELECTOR => {
            let new = CreatorFactory::getOrCreateContractDeterministicCall::abi_decode(&call.data);
            new.ok().map(|new| new.defaultAdmin)
        }
        _ => None,
    });
    users
}

fn user(data: &[u8]) -> Option<Address> {
    match selector(data) {
        Creator1155::addPermissionCall::SELECTOR => {
            Creator1155::addPermissionCall::abi_decode(data).ok().map(|given| given.user)
        }
        Creator1155::removePermissionCall::SELECTOR => {
            Creator1155::removePermissionCall::abi_decode(data).ok().map(|taken| taken.user)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{Bytes, U256};

    use super::*;
    use crate::{
        chain::{chains::Chains, contracts::native::Erc20},
        model::ChainId,
    };

    #[test]
    fn calls_are_queued_by_what_they_may_do() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let [account, collection, own, stranger] = [1, 2, 3, 4].map(Address::repeat_byte);
        let give = |user| Creator1155::addPermissionCall { tokenId: U256::ONE, user, permissionBits: U256::from(2) };
        let take = |user| Creator1155::removePermissionCall { tokenId: U256::ONE, user, permissionBits: U256::from(2) };
        let bundle = |user| Creator1155::multicallCall { data: vec![Bytes::from(give(user).abi_encode())] };
        let new = |admin| CreatorFactory::createContractCall {
            newContractURI: String::new(),
            name: String::new(),
            defaultRoyaltyConfiguration: CreatorFactory::RoyaltyConfiguration {
                royaltyMintSchedule: 0,
                royaltyBPS: 0,
                royaltyRecipient: Address::ZERO,
            },
            defaultAdmin: admin,
            setupActions: vec![give(chain.addresses.timed_minter).abi_encode().into()],
        };
        let rename = Creator1155::updateTokenURICall { tokenId: U256::ONE, newURI: String::new() };
        let send = Erc20::transferCall { to: own, amount: U256::ONE };
        for (expected, call) in [
            (WriteKind::Plain, Call::new(collection, &rename)),
            (WriteKind::Plain, Call::new(collection, &give(chain.addresses.fixed_price_minter))),
            (WriteKind::Plain, Call::new(collection, &bundle(own))),
            (WriteKind::Plain, Call::new(chain.addresses.factory, &new(account))),
            (WriteKind::Grant, Call::new(chain.addresses.factory, &new(stranger))),
            (WriteKind::Grant, Call::new(collection, &bundle(stranger))),
            (WriteKind::Grant, Call::new(collection, &give(stranger))),
            (WriteKind::Grant, Call::new(collection, &take(stranger))),
            (WriteKind::Payment, Call::new(chain.addresses.usdc, &send)),
            (WriteKind::Payment, Call::payment(stranger, U256::ONE)),
            (WriteKind::Payment, Call::new(collection, &rename).with_value(U256::ONE)),
        ] {
            let power = Power::of(chain, account, std::slice::from_ref(&call));
            assert_eq!(power.kind(&BTreeSet::from([own])), Some(expected), "{call:?}");
        }
        let both = [Call::payment(own, U256::ONE), Call::new(collection, &give(stranger))];
        assert_eq!(Power::of(chain, account, &both).kind(&BTreeSet::new()), None);
    }
}
