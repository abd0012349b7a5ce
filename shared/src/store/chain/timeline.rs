//! Timelines: moments, newest first, with a ranked set per combination of filters. Rows: docs/data-model.md, Timelines.

use std::{collections::BTreeSet, fmt::Write};

use alloy::primitives::U256;
use futures::try_join;
use serde::{Deserialize, Serialize};
use serde_bytes::ByteBuf;

use super::{
    comment_names::FIRST_OTHER,
    metadata::Documents,
    moments::moment_key,
    relistings::{Relisting, TimelineSubject},
    timeline_start::{TimelinePosition, TimelineStart},
};
use crate::{
    aws::Dispatch,
    model::{Address, ChainId, ContentType, EventId, Moment, MomentRef, Protocol, TokenId, Until},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            structures::{
                numbered_list::length_key,
                ranked_set::{RankKey, RankedSet, RankedSets, SetLoader},
            },
            table::{ChainTable, Item, PrimaryKey, StoreError, text},
        },
    },
};

/// Maximum number of other admins in whose timelines a moment is listed.
const MAX_ADMINS_LISTED: usize = 50;

/// All timelines.
#[derive(Clone)]
pub struct Timelines(pub(in crate::store) RankedSets);

/// Scope of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All moments of the chain.
    Everyone,
    /// Moments of a collection.
    Collection(Address),
    /// Moments that an account created.
    Made(Address),
    /// Moments that an artist's wallet is an admin of but did not create.
    Mutual(Address),
    /// Moments that an account created or, as an artist's wallet, is an admin of.
    Of(Address),
}

/// Filter of a timeline; the default selects everything.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimelineFilter {
    /// Only this content type.
    pub content_type: Option<ContentType>,
    /// Only this protocol.
    pub protocol: Option<Protocol>,
    /// Only moments whose creator has a username.
    pub curated: bool,
    /// Hidden moments too.
    pub hidden: bool,
}

/// A page of a timeline.
#[derive(Debug)]
pub struct TimelinePage {
    /// Moments, newest first.
    pub moments: Vec<ListedMoment>,
    /// Number of moments that match; one in several sets counts in each.
    pub total: u64,
    /// Whether a moment can be in several of the sets.
    pub may_overlap: bool,
    /// Where the page ended, if there are more.
    pub(super) end: Option<TimelinePosition>,
}

impl TimelinePage {
    /// Where the page after the first `moments` of this one begins; `None` if there are no more.
    pub fn after(&self, moments: usize) -> Option<Until> {
        let cut = self.moments.get(moments).and_then(|_| self.moments.get(moments.checked_sub(1)?));
        cut.map(|last| last.position).or(self.end).map(TimelinePosition::until)
    }
}

impl Member {
    pub(super) fn listed(self, chain: ChainId, position: TimelinePosition) -> ListedMoment {
        let place = MomentRef { chain, collection: self.collection, token: self.token_id };
        ListedMoment { place, position, creator: self.creator, document: alloy::hex::encode(self.document) }
    }
}

/// A moment in a timeline, with what else to read for showing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedMoment {
    /// The moment.
    pub place: MomentRef,
    /// Where it is in timelines.
    pub position: TimelinePosition,
    /// Account that created it.
    pub creator: Address,
    /// [`Documents::uri_hash`] of its metadata URI.
    pub document: String,
}

/// Properties that determine a moment's timelines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// Id of the moment.
    pub id: EventId,
    /// Account that created it.
    pub creator: Address,
    /// Protocol of its contracts.
    pub protocol: Protocol,
    /// Creation time, in Unix seconds.
    pub created_at: u64,
    /// Metadata URI.
    pub uri: String,
    /// Content type, once known.
    pub content_type: Option<ContentType>,
    /// Whether the creator has a username.
    pub curated: bool,
    /// Whether an admin hid it.
    #[serde(default)]
    pub hidden: bool,
    /// Whether it is in no timeline at all, since the operator hid it.
    #[serde(default)]
    pub unlisted: bool,
    /// Artists' wallets that are admins, other than the creator.
    pub others: BTreeSet<Address>,
}

