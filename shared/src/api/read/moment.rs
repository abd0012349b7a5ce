use std::collections::{BTreeSet, HashMap};

use futures::future::try_join_all;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    metadata::MetadataView,
    page_size::{MAX_ADMINS_SHOWN, fitting},
    reader::{Person, ReadError, Reader},
    site::Site,
};
use crate::{
    clock::iso_8601,
    model::{
        Address, AllowListView, Amount, ArtistId, ChainId, EventId, Moment, MomentRef, MovedTo, Protocol, RoyaltyView,
        SaleType, SaleView, TokenId,
    },
    store::{
        across::{LookupKeys, LookupRows},
        chain::{Documents, ListedMoment},
    },
};

/// A moment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Moment)]
pub struct MomentView {
    /// The collection's contract.
    pub address: Address,
    /// Token in the collection.
    pub token_id: TokenId,
    /// Chain of the collection.
    pub chain_id: ChainId,
    /// Protocol of the collection.
    pub protocol: Protocol,
    /// Id of the moment at this service.
    pub id: EventId,
    /// The moment's page for people.
    #[schema(format = "uri")]
    pub page: String,
    /// Metadata URI.
    pub uri: String,
    /// Account that made the moment.
    pub creator: Person,
    /// Account that the collection was made for.
    pub owner: Address,
    /// The collection.
    pub collection: CollectionName,
    /// Accounts with the admin permission on the token or the whole collection, sorted; in lists the first 50.
    pub admins: Vec<Address>,
    /// Its copy in another collection, if it was moved; null otherwise. Then it isn't sold any more.
    #[serde(rename = "movedTo")]
    #[schema(required = true)]
    pub moved_to: Option<MovedMoment>,
    /// The artist who hid it; empty if it isn't hidden.
    #[schema(max_items = 1)]
    pub hidden: Vec<ArtistId>,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
    pub updated_at: String,
    /// Null until fetched.
    #[schema(required = true)]
    pub metadata: Option<MetadataView>,
    /// URI of the metadata's content; null without one.
    #[serde(rename = "contentUri")]
    #[schema(required = true)]
    pub content_uri: Option<String>,
    /// The sale to everybody that is in force; null without one.
    #[schema(required = true)]
    pub sale: Option<SaleView>,
    /// The sale to the accounts of a list, beside `sale`; null without one.
    #[serde(rename = "allowList")]
    #[schema(required = true)]
    pub allow_list: Option<AllowListView>,
    /// Royalty on resale: its own, or the collection's; null without one.
    #[schema(required = true)]
    pub royalty: Option<RoyaltyView>,
    /// Token counts.
    pub supply: Supply,
    /// Whether as many are minted as can be.
    #[serde(rename = "soldOut")]
    pub sold_out: bool,
    /// Number of comments, without replies.
    pub comments: u64,
    /// Whether the operator hid it: then nobody sees more of it than that.
    #[serde(skip)]
    pub is_withheld: bool,
}

/// Where a moment was moved to.
#[derive(Debug, Serialize, ToSchema)]
pub struct MovedMoment {
    /// The copy's collection, on the same chain.
    pub address: Address,
    /// The copy's token.
    pub token_id: TokenId,
    /// The copy's page for people.
    #[schema(format = "uri")]
    pub page: String,
}

/// A collection's name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NamedCollection)]
pub struct CollectionName {
    /// Empty without one, and if the operator hid the collection.
    pub name: String,
}

/// Token counts of a moment.
#[derive(Debug, Serialize, ToSchema)]
pub struct Supply {
    /// Maximum; 18446744073709551615 means an open edition.
    pub max: Amount,
    /// Minted so far.
    pub minted: Amount,
    /// Minted and not burned.
    pub total: Amount,
}

impl Reader {
    /// The moment at this place; `None` if there is none. Two reads.
    pub async fn moment(&self, place: &MomentRef) -> Result<Option<MomentView>, ReadError> {
        let keys = LookupKeys {
            moments: BTreeSet::from([*place]),
            collections: BTreeSet::from([place.collection]),
            comments: BTreeSet::from([*place]),
            ..LookupKeys::default()
        };
        let mut rows = self.related.read(place.chain, keys).await?;
        let Some(moment) = rows.moments.remove(place) else { return Ok(None) };
        let keys = LookupKeys {
            documents: BTreeSet::from([Documents::uri_hash(&moment.uri)]),
            names: BTreeSet::from([moment.creator]),
            ..LookupKeys::default()
        };
        rows.extend(self.related.read(place.chain, keys).await?);
        MomentView::new(&moment, &rows, &self.site).map(Some)
    }

