//! Timelines: the moments of a chain, of a collection, or of an account, newest first, in the table of what the chain can
//! rebuild. For every combination of filters that can be asked for there is a ranked set of the moments that satisfy it,
//! so that each page costs the same.
//!
//! - `pk = TIMELINE#<chain>#<scope>#<filters>`: such a set; its members' values say where the moments are;
//! - `pk = LISTED#<moment>`, `sk = LISTED`: what the sets that a moment is in follow from. Whatever changes of it, the
//!   moment leaves the sets of the old one and comes into those of the new one.
//!
//! - `pk = MOMENTS_OF#<chain>#<collection>`, `pk = MOMENTS_BY#<chain>#<creator>`, `pk = MOMENTS_WITH#<chain>#<hash of a
//!   URI>`: numbered lists of the moments that a change of the collection's admins, of the creator's name, or of what is
//!   known of the URI's document concerns. A moment stays in the lists of the URIs that it had;
//! - `pk = RELIST#<chain>`, `sk = <one of these lists>`: its moments are to be listed anew, and how many of them are.
//!
//! A moment is in twice as many sets for each filter that it satisfies and that doesn't follow from the scope: 2 or 4 of
//! its chain, 1 of its collection, 2 of its creator (made) and as many again (made or admin), before its content type
//! is known; then twice as many. One whose creator has a name is in twice as many of its chain. Another admin has as many as
//! the creator.

use std::{collections::BTreeSet, fmt::Write};

use alloy::primitives::U256;
use serde::{Deserialize, Serialize};

use super::{
    Direction, Documents, Key, RankKey, RankedSet, StoreError, Table, Unit, moment_key, numbered::length_key, text,
};
use crate::model::{Address, ChainId, Collection, ContentType, EventId, Moment, MomentRef, Protocol, TokenId};

/// Most accounts in whose timelines a moment is for being its admins; the first of them in their order.
const MAX_ADMINS_LISTED: usize = 50;

/// All timelines.
#[derive(Clone)]
pub struct Timelines(Table);

/// Whose timeline it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// All moments of the chain.
    Everyone,
    /// The moments of a collection.
    Collection(Address),
    /// What an account made.
    Made(Address),
    /// What it is an admin of and didn't make.
    Mutual(Address),
    /// Both.
    Of(Address),
}

/// Moments that are to be listed anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relisting {
    /// What they have in common.
    pub by: Concerned,
    /// How many of them are done.
    pub done: u64,
}

/// Which moments of it are asked for; all unless said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TimelineFilter {
    /// Only those with content of this type.
    pub content_type: Option<ContentType>,
    /// Only those of this protocol.
    pub protocol: Option<Protocol>,
    /// Only those whose creator has a name.
    pub curated: bool,
}

/// Some moments of a timeline.
#[derive(Debug)]
pub struct TimelinePage {
    /// Where they are, in the timeline's order.
    pub moments: Vec<MomentRef>,
    /// How many the timeline has.
    pub total: u64,
}

/// What the sets that a moment is in follow from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// Id of the moment.
    pub id: EventId,
    /// Account that made it.
    pub creator: Address,
    /// Whose contracts it is of.
    pub protocol: Protocol,
    /// Unix time in seconds.
    pub created_at: u64,
    /// Its metadata URI.
    pub uri: String,
    /// What its content is, once it is known.
    pub content_type: Option<ContentType>,
    /// Whether its creator has a name.
    pub curated: bool,
    /// Accounts that are its admins and didn't make it.
    pub others: BTreeSet<Address>,
}

/// Moments that something concerns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Concerned {
    /// Those of a collection.
    Of(Address),
    /// Those that an account made.
    By(Address),
    /// Those whose metadata URI has, or had, this hash.
    With(String),
}

/// A member of a set, or of a list.
#[derive(Serialize, Deserialize)]
struct Member {
    collection: Address,
    token_id: TokenId,
}

impl Timelines {
    /// The timelines in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// Moments of a timeline that were made at `since` (Unix seconds) or later, newest first, from the `offset`th on. Two
    /// reads; with an offset two more, and with a time two more.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn newest(
        &self,
        chain: ChainId,
        scope: Scope,
        filter: TimelineFilter,
        since: u64,
        offset: u64,
        limit: u32,
    ) -> Result<TimelinePage, StoreError> {
        let since = if since == 0 { RankKey::MIN } else { RankKey::at_least(score(since, TokenId::default())) };
        let page = set(chain, scope, filter).page(&self.0, since, Direction::Descending, offset, limit).await?;
        let place = |member: Member| MomentRef { chain, collection: member.collection, token: member.token_id };
        Ok(TimelinePage { moments: page.rows.into_iter().map(place).collect(), total: page.total })
    }
}