#[derive(Serialize, Deserialize)]
pub(in crate::store) struct Member {
    collection: Address,
    token_id: TokenId,
    creator: Address,
    document: ByteBuf,
}

impl Timelines {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(RankedSets::new(chain))
    }

    /// The set of all of a chain's moments.
    pub fn everyone(chain: ChainId) -> RankedSet {
        set(chain, Scope::Everyone, TimelineFilter::default())
    }

    /// Moments created from `since` (Unix seconds) on. Two reads, in parallel for page one; another with `since`. With the
    /// hidden ones among them, twice as many, and some more beyond the first hundred moments.
    pub async fn newest(
        &self,
        chain: ChainId,
        scope: Scope,
        filter: TimelineFilter,
        since: u64,
        offset: u64,
        limit: u32,
    ) -> Result<TimelinePage, StoreError> {
        self.newest_of(&[(chain, scope)], filter, since, TimelineStart::Offset(offset), limit).await
    }
}

impl Timelines {
    /// Whether all decisions of the operator that a chain's index took are in its rows. Two Queries.
    pub async fn is_settled(&self, chain: ChainId) -> Result<bool, StoreError> {
        let first = |partition: String, end: String| {
            let call = self.0.table.query().key_condition_expression("pk = :pk AND sk < :end").limit(1);
            let call = call.expression_attribute_values(":pk", text(partition)).consistent_read(true);
            call.expression_attribute_values(":end", text(end)).dispatch()
        };
        let decisions = first(rows::artist_changes(chain), FIRST_OTHER.to_string());
        // The names of lists are letters.
        let (decisions, relistings) = try_join!(decisions, first(rows::relistings(chain), "~".to_owned()))?;
        Ok([decisions, relistings].iter().all(|page| page.items().is_empty()))
    }

    /// Returns up to `limit` groups to list again. One Query.
    pub async fn relistings(&self, chain: ChainId, limit: u16) -> Result<Vec<Relisting>, StoreError> {
        let call = self
            .0
            .table
            .query()
            .key_condition_expression("pk = :relist")
            .expression_attribute_values(":relist", text(rows::relistings(chain)))
            .limit(limit.into());
        Ok(serde_dynamo::from_items(call.dispatch().await?.items.unwrap_or_default())?)
    }
}

impl Listing {
    /// Creates the listing of a new moment: not curated, and in the timelines of its creator alone.
    pub fn new(moment: &Moment, content_type: Option<ContentType>) -> Self {
        let mut listing = Self {
            id: moment.id,
            creator: moment.creator,
            protocol: moment.protocol,
            created_at: moment.created_at,
            uri: moment.uri.clone(),
            content_type,
            curated: false,
            hidden: false,
            unlisted: false,
            others: BTreeSet::new(),
        };
        listing.set_hidden(moment);
        listing
    }

    /// Sets in which timelines it is by who hid it.
    pub fn set_hidden(&mut self, moment: &Moment) {
        self.hidden = moment.hidden_by.is_some();
        self.unlisted = moment.is_withheld;
    }

    /// Sets `others` from the admins that are artists.
    pub fn set_others(&mut self, admins: impl Iterator<Item = Address>) {
        let others = BTreeSet::from_iter(admins.filter(|admin| *admin != self.creator));
        self.others = others.into_iter().take(MAX_ADMINS_LISTED).collect();
    }

    fn member(&self, moment: &MomentRef) -> Member {
        let document = ByteBuf::from(Documents::digest(&self.uri));
        Member { collection: moment.collection, token_id: moment.token, creator: self.creator, document }
    }

    /// Returns the moment's row in a set that is loaded.
    pub fn load(&self, moment: &MomentRef, loader: &mut SetLoader<'_>) -> Result<Item, StoreError> {
        loader.member(self.key(moment), &self.member(moment))
    }

    fn key(&self, moment: &MomentRef) -> RankKey {
        RankKey { score: score(self.created_at, moment.token), id: self.id.as_u128() }
    }

