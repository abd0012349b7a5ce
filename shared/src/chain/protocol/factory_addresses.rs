//! Addresses at which a factory creates collections. They follow from the factory's own address, so that no other
//! contract can be there, and are known without index and logs.

use std::{
    collections::{HashMap, HashSet},
    ops::Range,
    sync::Arc,
};

use alloy::{eips::BlockId, primitives::Address};
use tokio::sync::Mutex;

use crate::{
    chain::{
        chains::{Chain, Role},
        contracts::native::{Creator1155, CreatorFactory::deterministicContractAddressCall},
        node::{Node, NodeError},
    },
    model::{ChainId, MAX_URI_KEPT},
};

/// Nonces of a factory whose addresses are computed, the newest. They begin with 0 where genesis placed the factory.
const NONCES: u64 = 131_072;

/// Addresses that were computed, which clones share.
#[derive(Clone, Default)]
pub(super) struct FactoryAddresses(Arc<Mutex<HashMap<(ChainId, Address), Created>>>);

/// The addresses of a factory's nonces.
#[derive(Default)]
struct Created {
    nonces: Range<u64>,
    addresses: HashSet<Address>,
}

impl FactoryAddresses {
    /// Whether only a factory of the chain can have created the contract at this address, which has code. At most two
    /// calls for each factory, and two more.
    ///
    /// A collection whose address follows from its name and URI is known as long as it keeps them and its owner.
    pub(super) async fn contain(&self, node: &Node, chain: &Chain, collection: Address) -> Result<bool, NodeError> {
        if !node.has_code(collection).await? {
            return Ok(false);
        }
        let factories = chain.addresses.all(Role::Factory);
        for factory in &factories {
            let next = node.next_nonce(*factory, BlockId::latest()).await?;
            if self.is_of_a_nonce(chain.id, *factory, next, collection).await {
                return Ok(true);
            }
        }
        // Asked together, they are one call.
        let (owner, uri, name) = tokio::try_join!(
            node.read(collection, &Creator1155::ownerCall {}),
            node.read(collection, &Creator1155::contractURICall {}),
            node.read(collection, &Creator1155::nameCall {}),
        )?;
        let (Some(owner), Some(uri), Some(name)) = (owner, uri, name) else { return Ok(false) };
        // A stranger's answer can have megabytes.
        if uri.len().max(name.len()) > MAX_URI_KEPT {
            return Ok(false);
        }
        let question =
            deterministicContractAddressCall { msgSender: owner, newContractURI: uri, name, contractAdmin: owner };
        for factory in factories {
            if node.read(factory, &question).await? == Some(collection) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the address is that of a nonce before `next`.
    async fn is_of_a_nonce(&self, chain: ChainId, factory: Address, next: u64, collection: Address) -> bool {
        let mut known = Arc::clone(&self.0).lock_owned().await;
        let search = move || {
            let created = known.entry((chain, factory)).or_default();
            created.extend(factory, next);
            created.addresses.contains(&collection)
        };
        // Many hashes: other tasks go on meanwhile.
        tokio::task::spawn_blocking(search).await.unwrap_or_default()
    }
}

impl Created {
    /// Adds the addresses of nonces before `next`. Each of them is hashed once, unless nodes contradict each other.
    fn extend(&mut self, factory: Address, next: u64) {
        let first = next.saturating_sub(NONCES);
        let Range { start, end } = self.nonces;
        if first < start || first > end || next - start > 2 * NONCES {
            *self = Self { nonces: first..first, addresses: HashSet::new() };
        }
        let new = self.nonces.end..next;
        self.addresses.extend(new.map(|nonce| factory.create(nonce)));
        self.nonces.end = self.nonces.end.max(next);
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::address;

    use super::*;

    const FACTORY: Address = address!("6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0");

    fn created(next: u64) -> Created {
        let mut created = Created::default();
        created.extend(FACTORY, next);
        created
    }

    #[test]
    fn addresses_are_those_of_the_factory_s_nonces() {
        let created = created(2);
        let expected = [
            address!("cd234a471b72ba2f1ccf0a70fcaba648a5eecd8d"),
            address!("343c43a37d37dff08ae8c4a11544c718abb4fcf8"),
        ];
        assert_eq!(created.addresses, HashSet::from(expected));
        assert!(!created.addresses.contains(&address!("f778b86fa74e846c4f0a1fbd1335fe81c00a0c91")), "the next one");
    }

    #[test]
    fn the_newest_nonces_are_computed_and_later_ones_are_added() {
        let mut created = created(NONCES + 1);
        let has = |created: &Created, nonce| created.addresses.contains(&FACTORY.create(nonce));
        assert_eq!([0, 1, NONCES, NONCES + 1].map(|nonce| has(&created, nonce)), [false, true, true, false]);
        created.extend(FACTORY, NONCES + 3);
        assert_eq!(created.nonces, 1..NONCES + 3);
        assert_eq!([1, NONCES + 2].map(|nonce| has(&created, nonce)), [true, true]);
        // A node that lags, and one that lied before.
        created.extend(FACTORY, NONCES + 2);
        assert_eq!(created.nonces, 1..NONCES + 3);
        created.extend(FACTORY, 2);
        assert_eq!((created.nonces.clone(), created.addresses.len()), (0..2, 2));
    }
}
