//! Pages of several timelines as if they were one.

use std::collections::BTreeSet;

use futures::future::try_join_all;
use serde::Deserialize;

use super::{
    timeline::{ListedMoment, Member, Scope, TimelineFilter, TimelinePage, Timelines, score, set},
    timeline_start::{TimelinePosition, TimelineStart},
};
use crate::{
    model::{ChainId, TokenId},
    store::engine::{
        structures::{
            merged::{self, NewestFirst},
            numbered_list::CountedPage,
            ranked_set::{RankKey, RankedPage, RankedSet, RankedSets},
        },
        table::StoreError,
    },
};

struct OneSet<'a> {
    sets: &'a RankedSets,
    chain: ChainId,
    scope: Scope,
    set: RankedSet,
    since: RankKey,
}

#[derive(Deserialize)]
struct PlacedMember {
    sk: String,
    #[serde(flatten)]
    member: Member,
}

impl NewestFirst for OneSet<'_> {
    type Row = ListedMoment;
    type Key = (TimelinePosition, ChainId);

    async fn newest(&self, offset: u64, limit: usize) -> Result<CountedPage<Self::Row>, StoreError> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        Ok(self.counted(self.sets.greatest(&self.set, self.since, offset, limit).await?, offset))
    }

    fn key(&self, moment: &ListedMoment) -> Self::Key {
        (moment.position, self.chain)
    }
}

impl OneSet<'_> {
    async fn below(&self, end: RankKey, limit: usize) -> Result<CountedPage<ListedMoment>, StoreError> {
        let limit = u32::try_from(limit).unwrap_or(u32::MAX);
        Ok(self.counted(self.sets.greatest_below(&self.set, self.since, end, limit).await?, 0))
    }

    fn counted(&self, page: RankedPage<PlacedMember>, offset: u64) -> CountedPage<ListedMoment> {
        let listed =
            |PlacedMember { sk, member }| Some(member.listed(self.chain, TimelinePosition(RankKey::from_text(&sk)?)));
        let rows = page.rows.into_iter().filter_map(listed).collect();
        CountedPage { rows, total: page.total, end: page.total.saturating_sub(offset) }
    }
}

impl Timelines {
    /// Moments of several scopes, created from `since` (Unix seconds) on. A moment that is in several of them is listed once,
    /// and the page is shorter for it. Reads as [`Self::newest`] for each; more beyond the first hundred moments, unless the
    /// page begins after a place.
    pub async fn newest_of(
        &self,
        scopes: &[(ChainId, Scope)],
        filter: TimelineFilter,
        since: u64,
        start: TimelineStart,
        limit: u32,
    ) -> Result<TimelinePage, StoreError> {
        let since = if since == 0 { RankKey::MIN } else { RankKey::at_least(score(since, TokenId::default())) };
        let sets = parts(filter).flat_map(|filter| {
            let one = move |(chain, scope): &(ChainId, Scope)| OneSet {
                sets: &self.0,
                chain: *chain,
                scope: *scope,
                set: set(*chain, *scope, filter),
                since,
            };
            scopes.iter().map(one)
        });
        let sets: Vec<OneSet<'_>> = sets.collect();
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        // One after the page tells whether there are others.
        let wanted = limit.saturating_add(1);
        let (mut page, before) = match start {
            TimelineStart::After(TimelinePosition(key)) => {
                let pages = try_join_all(sets.iter().map(|set| set.below(key, wanted))).await?;
                (merged::merge(&sets, pages, 0, wanted), None)
            }
            // The last one before the page tells whether the page's first is another one.
            TimelineStart::Offset(offset) if offset > 0 && sets.len() > 1 => {
                let mut page = merged::newest(&sets, offset - 1, wanted.saturating_add(1)).await?;
                let before = (!page.rows.is_empty()).then(|| page.rows.remove(0).place);
                (page, before)
            }
            TimelineStart::Offset(offset) => (merged::newest(&sets, offset, wanted).await?, None),
        };
        let more = page.rows.len() > limit;
        page.rows.truncate(limit);
        let end = page.rows.last().map(|last| last.position).filter(|_| more);
        let total = page.total();
        let filled = sets.iter().zip(&page.totals).filter(|(_, total)| **total > 0);
        let filled = filled.map(|(set, _)| (set.chain, set.scope)).collect();
        let may_overlap = self.may_overlap(&filled, filter).await?;
        let mut moments = page.rows;
        moments.dedup_by_key(|moment| moment.place);
        moments.retain(|moment| Some(moment.place) != before);
        Ok(TimelinePage { moments, total, may_overlap, end })
    }

    /// Whether a moment can be in several of these scopes: one that an account is an admin of, without having made it. No read
    /// unless several accounts of a chain have moments.
    async fn may_overlap(
        &self,
        scopes: &BTreeSet<(ChainId, Scope)>,
        filter: TimelineFilter,
    ) -> Result<bool, StoreError> {
        let chains: BTreeSet<ChainId> = scopes.iter().map(|(chain, _)| *chain).collect();
        if chains.len() == scopes.len() {
            return Ok(false);
        }
        let others = parts(filter).flat_map(|filter| scopes.iter().map(move |scope| (scope, filter)));
        let others = others.map(async |((chain, scope), filter)| match scope {
            Scope::Of(account) => self.0.count(&set(*chain, Scope::Mutual(*account), filter)).await,
            Scope::Mutual(_) => Ok(1),
            _ => Ok(0),
        });
        Ok(try_join_all(others).await?.into_iter().any(|count| count > 0))
    }
}

/// A set has either hidden moments or none.
fn parts(filter: TimelineFilter) -> impl Iterator<Item = TimelineFilter> {
    [false, true]
        .into_iter()
        .take(1 + usize::from(filter.hidden))
        .map(move |hidden| TimelineFilter { hidden, ..filter })
}