    fn sets(&self, collection: Address) -> BTreeSet<(Scope, TimelineFilter)> {
        let with_type = || [None, self.content_type].into_iter().take(1 + usize::from(self.content_type.is_some()));
        let with_protocol = || [None, Some(self.protocol)];
        let with_curated = || [false, true].into_iter().take(1 + usize::from(self.curated));
        if self.unlisted {
            return BTreeSet::new();
        }
        let (mut sets, all) = (BTreeSet::new(), TimelineFilter { hidden: self.hidden, ..TimelineFilter::default() });
        for content_type in with_type() {
            sets.insert((Scope::Collection(collection), TimelineFilter { content_type, ..all }));
            for protocol in with_protocol() {
                let filter = TimelineFilter { content_type, protocol, ..all };
                sets.insert((Scope::Made(self.creator), filter));
                for curated in with_curated() {
                    let filter = TimelineFilter { curated, ..filter };
                    let others = self.others.iter().flat_map(|other| [Scope::Mutual(*other), Scope::Of(*other)]);
                    let all = [Scope::Everyone, Scope::Of(self.creator)].into_iter().chain(others);
                    sets.extend(all.map(|scope| (scope, filter)));
                }
            }
        }
        sets
    }
}

impl UnitOfWork {
    /// Returns a moment's listing.
    pub async fn listing(&mut self, moment: &MomentRef) -> Result<Option<Listing>, StoreError> {
        self.get(&rows::listing(moment)).await
    }

    /// Adds a new moment to its timelines and to the groups of its collection, creator and URI.
    pub async fn list_new(&mut self, moment: &MomentRef, listing: &Listing) -> Result<(), StoreError> {
        self.note(moment, &TimelineSubject::Of(moment.collection)).await?;
        self.note(moment, &TimelineSubject::By(listing.creator)).await?;
        self.note(moment, &TimelineSubject::With(Documents::uri_hash(&listing.uri))).await?;
        self.list(moment, listing).await
    }

    /// Moves a moment from the timelines of its old listing to those of `after`.
    pub async fn list(&mut self, moment: &MomentRef, after: &Listing) -> Result<(), StoreError> {
        let before = self.listing(moment).await?;
        if before.as_ref() == Some(after) {
            return Ok(());
        }
        let (key, member) = (after.key(moment), after.member(moment));
        let is_in = before.as_ref().map(|before| before.sets(moment.collection)).unwrap_or_default();
        let belongs_in = after.sets(moment.collection);
        if before.is_some_and(|before| before.uri != after.uri || before.creator != after.creator) {
            for (scope, filter) in is_in.intersection(&belongs_in) {
                set(moment.chain, *scope, *filter).replace(self, key, &member)?;
            }
        }
        for (scope, filter) in is_in.difference(&belongs_in) {
            set(moment.chain, *scope, *filter).remove(self, key).await?;
        }
        for (scope, filter) in belongs_in.difference(&is_in) {
            set(moment.chain, *scope, *filter).insert(self, key, &member).await?;
        }
        self.put(&rows::listing(moment), after)
    }
}

/// Keys that listing a new moment reads, for prefetching.
pub fn listing_keys(moment: &MomentRef, creator: Address, protocol: Protocol, uri: &str) -> Vec<PrimaryKey> {
    let chain = moment.chain;
    let concerned = [
        TimelineSubject::Of(moment.collection),
        TimelineSubject::By(creator),
        TimelineSubject::With(Documents::uri_hash(uri)),
    ];
    let mut keys: Vec<PrimaryKey> = concerned.iter().map(|by| length_key(&by.partition(chain))).collect();
    keys.extend([rows::listing(moment), moment_key(moment)]);
    for protocol in [None, Some(protocol)] {
        let filter = TimelineFilter { protocol, ..TimelineFilter::default() };
        let scopes = [Scope::Collection(moment.collection), Scope::Made(creator), Scope::Of(creator)];
        keys.extend(scopes.map(|scope| set(chain, scope, filter).root_key()));
    }
    keys
}

