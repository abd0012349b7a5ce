//! Lists of accounts that moments' sales are for. Rows: docs/data-model.md, Allow-lists.

use std::{collections::BTreeMap, time::Duration};

use alloy::primitives::B256;
use aws_sdk_dynamodb::types::{Put, TransactWriteItem, WriteRequest};
use serde::{Deserialize, Serialize};

use crate::{
    model::{Address, AllowList, ListPart, ListProof, MomentRef, part_of},
    store::{
        artist::rows,
        engine::table::{ArtistTable, StoreError, deleting, number, putting, row},
    },
};

/// Most lists that are kept of a moment: that in force, and the newest of those that may come to be.
const MAX_KEPT: usize = 10;

/// How long a list is kept after its sale's end.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// Requests for one moment at the same time that may come before another.
const ATTEMPTS: usize = 5;

/// Lists of all moments.
#[derive(Clone)]
pub struct AllowLists(ArtistTable);

/// The lists that are kept of a moment, by root.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct KeptLists {
    lists: BTreeMap<B256, KeptList>,
    /// Rises with each change.
    version: u64,
    /// When the row is deleted, in Unix seconds.
    expires_at: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct KeptList {
    /// Numbers of its parts.
    parts: Vec<u8>,
    /// When it was stored last, in Unix seconds.
    stored_at: u64,
    /// When its rows are deleted, in Unix seconds.
    expires_at: u64,
}

#[derive(Serialize)]
struct PartRow<'a> {
    #[serde(flatten)]
    part: &'a ListPart,
    /// When the row is deleted, in Unix seconds.
    expires_at: u64,
}

impl AllowLists {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// An account's entry of a moment's list with this root, and its proof. One read.
    pub async fn proof(
        &self,
        moment: &MomentRef,
        root: B256,
        account: Address,
    ) -> Result<Option<ListProof>, StoreError> {
        let part: Option<ListPart> = self.0.get(&rows::list_part(moment, root, part_of(account))).await?;
        Ok(part.and_then(|part| part.proof(account)))
    }

    /// Whether a moment's list with this root is kept here. One read.
    pub async fn has(&self, moment: &MomentRef, root: B256) -> Result<bool, StoreError> {
        Ok(self.kept(moment).await?.lists.contains_key(&root))
    }

    /// Keeps a list until some time after its sale's `end`, beside that with the root `in_force` and the newest others; older
    /// ones are deleted. Times are in Unix seconds. One read, a write, and one for every 25 parts, 64 at most.
    pub async fn keep(
        &self,
        moment: &MomentRef,
        list: &AllowList,
        in_force: Option<B256>,
        end: u64,
        now: u64,
    ) -> Result<(), StoreError> {
        for _ in 0..ATTEMPTS {
            let known = self.kept(moment).await?;
            let (kept, dropped) = known.with(list, in_force, end, now);
            // What is forgotten and not deleted, because this is the last that happens, expires.
            if !self.replace(moment, &known, &kept).await? {
                continue;
            }
            let own = kept.lists.get(&list.root()).map_or(end, |kept| kept.expires_at);
            let mut writes: Vec<WriteRequest> = Vec::new();
            for (number, part) in list.parts() {
                let row = PartRow { part, expires_at: own };
                writes.push(putting(&rows::list_part(moment, list.root(), number), &row)?);
            }
            for (root, list) in &dropped {
                for number in &list.parts {
                    writes.push(deleting(&rows::list_part(moment, *root, *number))?);
                }
            }
            return self.0.write_many(writes).await;
        }
        Err(StoreError::Contention("a moment's lists"))
    }

    async fn kept(&self, moment: &MomentRef) -> Result<KeptLists, StoreError> {
        Ok(self.0.get(&rows::kept_lists(moment)).await?.unwrap_or_default())
    }

    /// `false` if another request was faster.
    async fn replace(&self, moment: &MomentRef, known: &KeptLists, kept: &KeptLists) -> Result<bool, StoreError> {
        let put = Put::builder().table_name(&self.0.name).set_item(Some(row(&rows::kept_lists(moment), kept)?));
        let put = if known.version == 0 {
            put.condition_expression("attribute_not_exists(pk)")
        } else {
            put.condition_expression("version = :known").expression_attribute_values(":known", number(known.version))
        };
        self.0.write_together(vec![TransactWriteItem::builder().put(put.build()?).build()]).await
    }
}

impl KeptLists {
    /// These with one more, and those that have to go for it.
    fn with(&self, list: &AllowList, in_force: Option<B256>, end: u64, now: u64) -> (Self, BTreeMap<B256, KeptList>) {
        let mut lists = self.lists.clone();
        let before = lists.remove(&list.root()).map_or(0, |before| before.expires_at);
        let expires_at = end.saturating_add(KEPT.as_secs()).max(before);
        let mut others: Vec<B256> = lists.keys().copied().filter(|root| Some(*root) != in_force).collect();
        others.sort_unstable_by_key(|root| lists.get(root).map(|kept| std::cmp::Reverse(kept.stored_at)));
        let room = MAX_KEPT - 1 - usize::from(in_force.is_some_and(|root| lists.contains_key(&root)));
        let dropped = others.into_iter().skip(room).filter_map(|root| lists.remove_entry(&root)).collect();
        let parts = list.parts().map(|(number, _)| number).collect();
        lists.insert(list.root(), KeptList { parts, stored_at: now, expires_at });
        let last = lists.values().map(|kept| kept.expires_at).max().unwrap_or_default();
        (Self { lists, version: self.version + 1, expires_at: last }, dropped)
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{self, U256};

    use super::*;
    use crate::model::{Amount, ListedAccount};

    fn list(number: u8) -> AllowList {
        let account = primitives::Address::repeat_byte(number).into();
        AllowList::new(vec![ListedAccount { account, max_amount: 1, price: Amount(U256::ZERO) }]).unwrap()
    }

    #[test]
    fn as_many_lists_are_kept_as_may_be_and_that_in_force_always() {
        let (in_force, mut kept) = (Some(list(1).root()), KeptLists::default());
        for number in 1..=30 {
            let dropped;
            (kept, dropped) = kept.with(&list(number), in_force, 1_000, u64::from(number));
            assert!(kept.lists.len() <= MAX_KEPT && !dropped.contains_key(&list(number).root()));
            assert!(dropped.keys().all(|root| !kept.lists.contains_key(root)));
            assert!(kept.lists.contains_key(&list(1).root()) && kept.lists.contains_key(&list(number).root()));
        }
        assert_eq!((kept.lists.len(), kept.version), (MAX_KEPT, 30));
        assert!(kept.lists.contains_key(&list(22).root()) && !kept.lists.contains_key(&list(21).root()));
    }

    #[test]
    fn a_list_that_is_stored_again_lives_as_long_as_the_longer_sale() {
        let (kept, _) = KeptLists::default().with(&list(1), None, 5_000, 1);
        let (kept, dropped) = kept.with(&list(1), None, 2_000, 2);
        assert_eq!((kept.expires_at, kept.lists.len(), dropped.len()), (5_000 + KEPT.as_secs(), 1, 0));
    }
}
