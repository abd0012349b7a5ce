//! Lists of accounts that a sale is for. The chain keeps the root of a list's tree of hashes, and whoever collects shows
//! that their entry leads to it: <https://docs.openzeppelin.com/contracts/4.x/api/utils#MerkleProof>

use std::{cmp::Ordering, collections::BTreeMap};

use alloy::primitives::{self, B256, U256, keccak256};
use serde::{Deserialize, Serialize};

use super::{address::Address, amount::Amount, invalid::Invalid};

/// Most accounts of a list.
pub const MAX_LISTED: usize = 10_000;

/// Most entries of a part. Those of a list come to a few hundred at most, unless somebody chose its accounts for that.
const MAX_PART: usize = 1_000;

/// An entry of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedAccount {
    /// Who may collect.
    pub account: Address,
    /// How many tokens in all; 0 for no limit.
    pub max_amount: u64,
    /// Price of one token, in wei.
    pub price: Amount,
}

/// A list whose tree is made. It has no account twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowList {
    root: B256,
    parts: BTreeMap<u8, ListPart>,
}

/// Entries of a list that are kept together, by their accounts' hashes, and what proves that they are of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPart {
    /// The entries, by account.
    pub entries: Vec<ListedAccount>,
    /// The hashes that lead from the entries' own root to the list's.
    pub path: Vec<B256>,
}

/// An entry, and the hashes that lead from it to the list's root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListProof {
    /// The entry.
    pub entry: ListedAccount,
    /// The hashes.
    pub path: Vec<B256>,
}

impl ListedAccount {
    /// The entry's hash, as the contract makes it.
    pub fn leaf(&self) -> B256 {
        let account = primitives::Address::from(self.account).into_word();
        let (most, price) = (U256::from(self.max_amount).to_be_bytes::<32>(), self.price.0.to_be_bytes::<32>());
        keccak256([account.0, most, price].concat())
    }
}

impl AllowList {
    /// Makes a list of accounts that are all different.
    pub fn new(mut entries: Vec<ListedAccount>) -> Result<Self, Invalid> {
        entries.sort_unstable_by_key(|entry| entry.account);
        let mut parts: BTreeMap<u8, Vec<ListedAccount>> = BTreeMap::new();
        for entry in entries {
            parts.entry(part_of(entry.account)).or_default().push(entry);
        }
        if parts.is_empty() || parts.values().any(|part| part.len() > MAX_PART) {
            return Err(Invalid("has no tree: choose other accounts"));
        }
        let layers: Vec<_> =
            parts.values().map(|part| layers(part.iter().map(ListedAccount::leaf).collect())).collect();
        let above = self::layers(layers.iter().map(|part| root(part)).collect());
        let parts = parts.into_iter().enumerate();
        let parts = parts.map(|(place, (part, entries))| (part, ListPart { entries, path: path(&above, place) }));
        Ok(Self { root: root(&above), parts: parts.collect() })
    }

    /// The root of its tree.
    pub fn root(&self) -> B256 {
        self.root
    }

    /// Its parts, each with its number.
    pub fn parts(&self) -> impl Iterator<Item = (u8, &ListPart)> {
        self.parts.iter().map(|(number, part)| (*number, part))
    }
}

impl ListPart {
    /// An account's entry with its proof, if it is on the list.
    pub fn proof(&self, account: Address) -> Option<ListProof> {
        let place = self.entries.iter().position(|entry| entry.account == account)?;
        let entry = *self.entries.get(place)?;
        let own = path(&layers(self.entries.iter().map(ListedAccount::leaf).collect()), place);
        Some(ListProof { entry, path: own.into_iter().chain(self.path.iter().copied()).collect() })
    }
}

/// Number of the part that has an account, 0 to 63: no more rows than a few writes take, and none too long to be read for one
/// account.
pub fn part_of(account: Address) -> u8 {
    keccak256(primitives::Address::from(account)).0.first().map_or(0, |first| first >> 2)
}

/// Every layer of a tree, the leaves first. The last hash of an odd layer goes up as it is.
fn layers(leaves: Vec<B256>) -> Vec<Vec<B256>> {
    let above = |layer: &Vec<B256>| (layer.len() > 1).then(|| layer.chunks(2).map(parent).collect());
    std::iter::successors(Some(leaves), above).collect()
}