impl Timelines {
    /// What is to be listed anew. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn relistings(&self, chain: ChainId, limit: u16) -> Result<Vec<Relisting>, StoreError> {
        let call = self
            .0
            .client
            .query()
            .table_name(&self.0.name)
            .key_condition_expression("pk = :relist")
            .expression_attribute_values(":relist", text(relist_partition(chain)))
            .limit(limit.into())
            .consistent_read(true);
        Ok(serde_dynamo::from_items(call.send().await?.items.unwrap_or_default())?)
    }
}

impl Listing {
    /// What is known of a moment when it is made.
    pub fn new(moment: &Moment, collection: &Collection, content_type: Option<ContentType>, curated: bool) -> Self {
        let mut listing = Self {
            id: moment.id,
            creator: moment.creator,
            protocol: moment.protocol,
            created_at: moment.created_at,
            uri: moment.uri.clone(),
            content_type,
            curated,
            others: BTreeSet::new(),
        };
        listing.set_admins(moment, collection);
        listing
    }

    /// Takes over who the admins are.
    pub fn set_admins(&mut self, moment: &Moment, collection: &Collection) {
        let admins = BTreeSet::from_iter(moment.admins.iter().chain(&collection.admins).copied());
        let others = admins.into_iter().filter(|admin| *admin != self.creator);
        self.others = others.take(MAX_ADMINS_LISTED).collect();
    }

    /// The sets that the moment is in.
    fn sets(&self, collection: Address) -> BTreeSet<(Scope, TimelineFilter)> {
        let with_type = || [None, self.content_type].into_iter().take(1 + usize::from(self.content_type.is_some()));
        let with_protocol = || [None, Some(self.protocol)];
        let with_curated = || [false, true].into_iter().take(1 + usize::from(self.curated));
        let mut sets = BTreeSet::new();
        for content_type in with_type() {
            sets.insert((Scope::Collection(collection), TimelineFilter { content_type, ..TimelineFilter::default() }));
            for protocol in with_protocol() {
                let filter = TimelineFilter { content_type, protocol, curated: false };
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

impl Unit {
    /// What a moment's timelines follow from.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn listing(&mut self, moment: &MomentRef) -> Result<Option<Listing>, StoreError> {
        self.get(&listing_key(moment)).await
    }

    /// Puts a new moment into its timelines, and notes it wherever something may change that concerns it.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn list_new(&mut self, moment: &MomentRef, listing: &Listing) -> Result<(), StoreError> {
        self.note(moment, &Concerned::Of(moment.collection)).await?;
        self.note(moment, &Concerned::By(listing.creator)).await?;
        self.note(moment, &Concerned::With(Documents::uri_hash(&listing.uri))).await?;
        self.list(moment, listing).await
    }

    /// Notes that something concerns a moment.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn note(&mut self, moment: &MomentRef, by: &Concerned) -> Result<(), StoreError> {
        let member = Member { collection: moment.collection, token_id: moment.token };
        self.append(&by.partition(moment.chain), &member).await.map(drop)
    }

    /// Moments that something concerns, from number `first` on, `limit` at most, and whether that is all. Their listings
    /// are read ahead.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn concerned(
        &mut self,
        chain: ChainId,
        by: &Concerned,
        first: u64,
        limit: u64,
    ) -> Result<(Vec<MomentRef>, bool), StoreError> {
        let (members, is_all) = self.numbered::<Member>(&by.partition(chain), first, limit).await?;
        let place = |member: Member| MomentRef { chain, collection: member.collection, token: member.token_id };
        let moments: Vec<MomentRef> = members.into_iter().map(place).collect();
        self.prefetch(moments.iter().flat_map(|moment| [listing_key(moment), moment_key(moment)])).await?;
        Ok((moments, is_all))
    }

    /// Has the moments that something concerns listed anew later, however many there are.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn relist(&mut self, chain: ChainId, by: Concerned) -> Result<(), StoreError> {
        let (_, is_none) = self.concerned(chain, &by, 0, 0).await?;
        if is_none { Ok(()) } else { self.set_relisted(chain, &Relisting { by, done: 0 }, false) }
    }

    /// Notes how much is listed anew, or that all of it is.
    ///
    /// # Errors
    /// When it can't be written as a row.
    pub fn set_relisted(&mut self, chain: ChainId, relisting: &Relisting, is_all: bool) -> Result<(), StoreError> {
        let key = Key::new(relist_partition(chain), relisting.by.partition(chain));
        if is_all {
            self.delete(&key);
            return Ok(());
        }
        self.put(&key, relisting)
    }

    /// Puts a moment into the timelines that follow from `after`, and takes it out of the others that followed from what
    /// was known before.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn list(&mut self, moment: &MomentRef, after: &Listing) -> Result<(), StoreError> {
        let before = self.listing(moment).await?;
        if before.as_ref() == Some(after) {
            return Ok(());
        }
        let key = RankKey { score: score(after.created_at, moment.token), id: after.id.as_u128() };
        let member = Member { collection: moment.collection, token_id: moment.token };
        let is_in = before.map(|before| before.sets(moment.collection)).unwrap_or_default();
        let belongs_in = after.sets(moment.collection);
        for (scope, filter) in is_in.difference(&belongs_in) {
            set(moment.chain, *scope, *filter).remove(self, key).await?;
        }
        for (scope, filter) in belongs_in.difference(&is_in) {
            set(moment.chain, *scope, *filter).insert(self, key, &member).await?;
        }
        self.put(&listing_key(moment), after)
    }
}

