//! Propagates changes of artists to a chain's rows: names to comments, new or removed names to timelines, and which moments
//! are hidden. Works in batches of small changes, or pages of a large one, so that the next run resumes an interrupted one. A
//! batch is undone with the block that it was committed beside; its changes are pending again then. All read the artist as
//! they are now, so that their order doesn't matter: the operator's decisions go first.

use std::collections::{BTreeSet, HashMap, VecDeque};

use shared::{
    model::{Address, ArtistChange, ArtistChanged, ArtistId, ChainId, MomentRef},
    store::{
        StoreError,
        artist::Artists,
        chain::{NameReference, PendingRename, TimelineSubject},
        engine::{CommitError, Journal, UnitOfWork},
    },
};
use uuid::Uuid;

use crate::apply::{BatchLimit, Index};

/// Changes that are committed together: each deletes a row, and writes few others, within one transaction.
const MAX_CHANGES: usize = 40;

/// References rewritten in one batch.
const PAGE: u16 = 200;

/// Queues changes for propagation.
pub fn enqueue(work: &mut UnitOfWork, chain: ChainId, changes: &[ArtistChanged]) -> Result<(), StoreError> {
    for change in changes {
        let is_of_rows = match change.change {
            // A chain's rows have nothing of a profile but the name.
            ArtistChange::Described => false,
            ArtistChange::MomentHidden { chain: of, .. } | ArtistChange::CollectionAccepted { chain: of, .. } => {
                of == chain
            }
            ArtistChange::Decided { subject } => subject.chain().is_none_or(|of| of == chain),
            _ => true,
        };
        if is_of_rows {
            work.add_change(chain, change)?;
        }
    }
    Ok(())
}

/// Which changes were tried in vain. Another process begins anew.
#[derive(Default)]
pub struct Propagation {
    /// Changes of a batch that failed: each is tried alone.
    suspected: BTreeSet<Uuid>,
    /// Changes that failed alone, which wait for [`Propagation::retry`]; the one that has waited longest comes first.
    failed: VecDeque<Uuid>,
}

/// What carrying out changes of one batch needs.
struct Batch<'a> {
    chain: ChainId,
    artists: &'a Artists,
    index: &'a mut Index,
    work: &'a mut UnitOfWork,
    /// Wallets of each artist whose name changed.
    wallets: HashMap<Uuid, BTreeSet<Address>>,
    names: HashMap<Address, String>,
    /// References that may still be rewritten.
    room: u16,
}

impl Propagation {
    /// Propagates changes and commits them together: those of decisions, or else the oldest. Returns `false` when there is
    /// nothing to do. After an error, the next calls take each of them alone, and leave out what failed alone.
    pub async fn run(
        &mut self,
        (journal, work, index): (&mut Journal, &mut UnitOfWork, &mut Index),
        (chain, artists): (ChainId, &Artists),
        limit: BatchLimit,
        is_final: bool,
    ) -> Result<bool, CommitError> {
        let pending = work.pending_changes(chain, MAX_CHANGES + self.failed.len()).await?;
        let changes = self.next(pending);
        let ids: Vec<Uuid> = changes.iter().map(|pending| pending.change.id).collect();
        let done = match Box::pin(carry_out(work, chain, artists, index, limit, changes)).await {
            Ok(()) => journal.commit_beside(work, is_final).await,
            Err(error) => Err(error.into()),
        };
        match (&done, ids.as_slice()) {
            (Ok(_), _) => self.suspected.retain(|id| !ids.contains(id)),
            (Err(CommitError::Overtaken), _) => {}
            (Err(_), [id]) => {
                self.suspected.remove(id);
                self.failed.push_back(*id);
            }
            (Err(_), _) => self.suspected.extend(&ids),
        }
        done
    }

    /// Has the next call try once more what failed alone, if anything did.
    pub fn retry(&mut self) -> bool {
        let failed = self.failed.pop_front();
        self.suspected.extend(failed);
        failed.is_some()
    }

    /// Takes those of the changes that are carried out together.
    fn next(&mut self, mut pending: Vec<PendingRename>) -> Vec<PendingRename> {
        pending.retain(|pending| !self.failed.contains(&pending.change.id));
        let is_suspected = |pending: &PendingRename| self.suspected.contains(&pending.change.id);
        let together = match pending.first() {
            Some(first) if is_suspected(first) => 1,
            Some(first) => {
                let is_like = |it: &&PendingRename| it.is_decision() == first.is_decision() && !is_suspected(it);
                pending.iter().take(MAX_CHANGES).take_while(is_like).count()
            }
            None => 0,
        };
        pending.truncate(together);
        pending
    }
}

/// Carries changes out in their order until the batch is full.
async fn carry_out(
    work: &mut UnitOfWork,
    chain: ChainId,
    artists: &Artists,
    index: &mut Index,
    limit: BatchLimit,
    changes: Vec<PendingRename>,
) -> Result<(), StoreError> {
    let mut batch = Batch::of(work, chain, artists, index);
    batch.prefetch(&changes).await?;
    for pending in changes {
        if batch.room == 0 || limit.is_reached(batch.work) {
            break;
        }
        batch.carry_out(pending).await?;
    }
    Ok(())
}

