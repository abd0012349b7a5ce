//! Claim links, and who has claimed what with them. Rows: docs/data-model.md, Claim links.

use std::time::Duration;

use aws_sdk_dynamodb::types::{Put, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use crate::{
    model::{Address, ArtistId, ChainId, ClaimId, ClaimToken, MomentRef, TokenId, TransactionId},
    store::{
        artist::{
            activities::{Activities, Activity},
            rows,
        },
        engine::table::{ArtistTable, StoreError, number, row, text, updating},
    },
};

/// Most links of an artist.
pub const MAX_CLAIM_LINKS: usize = 100;

/// How long a link's rows are kept after its end.
const KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// A link as its artist made it, and how many of its places are taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimLink {
    /// Its id.
    pub id: ClaimId,
    /// The artist who made it, and whose budget its claims are charged to.
    pub artist_id: ArtistId,
    /// Collection of the moment.
    pub collection: Address,
    /// Id of the moment in the collection.
    pub token_id: TokenId,
    /// Chain of the moment.
    pub chain_id: ChainId,
    /// Number of places: a token each.
    pub count: u64,
    /// Places that are taken.
    pub taken: u64,
    /// Most places that a person may take.
    pub per_person: u64,
    /// When it ends, in Unix seconds.
    pub until: u64,
    /// When it was made, in Unix seconds.
    pub created_at: u64,
    /// [`ClaimToken::hash`] of its token.
    pub token_hash: String,
    /// When the row is deleted, in Unix seconds.
    pub expires_at: u64,
}

/// A link that is to be made.
#[derive(Clone, Copy, Debug)]
pub struct NewClaimLink {
    /// The artist.
    pub artist: ArtistId,
    /// The moment.
    pub moment: MomentRef,
    /// See [`ClaimLink::count`].
    pub count: u64,
    /// See [`ClaimLink::per_person`].
    pub per_person: u64,
    /// See [`ClaimLink::until`].
    pub until: u64,
}

/// Whose link a token is of. It outlives a link that its artist deletes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaimPlace {
    /// The artist.
    pub artist_id: ArtistId,
    /// The link.
    pub claim_id: ClaimId,
    /// Chain of the moment.
    pub chain_id: ChainId,
    /// When the row is deleted, in Unix seconds.
    pub expires_at: u64,
}

/// A place that a person took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The artist's transaction that mints the token.
    pub transaction: TransactionId,
    /// The account that gets it.
    pub account: Address,
}

/// All that a person took of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenPlaces {
    /// The places, the oldest first.
    pub places: Vec<Taken>,
    /// When the row is deleted, in Unix seconds.
    pub expires_at: u64,
}

/// A place to be taken in one transaction with the admission of its mint.
#[derive(Clone, Debug)]
pub struct NewClaim {
    /// The link as it was read.
    pub link: ClaimLink,
    /// Whom the place counts for.
    pub person: Address,
    /// Who gets the token.
    pub account: Address,
    /// What the person has, as it was read.
    pub taken: TakenPlaces,
    /// The place of these whose mint failed for good, which gets another one; otherwise a further place is taken.
    pub failed: Option<TransactionId>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ClaimRow {
    Link(ClaimLink),
    Taken(TakenPlaces),
}

/// Claim links of all artists.
#[derive(Clone)]
pub struct Claims(ArtistTable);

impl ClaimLink {
    /// The moment.
    pub fn moment(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id }
    }

    /// Places that are left.
    pub fn left(&self) -> u64 {
        self.count.saturating_sub(self.taken)
    }

    /// Whether it has ended at `now`, in Unix seconds.
    pub fn is_over(&self, now: u64) -> bool {
        self.until <= now
    }
}

impl NewClaimLink {
    fn stored(self, id: ClaimId, token: &ClaimToken, now: u64) -> ClaimLink {
        ClaimLink {
            id,
            artist_id: self.artist,
            collection: self.moment.collection,
            token_id: self.moment.token,
            chain_id: self.moment.chain,
            count: self.count,
            taken: 0,
            per_person: self.per_person,
            until: self.until,
            created_at: now,
            token_hash: token.hash(),
            expires_at: self.until.saturating_add(KEPT.as_secs()),
        }
    }
}

