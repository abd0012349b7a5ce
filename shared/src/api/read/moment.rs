use std::collections::BTreeSet;

use serde::Serialize;
use utoipa::ToSchema;

use super::reader::{Person, ReadError, Reader};
use crate::{
    clock::iso_8601,
    model::{Address, Amount, ChainId, EventId, Metadata, Moment, MomentRef, MomentSale, Protocol, SaleType, TokenId},
};

/// A moment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Moment)]
pub struct MomentView {
    address: Address,
    token_id: TokenId,
    chain_id: ChainId,
    protocol: Protocol,
    id: EventId,
    uri: String,
    creator: Person,
    collection: CollectionName,
    /// Accounts with the admin permission on the token or the whole collection, sorted.
    admins: Vec<Address>,
    /// Always empty.
    #[schema(value_type = Vec<EventId>)]
    hidden: [EventId; 0],
    /// ISO 8601.
    created_at: String,
    /// ISO 8601.
    updated_at: String,
    /// Null until fetched.
    #[schema(required = true)]
    metadata: Option<Metadata>,
    /// The sale in force; null without one.
    #[schema(required = true)]
    sale: Option<SaleView>,
    supply: Supply,
    /// Number of comments, without replies.
    comments: u64,
}

/// A collection's name.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NamedCollection)]
struct CollectionName {
    name: String,
}

/// A sale, in the words of `POST /sale`.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Sale)]
#[serde(rename_all = "camelCase")]
pub struct SaleView {
    r#type: SaleType,
    /// In the currency's smallest unit.
    price_per_token: Amount,
    /// Unix time in seconds.
    sale_start: u64,
    /// Unix time in seconds; 18446744073709551615 means no end.
    sale_end: u64,
    /// 0 means unlimited.
    max_tokens_per_address: u64,
    /// Null where the contract has none.
    #[schema(required = true)]
    funds_recipient: Option<Address>,
    /// The currency's contract; the zero address means the chain's own.
    currency: Address,
}

/// Token counts of a moment.
#[derive(Debug, Serialize, ToSchema)]
pub struct Supply {
    /// Maximum; 18446744073709551615 means an open edition.
    max: Amount,
    /// Minted so far.
    minted: Amount,
    /// Minted and not burned.
    total: Amount,
}

impl Reader {
    /// The moment at this place; `None` if there is none. Five reads.
    pub async fn moment(&self, place: &MomentRef) -> Result<Option<MomentView>, ReadError> {
        match self.moments.moment(place).await? {
            Some(moment) => Ok(self.moments(&[moment]).await?.pop()),
            None => Ok(None),
        }
    }

    /// Views of one chain's moments. Four parallel reads for every hundred.
    pub async fn moments(&self, moments: &[Moment]) -> Result<Vec<MomentView>, ReadError> {
        let Some(chain) = moments.first().map(|first| first.chain_id) else { return Ok(Vec::new()) };
        let places: Vec<MomentRef> = moments.iter().map(Moment::place).collect();
        let (names, documents, collections, comments) = tokio::try_join!(
            self.names(moments.iter().map(|moment| moment.creator)),
            self.documents.find_many(chain, moments.iter().map(|moment| moment.uri.as_str())),
            self.moments.collections(chain, moments.iter().map(|moment| moment.collection)),
            self.comments.counts(&places),
        )?;
        let show = |moment: &Moment| {
            let collection = collections.get(&moment.collection);
            let admins = collection.map_or([].as_slice(), |collection| &collection.admins);
            let admins = BTreeSet::from_iter(moment.admins.iter().chain(admins).copied());
            Ok(MomentView {
                address: moment.collection,
                token_id: moment.token_id,
                chain_id: moment.chain_id,
                protocol: moment.protocol,
                id: moment.id,
                uri: moment.uri.clone(),
                creator: names.person(moment.creator),
                collection: CollectionName { name: collection.map(|it| it.name.clone()).unwrap_or_default() },
                admins: admins.into_iter().collect(),
                hidden: [],
                created_at: iso_8601(moment.created_at)?,
                updated_at: iso_8601(moment.updated_at)?,
                metadata: documents.get(moment.uri.as_str()).cloned(),
                sale: moment.sale().map(SaleView::of),
                supply: Supply::of(moment),
                comments: comments.get(&moment.place()).copied().unwrap_or_default(),
            })
        };
        moments.iter().map(show).collect()
    }
}

impl SaleView {
    fn of(sale: &MomentSale) -> Self {
        Self {
            r#type: sale.strategy,
            price_per_token: sale.price,
            sale_start: sale.start,
            sale_end: sale.end,
            max_tokens_per_address: sale.max_per_address,
            funds_recipient: sale.funds_recipient,
            currency: sale.currency,
        }
    }
}

impl Supply {
    fn of(moment: &Moment) -> Self {
        let total = moment.minted.0.saturating_sub(moment.burned.0);
        Self { max: moment.max_supply, minted: moment.minted, total: Amount(total) }
    }
}