impl Concerned {
    fn partition(&self, chain: ChainId) -> String {
        match self {
            Self::Of(collection) => format!("MOMENTS_OF#{chain}#{collection}"),
            Self::By(creator) => format!("MOMENTS_BY#{chain}#{creator}"),
            Self::With(uri_hash) => format!("MOMENTS_WITH#{chain}#{uri_hash}"),
        }
    }
}

/// Rows that listing a new moment needs, as far as they follow from this.
pub fn listing_keys(moment: &MomentRef, creator: Address, protocol: Protocol, uri: &str) -> Vec<Key> {
    let chain = moment.chain;
    let concerned =
        [Concerned::Of(moment.collection), Concerned::By(creator), Concerned::With(Documents::uri_hash(uri))];
    let mut keys: Vec<Key> = concerned.iter().map(|by| length_key(&by.partition(chain))).collect();
    keys.extend([listing_key(moment), moment_key(moment)]);
    for protocol in [None, Some(protocol)] {
        let filter = TimelineFilter { protocol, ..TimelineFilter::default() };
        let scopes = [Scope::Collection(moment.collection), Scope::Made(creator), Scope::Of(creator)];
        keys.extend(scopes.map(|scope| set(chain, scope, filter).root_key()));
    }
    keys
}

/// Where in a timeline a moment is: later ones after earlier ones, and those of the same second by their token ids.
fn score(created_at: u64, token: TokenId) -> u128 {
    let token: U256 = token.into();
    u128::from(created_at) << 64 | u128::from(token.saturating_to::<u64>())
}

fn set(chain: ChainId, scope: Scope, filter: TimelineFilter) -> RankedSet {
    let mut name = format!("TIMELINE#{chain}#");
    // Writing to a text doesn't fail.
    let _ = match scope {
        Scope::Everyone => write!(name, "ALL"),
        Scope::Collection(collection) => write!(name, "COLLECTION#{collection}"),
        Scope::Made(account) => write!(name, "MADE#{account}"),
        Scope::Mutual(account) => write!(name, "MUTUAL#{account}"),
        Scope::Of(account) => write!(name, "OF#{account}"),
    };
    if let Some(content_type) = filter.content_type {
        let _ = write!(name, "#{content_type}");
    }
    if let Some(protocol) = filter.protocol {
        let _ = write!(name, "#{protocol}");
    }
    if filter.curated {
        name.push_str("#curated");
    }
    RankedSet::new(name)
}

fn relist_partition(chain: ChainId) -> String {
    format!("RELIST#{chain}")
}

fn listing_key(moment: &MomentRef) -> Key {
    Key::new(format!("LISTED#{moment}"), "LISTED")
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
            others: others.iter().map(|byte| address(*byte)).collect(),
        }
    }

    #[test]
    fn a_moment_is_in_the_set_of_every_question_that_it_answers() {
        let video = listing(Some(ContentType::Video), true, &[2]);
        let sets = video.sets(address(9));
        for content_type in [None, Some(ContentType::Video)] {
            for protocol in [None, Some(Protocol::Native)] {
                for curated in [false, true] {
                    let filter = TimelineFilter { content_type, protocol, curated };
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
    fn the_number_of_sets_is_as_the_module_says() {
        let count = |listing: Listing| listing.sets(address(9)).len();
        assert_eq!(count(listing(None, false, &[])), 2 + 1 + 2 + 2);
        assert_eq!(count(listing(Some(ContentType::Image), false, &[])), 4 + 2 + 4 + 4);
        assert_eq!(count(listing(Some(ContentType::Image), true, &[])), 8 + 2 + 4 + 8);
        assert_eq!(count(listing(Some(ContentType::Image), true, &[2])), 22 + 16);
    }

    #[test]
    fn later_moments_come_after_earlier_ones() {
        let token = |id: &str| id.parse::<TokenId>().unwrap();
        let largest = token(&alloy::primitives::U256::MAX.to_string());
        assert!(score(7, token("2")) > score(7, token("1")));
        assert!(score(8, token("0")) > score(7, largest));
    }
}