fn parent(pair: &[B256]) -> B256 {
    match *pair {
        // The contract sorts pairs, so that proofs don't say which side a hash is on.
        [one, other] if one.cmp(&other) == Ordering::Less => keccak256([one.0, other.0].concat()),
        [one, other] => keccak256([other.0, one.0].concat()),
        _ => pair.first().copied().unwrap_or_default(),
    }
}

fn root(layers: &[Vec<B256>]) -> B256 {
    layers.last().and_then(|layer| layer.first()).copied().unwrap_or_default()
}

/// The hashes beside the way from a leaf to the root.
fn path(layers: &[Vec<B256>], place: usize) -> Vec<B256> {
    layers.iter().enumerate().filter_map(|(height, layer)| layer.get((place >> height) ^ 1)).copied().collect()
}

#[cfg(test)]
mod tests {
    use alloy::sol_types::SolValue;

    use super::*;

    /// OpenZeppelin's `MerkleProof.verify`, with the leaf as the strategy's `requestMint` encodes it.
    fn verifies(root: B256, entry: &ListedAccount, proof: &[B256]) -> bool {
        let account = primitives::Address::from(entry.account);
        let leaf = keccak256((account, U256::from(entry.max_amount), entry.price.0).abi_encode());
        let hashed = proof.iter().fold(leaf, |hash, other| {
            let (low, high) = if hash < *other { (hash, *other) } else { (*other, hash) };
            keccak256((low, high).abi_encode_packed())
        });
        hashed == root
    }

    fn account(number: usize) -> Address {
        primitives::Address::from_word(keccak256(number.to_be_bytes())).into()
    }

    fn entries(count: usize) -> Vec<ListedAccount> {
        let entry = |number| ListedAccount {
            account: account(number),
            max_amount: number as u64 % 4,
            price: Amount(U256::from(number) * U256::from(1_000_000_007_u64)),
        };
        (0..count).map(entry).collect()
    }

    fn proof(list: &AllowList, account: Address) -> Option<ListProof> {
        list.parts.get(&part_of(account))?.proof(account)
    }

    #[test]
    fn every_entry_of_lists_of_all_sizes_is_proved_and_nothing_else() {
        for count in (1..=70).chain([127, 128, 129, 1_000, MAX_LISTED]) {
            let entries = entries(count);
            let list = AllowList::new(entries.clone()).unwrap();
            assert_eq!(list.parts().map(|(_, part)| part.entries.len()).sum::<usize>(), count);
            for (number, entry) in entries.iter().enumerate().step_by(count / 50 + 1) {
                let found = proof(&list, entry.account).unwrap();
                assert_eq!(found.entry, *entry);
                assert!(verifies(list.root(), entry, &found.path), "{number} of {count}");
                // Fourteen hashes would do for 10,000 in one tree.
                assert!(found.path.len() <= 16, "{} hashes", found.path.len());
                let dearer = ListedAccount { price: Amount(entry.price.0 + U256::ONE), ..*entry };
                let more = ListedAccount { max_amount: entry.max_amount + 1, ..*entry };
                let another = ListedAccount { account: account(count), ..*entry };
                assert!(![dearer, more, another].iter().any(|entry| verifies(list.root(), entry, &found.path)));
            }
            assert_eq!(proof(&list, account(count)), None);
        }
    }

    #[test]
    fn the_order_of_entries_makes_no_difference_and_none_at_all_no_list() {
        let mut entries = entries(300);
        let list = AllowList::new(entries.clone()).unwrap();
        entries.reverse();
        assert_eq!(AllowList::new(entries).unwrap(), list);
        assert!(AllowList::new(Vec::new()).is_err());
    }

    #[test]
    fn a_list_of_accounts_that_were_chosen_to_be_kept_together_is_refused() {
        let mut alike = entries(100_000);
        alike.retain(|entry| part_of(entry.account) == 7);
        assert!(alike.len() > MAX_PART);
        assert!(AllowList::new(alike.clone()).is_err());
        alike.truncate(MAX_PART);
        assert!(AllowList::new(alike).is_ok());
    }
}