pub(in crate::store) fn score(created_at: u64, token: TokenId) -> u128 {
    let token: U256 = token.into();
    u128::from(created_at) << 64 | u128::from(token.saturating_to::<u64>())
}

pub(in crate::store) fn set(chain: ChainId, scope: Scope, filter: TimelineFilter) -> RankedSet {
    let scope = match scope {
        Scope::Everyone => "ALL".to_owned(),
        Scope::Collection(collection) => format!("COLLECTION#{collection}"),
        Scope::Made(account) => format!("MADE#{account}"),
        Scope::Mutual(account) => format!("MUTUAL#{account}"),
        Scope::Of(account) => format!("OF#{account}"),
    };
    let mut filters = String::new();
    // Writing to a `String` never fails.
    if let Some(content_type) = filter.content_type {
        let _ = write!(filters, "#{content_type}");
    }
    if let Some(protocol) = filter.protocol {
        let _ = write!(filters, "#{protocol}");
    }
    if filter.curated {
        filters.push_str("#curated");
    }
    if filter.hidden {
        filters.push_str("#hidden");
    }
    RankedSet::growing(rows::timeline(chain, &scope, &filters))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(byte: u8) -> Address {
        alloy::primitives::Address::repeat_byte(byte).into()
    }

    fn listing(content_type: Option<ContentType>, curated: bool, others: &[u8]) -> Listing {
        Listing {
            id: EventId::new(ChainId(1), alloy::primitives::B256::ZERO, 0),
            creator: address(1),
            protocol: Protocol::Native,
            created_at: 7,
            uri: String::new(),
            content_type,
            curated,
            hidden: false,
            unlisted: false,
            others: others.iter().map(|byte| address(*byte)).collect(),
        }
    }

    #[test]
    fn moment_is_in_the_set_of_every_filter_that_it_matches() {
        let video = listing(Some(ContentType::Video), true, &[2]);
        let sets = video.sets(address(9));
        for content_type in [None, Some(ContentType::Video)] {
            for protocol in [None, Some(Protocol::Native)] {
                for curated in [false, true] {
                    let filter = TimelineFilter { content_type, protocol, curated, hidden: false };
                    for scope in
                        [Scope::Everyone, Scope::Of(address(1)), Scope::Of(address(2)), Scope::Mutual(address(2))]
                    {
                        assert!(sets.contains(&(scope, filter)), "{scope:?} {filter:?}");
                    }
                }
            }
        }
        assert!(!sets.iter().any(|(scope, _)| matches!(scope, Scope::Mutual(it) if *it == address(1))));
        assert!(!sets.iter().any(|(_, filter)| filter.protocol == Some(Protocol::Editions)));
    }

    #[test]
    fn hidden_moment_is_in_sets_of_hidden_ones_alone() {
        let shown = listing(Some(ContentType::Video), true, &[2]);
        let hidden = Listing { hidden: true, ..shown.clone() };
        let as_hidden = |(scope, filter)| (scope, TimelineFilter { hidden: true, ..filter });
        assert_eq!(hidden.sets(address(9)), shown.sets(address(9)).into_iter().map(as_hidden).collect());
    }

    #[test]
    fn content_type_and_creator_name_double_the_number_of_sets() {
        let count = |listing: Listing| listing.sets(address(9)).len();
        assert_eq!(count(listing(None, false, &[])), 2 + 1 + 2 + 2);
        assert_eq!(count(listing(Some(ContentType::Image), false, &[])), 4 + 2 + 4 + 4);
        assert_eq!(count(listing(Some(ContentType::Image), true, &[])), 8 + 2 + 4 + 8);
        assert_eq!(count(listing(Some(ContentType::Image), true, &[2])), 22 + 16);
    }

    #[test]
    fn later_moments_sort_after_earlier_ones() {
        let token = |id: &str| id.parse::<TokenId>().unwrap();
        let largest = token(&alloy::primitives::U256::MAX.to_string());
        assert!(score(7, token("2")) > score(7, token("1")));
        assert!(score(8, token("0")) > score(7, largest));
    }
}
