//! Propagates changes of artists to a chain's rows: names to comments, new or removed names to timelines, and which moments
//! are hidden. Works in pages, each a batch of its own, so that the next run resumes an interrupted one. A page is undone with
//! the block that it was committed beside; its change is pending again then.

use std::collections::BTreeSet;

use shared::{
    model::{Address, ArtistChange, ArtistChanged, ArtistId, ChainId, MomentRef},
    store::{
        StoreError,
        artist::Artists,
        chain::{NameReference, PendingRename, TimelineSubject},
        engine::UnitOfWork,
    },
};

use crate::apply::Index;

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

/// Propagates the oldest change by one page. Returns `false` when there is none.
pub async fn run(
    work: &mut UnitOfWork,
    chain: ChainId,
    artists: &Artists,
    index: &mut Index,
) -> Result<bool, StoreError> {
    let Some(PendingRename { change, reached }) = work.oldest_change(chain).await? else { return Ok(false) };
    let mut changed = None;
    let wallets = match change.change {
        ArtistChange::MomentHidden { collection, token, .. } => {
            index.set_hidden(work, &MomentRef { chain, collection, token }).await?;
            work.remove_change(chain, change.id);
            return Ok(true);
        }
        ArtistChange::CollectionAccepted { collection, .. } => {
            index.follow_acceptance(work, collection).await?;
            work.remove_change(chain, change.id);
            return Ok(true);
        }
        ArtistChange::SenderAccepted => {
            for wallet in wallets(artists, change.artist_id).await? {
                work.relist(chain, TimelineSubject::AdministeredBy(wallet)).await?;
            }
            work.remove_change(chain, change.id);
            return Ok(true);
        }
        ArtistChange::Decided { subject } => {
            index.follow_decision(work, &subject).await?;
            work.remove_change(chain, change.id);
            return Ok(true);
        }
        ArtistChange::WalletConnected { wallet } | ArtistChange::WalletRemoved { wallet } => {
            changed = Some(wallet);
            BTreeSet::from([wallet])
        }
        ArtistChange::Renamed | ArtistChange::Described => wallets(artists, change.artist_id).await?,
    };
    if reached.is_none() {
        index.follow_wallets(work, change.artist_id, changed).await?;
        for wallet in &wallets {
            work.relist(chain, TimelineSubject::By(*wallet)).await?;
        }
        if let Some(wallet) = changed {
            work.relist(chain, TimelineSubject::AdministeredBy(wallet)).await?;
        }
    }
    let names = artists.usernames(&Vec::from_iter(wallets.iter().copied())).await?;
    let mut references: Vec<NameReference> = Vec::new();
    for &wallet in wallets.iter().filter(|wallet| reached.as_ref().is_none_or(|at| at.wallet <= **wallet)) {
        let after = reached.as_ref().filter(|at| at.wallet == wallet).map(|at| at.comment.as_str());
        let room = PAGE.saturating_sub(u16::try_from(references.len()).unwrap_or(PAGE));
        if room == 0 {
            break;
        }
        references.extend(work.named_places(chain, wallet, after, room).await?);
    }
    work.prefetch_commenters(chain, &references).await?;
    for reference in &references {
        let name = names.get(&reference.wallet).map(String::as_str).unwrap_or_default();
        work.rename_commenter(chain, reference, name).await?;
    }
    if references.len() < usize::from(PAGE) {
        work.remove_change(chain, change.id);
    } else {
        work.put_change(chain, &PendingRename { change, reached: references.pop() })?;
    }
    Ok(true)
}

async fn wallets(artists: &Artists, artist: ArtistId) -> Result<BTreeSet<Address>, StoreError> {
    let profile = artists.profile(artist).await?;
    Ok(profile.into_iter().flat_map(|profile| profile.wallets).map(|wallet| wallet.address).collect())
}