impl Claims {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Makes a link, and records this `activity`; `None` if the artist has [`MAX_CLAIM_LINKS`], which requests at the same
    /// time may pass. One Query and one transaction.
    pub async fn create(
        &self,
        new: NewClaimLink,
        token: &ClaimToken,
        activity: &Activity,
    ) -> Result<Option<ClaimId>, StoreError> {
        if self.list(new.artist).await?.len() >= MAX_CLAIM_LINKS {
            return Ok(None);
        }
        let link = new.stored(ClaimId::next(), token, activity.at);
        let ClaimLink { id: claim_id, artist_id, chain_id, expires_at, .. } = link;
        let place = ClaimPlace { artist_id, claim_id, chain_id, expires_at };
        let writes = vec![
            self.0.insertion(&rows::claim_link(new.artist, link.id), &link)?,
            self.0.insertion(&rows::claim_place(&link.token_hash), &place)?,
            Activities::new(self.0.clone()).recording(new.artist, activity)?,
        ];
        if self.0.write_together(writes).await? {
            Ok(Some(link.id))
        } else {
            Err(StoreError::Contention("a claim link"))
        }
    }

    /// Returns an artist's links, the newest first. One Query.
    pub async fn list(&self, artist: ArtistId) -> Result<Vec<ClaimLink>, StoreError> {
        let call = self.0.query().key_condition_expression("pk = :pk AND begins_with(sk, :links)");
        let call = call.expression_attribute_values(":pk", text(rows::claims(artist)));
        let call = call.expression_attribute_values(":links", text("LINK#")).scan_index_forward(false);
        let links = call.into_paginator().items().send().collect::<Result<Vec<_>, _>>().await?;
        Ok(serde_dynamo::from_items(links)?)
    }

    /// Deletes an artist's link; `false` if there is none. What was claimed stays. One write.
    pub async fn delete(&self, artist: ArtistId, id: ClaimId) -> Result<bool, StoreError> {
        self.0.write_together(vec![self.0.removal(&rows::claim_link(artist, id))?]).await
    }

    /// Returns whose link a token is of, which may be deleted; `None` if it was never given out. One read.
    pub async fn place(&self, token: &ClaimToken) -> Result<Option<ClaimPlace>, StoreError> {
        self.0.get(&rows::claim_place(&token.hash())).await
    }

    /// Returns a link; `None` if it is deleted. One read.
    pub async fn link(&self, place: &ClaimPlace) -> Result<Option<ClaimLink>, StoreError> {
        self.0.get(&rows::claim_link(place.artist_id, place.claim_id)).await
    }

    /// Returns a link and what a person took of it; `None` if it is deleted. One read.
    pub async fn taken_by(
        &self,
        place: &ClaimPlace,
        person: Address,
    ) -> Result<Option<(ClaimLink, TakenPlaces)>, StoreError> {
        let ClaimPlace { artist_id, claim_id, .. } = *place;
        let keys = [rows::claim_link(artist_id, claim_id), rows::taken_places(artist_id, claim_id, person)];
        let (mut link, mut taken) = (None, TakenPlaces::default());
        for row in self.0.get_many(keys).await? {
            match row {
                ClaimRow::Link(read) => link = Some(read),
                ClaimRow::Taken(read) => taken = read,
            }
        }
        Ok(link.map(|link| (link, taken)))
    }

    /// Takes a place for `transaction`, if the link is there, not over, and has one left, and the person has taken none
    /// meanwhile.
    pub(in crate::store::artist) fn taking(
        &self,
        claim: &NewClaim,
        transaction: TransactionId,
        now: u64,
    ) -> Result<[TransactWriteItem; 2], StoreError> {
        let NewClaim { link, person, account, taken, failed } = claim;
        let places = u64::from(failed.is_none());
        let count = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::claim_link(link.artist_id, link.id).item()))
            .update_expression("ADD taken :places")
            .condition_expression("attribute_exists(pk) AND taken <= :rest AND #until > :now")
            .expression_attribute_names("#until", "until")
            .expression_attribute_values(":places", number(places))
            .expression_attribute_values(":rest", number(link.count.saturating_sub(places)))
            .expression_attribute_values(":now", number(now));
        let kept = taken.places.iter().filter(|place| Some(place.transaction) != *failed).copied();
        let places = kept.chain([Taken { transaction, account: *account }]).collect();
        let own = TakenPlaces { places, expires_at: link.expires_at };
        let key = rows::taken_places(link.artist_id, link.id, *person);
        let put = Put::builder().table_name(&self.0.name).set_item(Some(row(&key, &own)?));
        let put = if taken.places.is_empty() {
            put.condition_expression("attribute_not_exists(pk)")
        } else {
            put.condition_expression("places = :known")
                .expression_attribute_values(":known", serde_dynamo::to_attribute_value(&taken.places)?)
        };
        Ok([updating(count)?, TransactWriteItem::builder().put(put.build()?).build()])
    }
}