impl<'a> Batch<'a> {
    fn of(work: &'a mut UnitOfWork, chain: ChainId, artists: &'a Artists, index: &'a mut Index) -> Self {
        Self { chain, artists, index, work, wallets: HashMap::new(), names: HashMap::new(), room: PAGE }
    }

    /// Reads together what most changes need. A read for each artist whose name changed.
    async fn prefetch(&mut self, changes: &[PendingRename]) -> Result<(), StoreError> {
        let mut subjects = Vec::new();
        for PendingRename { change, .. } in changes {
            let wallets = match change.change {
                ArtistChange::WalletConnected { wallet } | ArtistChange::WalletRemoved { wallet } => {
                    subjects.extend([TimelineSubject::AdministeredBy(wallet), TimelineSubject::CollectionsOf(wallet)]);
                    BTreeSet::from([wallet])
                }
                ArtistChange::Renamed | ArtistChange::Described => wallets(self.artists, change.artist_id).await?,
                _ => continue,
            };
            subjects.extend(wallets.iter().copied().map(TimelineSubject::By));
            self.wallets.insert(change.id, wallets);
        }
        self.work.prefetch_relistings(self.chain, &subjects).await?;
        let all = BTreeSet::from_iter(self.wallets.values().flatten().copied());
        self.names = self.artists.usernames(&Vec::from_iter(all)).await?;
        Ok(())
    }

    async fn carry_out(&mut self, pending: PendingRename) -> Result<(), StoreError> {
        let ArtistChanged { id, artist_id, change } = pending.change;
        match change {
            ArtistChange::MomentHidden { collection, token, .. } => {
                self.index.set_hidden(self.work, &MomentRef { chain: self.chain, collection, token }).await?;
            }
            ArtistChange::CollectionAccepted { collection, .. } => {
                self.index.follow_acceptance(self.work, collection).await?;
            }
            ArtistChange::SenderAccepted => {
                for wallet in wallets(self.artists, artist_id).await? {
                    self.work.relist(self.chain, TimelineSubject::AdministeredBy(wallet)).await?;
                }
            }
            ArtistChange::Decided { subject } => self.index.follow_decision(self.work, &subject).await?,
            ArtistChange::WalletConnected { wallet } | ArtistChange::WalletRemoved { wallet } => {
                return self.rename(pending, Some(wallet)).await;
            }
            ArtistChange::Renamed | ArtistChange::Described => return self.rename(pending, None).await,
        }
        self.work.remove_change(self.chain, id);
        Ok(())
    }

    /// Rewrites names as far as there is room; `changed` is a wallet that came or went.
    async fn rename(&mut self, pending: PendingRename, changed: Option<Address>) -> Result<(), StoreError> {
        let (chain, PendingRename { change, reached }) = (self.chain, pending);
        let wallets = self.wallets.remove(&change.id).unwrap_or_default();
        if reached.is_none() {
            self.index.follow_wallets(self.work, change.artist_id, changed).await?;
            for wallet in &wallets {
                self.work.relist(chain, TimelineSubject::By(*wallet)).await?;
            }
            if let Some(wallet) = changed {
                self.work.relist(chain, TimelineSubject::AdministeredBy(wallet)).await?;
            }
        }
        let mut references: Vec<NameReference> = Vec::new();
        for &wallet in wallets.iter().filter(|wallet| reached.as_ref().is_none_or(|at| at.wallet <= **wallet)) {
            let after = reached.as_ref().filter(|at| at.wallet == wallet).map(|at| at.comment.as_str());
            let room = self.room.saturating_sub(u16::try_from(references.len()).unwrap_or(PAGE));
            if room == 0 {
                break;
            }
            references.extend(self.work.named_places(chain, wallet, after, room).await?);
        }
        self.work.prefetch_commenters(chain, &references).await?;
        for reference in &references {
            let name = self.names.get(&reference.wallet).map(String::as_str).unwrap_or_default();
            self.work.rename_commenter(chain, reference, name).await?;
        }
        self.room = self.room.saturating_sub(u16::try_from(references.len()).unwrap_or(PAGE));
        if self.room > 0 {
            self.work.remove_change(chain, change.id);
        } else {
            self.work.put_change(chain, &PendingRename { change, reached: references.pop() })?;
        }
        Ok(())
    }
}

async fn wallets(artists: &Artists, artist: ArtistId) -> Result<BTreeSet<Address>, StoreError> {
    let profile = artists.profile(artist).await?;
    Ok(profile.into_iter().flat_map(|profile| profile.wallets).map(|wallet| wallet.address).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pending(number: u128) -> PendingRename {
        let id = Uuid::from_u128((1 << 120) + number);
        let change = ArtistChanged { id, artist_id: ArtistId::OPERATOR, change: ArtistChange::Renamed };
        PendingRename { change, reached: None }
    }

    #[test]
    fn change_that_failed_alone_waits_until_all_else_is_done() {
        let (bad, good) = (pending(1), pending(2));
        let mut propagation = Propagation::default();
        propagation.failed.push_back(bad.change.id);
        assert_eq!(propagation.next(vec![bad.clone(), good.clone()]), std::slice::from_ref(&good));
        assert!(propagation.next(vec![bad.clone()]).is_empty());
        assert!(propagation.retry());
        assert_eq!(propagation.next(vec![bad.clone(), good]), [bad]);
        assert!(!propagation.retry());
    }
}
