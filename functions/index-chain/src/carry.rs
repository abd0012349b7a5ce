//! Carries changes of artists through a chain's rows: their names into what shows them, and what they made into the
//! timelines of those who go by a name. A page of places at a time, each written as a batch of its own, so that a run that
//! ends in between goes on where it was.

use std::collections::BTreeSet;

use shared::{
    model::{Address, ChainId},
    store::{ArtistChange, ArtistChanged, Artists, CarriedChange, Concerned, NamedPlace, StoreError, Unit},
};

/// Places that are rewritten together.
const PAGE: u16 = 200;

/// Keeps changes to be carried through the chain's rows.
///
/// # Errors
/// When they can't be written as rows.
pub fn keep(unit: &mut Unit, chain: ChainId, changes: &[ArtistChanged]) -> Result<(), StoreError> {
    for change in changes {
        // What else a profile says stands nowhere in a chain's rows.
        if change.change != ArtistChange::Described {
            unit.put_change(chain, &CarriedChange { change: change.clone(), reached: None })?;
        }
    }
    Ok(())
}

/// Carries the oldest change one page further. `false` when there is none.
///
/// # Errors
/// When storage fails.
pub async fn carry_on(unit: &mut Unit, chain: ChainId, artists: &Artists) -> Result<bool, StoreError> {
    let Some(CarriedChange { change, reached }) = unit.oldest_change(chain).await? else { return Ok(false) };
    let wallets = wallets(artists, &change).await?;
    if reached.is_none() {
        for wallet in &wallets {
            unit.relist(chain, Concerned::By(*wallet)).await?;
        }
    }
    let names = artists.usernames(&Vec::from_iter(wallets.iter().copied())).await?;
    let mut places: Vec<NamedPlace> = Vec::new();
    for &wallet in wallets.iter().filter(|wallet| reached.as_ref().is_none_or(|at| at.wallet <= **wallet)) {
        let after = reached.as_ref().filter(|at| at.wallet == wallet).map(|at| at.comment.as_str());
        let room = PAGE.saturating_sub(u16::try_from(places.len()).unwrap_or(PAGE));
        if room == 0 {
            break;
        }
        places.extend(unit.named_places(chain, wallet, after, room).await?);
    }
    unit.prefetch(Unit::place_keys(chain, places.iter().map(|place| place.comment.as_str()))).await?;
    for NamedPlace { wallet, comment } in &places {
        let name = names.get(wallet).map(String::as_str).unwrap_or_default();
        unit.rename_commenter(chain, comment, name).await?;
    }
    if places.len() < usize::from(PAGE) {
        unit.remove_change(chain, change.id);
    } else {
        unit.put_change(chain, &CarriedChange { change, reached: places.pop() })?;
    }
    Ok(true)
}

/// The wallets whose name may be another now.
async fn wallets(artists: &Artists, change: &ArtistChanged) -> Result<BTreeSet<Address>, StoreError> {
    Ok(match change.change {
        ArtistChange::WalletConnected { wallet } | ArtistChange::WalletRemoved { wallet } => BTreeSet::from([wallet]),
        ArtistChange::Renamed | ArtistChange::Described => {
            let profile = artists.profile(change.artist_id).await?;
            profile.into_iter().flat_map(|profile| profile.wallets).map(|wallet| wallet.address).collect()
        }
    })
}