    /// Views of moments; those that are gone are left out. One read per chain and hundred rows, six a moment.
    pub async fn moments(&self, listed: &[ListedMoment]) -> Result<Vec<MomentView>, ReadError> {
        let of = |chain: ChainId| listed.iter().filter(|it| it.place.chain == chain).cloned().collect::<Vec<_>>();
        let chains: BTreeSet<ChainId> = listed.iter().map(|listed| listed.place.chain).collect();
        let views = try_join_all(chains.into_iter().map(|chain| self.moments_of(chain, of(chain)))).await?;
        let mut views: HashMap<MomentRef, MomentView> = views.into_iter().flatten().collect();
        let shown = listed.iter().filter_map(|listed| views.remove(&listed.place));
        // Lists lag: one that was hidden a moment ago may still be in them.
        Ok(shown.filter(|moment| !moment.is_withheld).collect())
    }

    /// As many of these views as a page holds, and how many of the listed moments they stand for. Reads as
    /// [`Self::moments`].
    pub async fn moments_that_fit(&self, listed: &[ListedMoment]) -> Result<(Vec<MomentView>, usize), ReadError> {
        fitting(self.moments(listed).await?, listed, |view, listed| view.place() == listed.place)
    }

    async fn moments_of(
        &self,
        chain: ChainId,
        listed: Vec<ListedMoment>,
    ) -> Result<Vec<(MomentRef, MomentView)>, ReadError> {
        let places = || listed.iter().map(|listed| listed.place);
        let keys = LookupKeys {
            moments: places().collect(),
            collections: places().map(|place| place.collection).collect(),
            documents: listed.iter().map(|listed| listed.document.clone()).collect(),
            comments: places().collect(),
            names: listed.iter().map(|listed| listed.creator).collect(),
        };
        let documents = keys.documents.clone();
        let mut rows = self.related.read(chain, keys).await?;
        let uris = rows.moments.values().map(|moment| moment.uri.as_str());
        let changed = self.other_documents(chain, uris, &documents).await?;
        rows.extend(changed);
        let moments = listed.iter().filter_map(|listed| rows.moments.get(&listed.place));
        let view = |moment: &Moment| {
            let mut view = MomentView::new(moment, &rows, &self.site)?;
            view.admins.truncate(MAX_ADMINS_SHOWN);
            Ok((moment.place(), view))
        };
        moments.map(view).collect()
    }
}

impl MomentView {
    /// Whether neither an artist nor the operator hid it.
    pub fn is_shown(&self) -> bool {
        self.hidden.is_empty() && !self.is_withheld
    }

    /// Chain, collection and token.
    pub fn place(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.address, token: self.token_id }
    }

    fn new(moment: &Moment, rows: &LookupRows, site: &Site) -> Result<Self, ReadError> {
        let collection = rows.collections.get(&moment.collection);
        let named = collection.filter(|collection| !collection.is_withheld);
        let admins = collection.map_or([].as_slice(), |collection| &collection.admins);
        let admins = BTreeSet::from_iter(moment.admins.iter().chain(admins).copied());
        let metadata = MetadataView::of(&moment.uri, rows, site);
        let is_moved = moment.moved_to.is_some();
        let content_uri = metadata.as_ref().map(|document| document.content.uri.clone()).filter(|uri| !uri.is_empty());
        Ok(Self {
            address: moment.collection,
            token_id: moment.token_id,
            chain_id: moment.chain_id,
            protocol: moment.protocol,
            id: moment.id,
            page: site.moment(&moment.place()),
            uri: moment.uri.clone(),
            creator: Person::named(moment.creator, &rows.names),
            owner: collection.map_or(moment.creator, |collection| collection.creator),
            collection: CollectionName { name: named.map(|it| it.name.clone()).unwrap_or_default() },
            admins: admins.into_iter().collect(),
            moved_to: moment.moved_to.map(|copy| MovedMoment::of(moment.chain_id, copy, site)),
            hidden: moment.hidden_by.into_iter().collect(),
            created_at: iso_8601(moment.created_at)?,
            updated_at: iso_8601(moment.updated_at)?,
            metadata,
            content_uri,
            // A timed sale can't be ended: a moved moment's has lost its minter.
            sale: moment.sale().filter(|sale| !is_moved || sale.strategy != SaleType::Timed).map(SaleView::of),
            allow_list: moment.allow_list().and_then(AllowListView::of),
            royalty: moment.royalty.or(collection.and_then(|it| it.royalty)).map(RoyaltyView::from),
            supply: Supply::of(moment),
            sold_out: moment.minted >= moment.max_supply,
            comments: rows.comments.get(&moment.place()).copied().unwrap_or_default(),
            is_withheld: moment.is_withheld,
        })
    }
}

impl MovedMoment {
    fn of(chain: ChainId, MovedTo { collection, token_id: token }: MovedTo, site: &Site) -> Self {
        Self { address: collection, token_id: token, page: site.moment(&MomentRef { chain, collection, token }) }
    }
}

impl Supply {
    fn of(moment: &Moment) -> Self {
        let total = moment.minted.0.saturating_sub(moment.burned.0);
        Self { max: moment.max_supply, minted: moment.minted, total: Amount(total) }
    }
}
