//! Lists of moments, newest first: of everyone, of an artist, of a collection.

use super::{
    moment::MomentView,
    reader::{ReadError, Reader},
};
use crate::{
    model::{Address, ArtistName, ChainId, Page},
    store::{
        StoreError,
        artist::Profile,
        chain::{Scope, TimelineFilter, TimelinePage, TimelineStart},
    },
};

/// The sorted sets that a list merges, and what is left out of them.
#[derive(Clone, Debug, Default)]
pub struct MomentList {
    sets: Vec<(ChainId, Scope)>,
    filter: TimelineFilter,
    since: u64,
}

/// A page of a list, as it is shown.
#[derive(Debug)]
pub struct MomentPage {
    /// Moments, newest first.
    pub moments: Vec<MomentView>,
    /// Number of moments in the list.
    pub total: u64,
}

/// An account that somebody named, with the artist whose it is.
#[derive(Debug)]
pub struct NamedArtist {
    /// The artist's embedded wallet; the account itself if it is nobody's here.
    pub account: Address,
    /// The artist, if there is one.
    pub profile: Option<Profile>,
}

impl MomentList {
    /// Moments of everyone.
    pub fn of_everyone(chains: impl IntoIterator<Item = ChainId>) -> Self {
        Self::of(chains.into_iter().map(|chain| (chain, Scope::Everyone)))
    }

    /// Moments of a collection, which may be on each of these chains.
    pub fn of_collection(chains: impl IntoIterator<Item = ChainId>, collection: Address) -> Self {
        Self::of(chains.into_iter().map(|chain| (chain, Scope::Collection(collection))))
    }

    /// Moments of accounts: those that `scope` says, such as [`Scope::Made`].
    pub fn of_accounts(chains: &[ChainId], accounts: &[Address], scope: fn(Address) -> Scope) -> Self {
        Self::of(chains.iter().flat_map(|chain| accounts.iter().map(move |account| (*chain, scope(*account)))))
    }

    fn of(sets: impl Iterator<Item = (ChainId, Scope)>) -> Self {
        Self { sets: sets.collect(), ..Self::default() }
    }

    /// Those of them that match the filter.
    #[must_use]
    pub fn matching(self, filter: TimelineFilter) -> Self {
        Self { filter, ..self }
    }

    /// Those of them whose creator has a username.
    #[must_use]
    pub fn curated(self) -> Self {
        self.matching(TimelineFilter { curated: true, ..TimelineFilter::default() })
    }

    /// Those of them that were created at this time, in Unix seconds, or later.
    #[must_use]
    pub fn since(self, since: u64) -> Self {
        Self { since, ..self }
    }
}

impl NamedArtist {
    /// All of the artist's wallets, or the account.
    pub fn accounts(&self) -> Vec<Address> {
        match &self.profile {
            Some(profile) => profile.wallets.iter().map(|wallet| wallet.address).collect(),
            None => vec![self.account],
        }
    }
}

impl Reader {
    /// Rows of a list.
    pub async fn listed(
        &self,
        list: &MomentList,
        start: TimelineStart,
        limit: u32,
    ) -> Result<TimelinePage, StoreError> {
        self.timelines.newest_of(&list.sets, list.filter, list.since, start, limit).await
    }

    /// A page of a list.
    pub async fn page_of(&self, list: &MomentList, page: Page) -> Result<MomentPage, ReadError> {
        let found = self.listed(list, TimelineStart::Offset(page.offset()), page.limit.get()).await?;
        Ok(MomentPage { moments: self.moments(&found.moments).await?, total: found.total })
    }

    /// Who has this name; `None` for an unknown username. Two reads.
    pub async fn artist(&self, name: &ArtistName) -> Result<Option<NamedArtist>, StoreError> {
        let profile = self.artists.profile_named(name).await?;
        let account = match (&profile, name) {
            (Some(profile), _) => profile.artist.embedded_wallet,
            (None, ArtistName::Account(account)) => *account,
            (None, ArtistName::Username(_)) => return Ok(None),
        };
        Ok(Some(NamedArtist { account, profile }))
    }
}
