//! What others do with artists' moments, until it is mailed. Rows: docs/data-model.md, Mails of news.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use aws_sdk_dynamodb::types::ReturnValue;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::{Address, Amount, ArtistId, ChainId, Email, EventId, MomentRef, NewsMails, TokenId, UnsubscribeToken},
    store::{
        artist::{gifts::Gift, rows},
        engine::table::{ArtistTable, PrimaryKey, StoreError, deleting, putting, text, unless_refused},
    },
};

/// How long it waits at most, in seconds: mails come within a day, unless there is no room for them.
const KEPT: u64 = 3 * 24 * 60 * 60;

/// A collect of a moment, a comment on one, or a gift.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// Its event.
    pub event: EventId,
    chain_id: ChainId,
    collection: Address,
    token_id: TokenId,
    /// Copies that were collected or given; `None` for a comment.
    pub copies: Option<Amount>,
    /// Who gave it; `None` for what others did with the artist's own moments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub giver: Option<Giver>,
    expires_at: u64,
}

/// Who gave something to a mail address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Giver {
    /// The account.
    pub account: Address,
    /// The mail address; `None` if its artist has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
}

/// An artist to whom something is to be mailed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DueNews {
    /// From when on, in Unix seconds.
    pub due: u64,
    /// To whom.
    pub artist_id: ArtistId,
}

#[derive(Serialize, Deserialize)]
struct SettingsRow {
    artist_id: ArtistId,
    #[serde(default)]
    news_mails: NewsMails,
    secret: Option<Uuid>,
}

/// What waits to be mailed to all artists, and how often each wants it.
#[derive(Clone)]
pub struct NewsQueue(ArtistTable);

impl News {
    /// Something that happened to a moment at `now` (Unix seconds); `copies` is `None` for a comment.
    pub fn new(event: EventId, moment: MomentRef, copies: Option<Amount>, now: u64) -> Self {
        let MomentRef { chain, collection, token } = moment;
        Self { event, chain_id: chain, collection, token_id: token, copies, giver: None, expires_at: now + KEPT }
    }

    /// Copies that were given to a mail address.
    pub fn of_gift(event: EventId, gift: &Gift, copies: Amount, now: u64) -> Self {
        let giver = Giver { account: gift.from, email: gift.email.clone() };
        Self { giver: Some(giver), ..Self::new(event, gift.moment(), Some(copies), now) }
    }

    /// The moment.
    pub fn moment(&self) -> MomentRef {
        MomentRef { chain: self.chain_id, collection: self.collection, token: self.token_id }
    }
}

impl NewsQueue {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// How often artists want mails. One read per 100; a row that can't be read counts as none.
    pub async fn choices(&self, artists: &[ArtistId]) -> Result<HashMap<ArtistId, NewsMails>, StoreError> {
        let rows: Vec<SettingsRow> = self.0.get_readable(artists.iter().copied().map(rows::news_mails)).await?;
        Ok(rows.into_iter().map(|row| (row.artist_id, row.news_mails)).collect())
    }

    /// How often an artist wants mails. One read.
    pub async fn choice(&self, artist: ArtistId) -> Result<NewsMails, StoreError> {
        let row: Option<SettingsRow> = self.0.get(&rows::news_mails(artist)).await?;
        Ok(row.map(|row| row.news_mails).unwrap_or_default())
    }

    /// Sets how often an artist wants mails. One write.
    pub async fn choose(&self, artist: ArtistId, choice: NewsMails) -> Result<(), StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name);
        let call = call.set_key(Some(rows::news_mails(artist).item()));
        let call = call.update_expression("SET artist_id = :artist, news_mails = :choice");
        let call = call.expression_attribute_values(":artist", text(artist));
        call.expression_attribute_values(":choice", text(choice)).dispatch().await?;
        Ok(())
    }

    /// What an artist's mails are stopped with; made when it is first asked for. One write.
    pub async fn unsubscribe_token(&self, artist: ArtistId) -> Result<UnsubscribeToken, StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name);
        let call = call.set_key(Some(rows::news_mails(artist).item()));
        let call = call.update_expression("SET artist_id = :artist, secret = if_not_exists(secret, :secret)");
        let call = call.expression_attribute_values(":artist", text(artist));
        let call = call.expression_attribute_values(":secret", text(Uuid::new_v4())).return_values(ReturnValue::AllNew);
        let row = call.dispatch().await?.attributes.ok_or(StoreError::Missing("settings of mails"))?;
        let row: SettingsRow = serde_dynamo::from_item(row)?;
        let secret = row.secret.ok_or(StoreError::Missing("a secret of mails"))?;
        Ok(UnsubscribeToken { artist, secret })
    }

    /// Stops an artist's mails; `false` for a token that isn't the artist's. One write.
    pub async fn unsubscribe(&self, token: &UnsubscribeToken) -> Result<bool, StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name);
        let call = call.set_key(Some(rows::news_mails(token.artist).item()));
        let call = call.update_expression("SET news_mails = :none").condition_expression("secret = :secret");
        let call = call.expression_attribute_values(":none", text(NewsMails::None));
        let call = call.expression_attribute_values(":secret", text(token.secret));
        Ok(unless_refused(call.dispatch().await)?.is_some())
    }

    /// Has events wait until they are due (Unix seconds), or takes them back, in their order: the last word on each counts.
    /// May be repeated. A write per 25.
    pub async fn change(
        &self,
        changes: impl IntoIterator<Item = (ArtistId, EventId, Option<(u64, News)>)>,
    ) -> Result<(), StoreError> {
        let last: BTreeMap<_, _> = changes.into_iter().map(|(artist, event, news)| ((artist, event), news)).collect();
        let mut due = BTreeSet::new();
        let mut writes = Vec::new();
        for ((artist_id, event), news) in &last {
            let key = rows::news(*artist_id, *event);
            match news {
                Some((at, news)) => {
                    due.insert(DueNews { due: *at, artist_id: *artist_id });
                    writes.push(putting(&key, news)?);
                }
                None => writes.push(deleting(&key)?),
            }
        }
        for due in &due {
            writes.push(putting(&due.key(), due)?);
        }
        self.0.write_many(writes).await
    }

    /// Artists to whom something is to be mailed at `now` (Unix seconds), the longest overdue first. One Query.
    pub async fn due(&self, now: u64, limit: u16) -> Result<Vec<DueNews>, StoreError> {
        self.0.due(rows::due_news(), now, limit.into()).await
    }

    /// Has an artist's news wait until `due`; `None` if another run had it first. One transaction.
    pub async fn put_off(&self, news: &DueNews, due: u64) -> Result<Option<DueNews>, StoreError> {
        let next = DueNews { due, ..*news };
        let writes = vec![self.0.removal(&news.key())?, self.0.replacement(&next.key(), &next)?];
        Ok(self.0.write_together(writes).await?.then_some(next))
    }

    /// All that waits for an artist. A Query per megabyte.
    pub async fn news(&self, artist: ArtistId) -> Result<Vec<News>, StoreError> {
        self.0.partition(rows::all_news(artist)).await
    }

    /// Takes out what was mailed, and at last that it is due. A write per 25.
    pub async fn remove(&self, due: &DueNews, news: &[News]) -> Result<(), StoreError> {
        let gone = news.iter().map(|news| deleting(&rows::news(due.artist_id, news.event)));
        self.0.write_many(gone.collect::<Result<_, _>>()?).await?;
        self.0.write_many(vec![deleting(&due.key())?]).await
    }
}

impl DueNews {
    fn key(&self) -> PrimaryKey {
        rows::news_due(self.due, self.artist_id)
    }
}
