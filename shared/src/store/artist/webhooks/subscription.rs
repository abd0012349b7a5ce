use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::delivery::DeliveryAttempt;
use crate::{
    aws::Dispatch,
    model::{Address, ArtistId, DeliveryId, EventKind, WebhookDescription, WebhookId, WebhookStatus, WebhookUrl},
    store::{
        artist::rows,
        engine::table::{ArtistTable, StoreError, backoff, number, row, unless_refused},
    },
};

/// Most webhooks of an artist.
pub const MAX_WEBHOOKS: usize = 10;

/// Form of a row whose webhooks all say which key their secret is derived from; those of the first form don't
/// (`local/sam/rewrite`).
const FORM: u32 = 2;

/// How long the secret before a rotation signs, too, in seconds.
const OVERLAP: u64 = 24 * 60 * 60;

/// How long a receiver is challenged, in seconds.
const CHALLENGED_FOR: u64 = 24 * 60 * 60;

/// Where an artist wants events to be sent to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// Its id.
    pub id: WebhookId,
    /// The receiver.
    pub url: WebhookUrl,
    /// The artist's note.
    pub description: WebhookDescription,
    /// Types of events; all if there is none.
    pub types: Vec<EventKind>,
    /// The only collection whose events are sent; `None` for all.
    pub collection: Option<Address>,
    /// Creation, in Unix seconds.
    pub created_at: u64,
    /// Whether it gets events.
    pub status: WebhookStatus,
    /// Number of its secret.
    pub generation: u32,
    /// Id of the key that its secret is derived from; rows of the first form don't say so.
    #[serde(default)]
    pub key: Option<String>,
    /// Id of the key of the secret before.
    #[serde(default)]
    pub former_key: Option<String>,
    /// When the secret was replaced last, in Unix seconds.
    #[serde(default)]
    pub rotated_at: Option<u64>,
    /// What its receiver has to answer before it gets events; `None` once it did, and of webhooks from before receivers were
    /// challenged.
    #[serde(default)]
    pub challenge: Option<Challenge>,
}

/// What a receiver answers to prove that it wants events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// Id of the message that it is sent in.
    pub id: DeliveryId,
    /// The answer, which can't be guessed.
    pub text: String,
    /// Since when it is sent, in Unix seconds.
    pub since: u64,
    /// The last try.
    pub last: Option<DeliveryAttempt>,
}

/// What a secret of a webhook is derived from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SecretName {
    /// Its number.
    pub generation: u32,
    /// Id of the key, if the row says so.
    pub key: Option<String>,
}

/// Webhooks of all artists.
#[derive(Clone)]
pub struct Webhooks(ArtistTable);

#[derive(Serialize, Deserialize)]
struct WebhooksRow {
    artist_id: ArtistId,
    webhooks: Vec<Webhook>,
    version: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    form: Option<u32>,
}

impl Webhook {
    /// A new one for all events, created at `now` (Unix seconds).
    pub fn new(url: WebhookUrl, now: u64) -> Self {
        Self {
            id: WebhookId::next(),
            url,
            description: WebhookDescription::default(),
            types: Vec::new(),
            collection: None,
            created_at: now,
            status: WebhookStatus::Active,
            generation: 0,
            key: None,
            former_key: None,
            rotated_at: None,
            challenge: None,
        }
    }

    /// Whether it is on: events are kept for it, and sent once its receiver has no challenge to answer.
    pub fn is_active(&self) -> bool {
        self.status == WebhookStatus::Active
    }

    /// Its status as artists see it.
    pub fn shown_status(&self) -> WebhookStatus {
        if self.is_active() && self.challenge.is_some() { WebhookStatus::Pending } else { self.status }
    }

    /// Has its receiver prove that it wants events, from `now` (Unix seconds) on.
    pub fn challenge(&mut self, now: u64) {
        self.challenge = Some(Challenge::new(now));
    }

    /// Sends events elsewhere, once they are wanted there.
    pub fn redirect(&mut self, url: &WebhookUrl, now: u64) {
        if self.url != *url {
            self.url = url.clone();
            self.challenge(now);
        }
    }

    /// Switches it on. A receiver that hasn't proved itself is challenged anew.
    pub fn switch_on(&mut self, now: u64) {
        self.status = WebhookStatus::Active;
        if self.challenge.is_some() {
            self.challenge(now);
        }
    }

    /// Gives it another secret, derived from a key.
    pub fn rotate(&mut self, key: &str, now: u64) {
        self.generation = self.generation.saturating_add(1);
        self.former_key = self.key.replace(key.to_owned());
        self.rotated_at = Some(now);
    }

    /// Its newest secret.
    pub fn newest_secret(&self) -> SecretName {
        SecretName { generation: self.generation, key: self.key.clone() }
    }

    /// The secrets that sign at a time, the newest first.
    pub fn signing(&self, now: u64) -> impl Iterator<Item = SecretName> {
        let overlaps = self.rotated_at.is_some_and(|at| now < at + OVERLAP);
        let former = self.generation.checked_sub(1).filter(|_| overlaps);
        let former = former.map(|generation| SecretName { generation, key: self.former_key.clone() });
        [Some(self.newest_secret()), former].into_iter().flatten()
    }
}

impl Challenge {
    fn new(now: u64) -> Self {
        Self { id: DeliveryId::next(), text: Uuid::new_v4().simple().to_string(), since: now, last: None }
    }

    /// Whether it was sent for long enough.
    pub fn is_over(&self, now: u64) -> bool {
        self.since + CHALLENGED_FOR <= now
    }
}

impl Webhooks {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Returns an artist's webhooks, the oldest first. One read.
    pub async fn list(&self, artist: ArtistId) -> Result<Vec<Webhook>, StoreError> {
        let row: Option<WebhooksRow> = self.0.get(&rows::webhooks(artist)).await?;
        Ok(row.map(|row| row.webhooks).unwrap_or_default())
    }

    /// Returns one of an artist's webhooks. One read.
    pub async fn find(&self, artist: ArtistId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        Ok(self.list(artist).await?.into_iter().find(|webhook| webhook.id == id))
    }

    /// Returns artists' webhooks; artists without any, or whose row can't be read, are left out. Ids must differ. One read
    /// per 100.
    pub async fn of_artists(&self, artists: &[ArtistId]) -> Result<HashMap<ArtistId, Vec<Webhook>>, StoreError> {
        let rows: Vec<WebhooksRow> = self.0.get_readable(artists.iter().copied().map(rows::webhooks)).await?;
        Ok(rows.into_iter().map(|row| (row.artist_id, row.webhooks)).collect())
    }

    /// Adds a webhook; `false` if the artist has [`MAX_WEBHOOKS`]. One read and one write.
    pub async fn add(&self, artist: ArtistId, webhook: &Webhook) -> Result<bool, StoreError> {
        let adding =
            |webhooks: &mut Vec<Webhook>| (webhooks.len() < MAX_WEBHOOKS).then(|| webhooks.push(webhook.clone()));
        Ok(self.revise(artist, adding).await?.is_some())
    }

    /// Changes a webhook, and returns it; `None` if the artist has no such webhook. One read and one write.
    pub async fn change(
        &self,
        artist: ArtistId,
        id: WebhookId,
        change: impl Fn(&mut Webhook),
    ) -> Result<Option<Webhook>, StoreError> {
        let changing = |webhooks: &mut Vec<Webhook>| {
            let webhook = webhooks.iter_mut().find(|webhook| webhook.id == id)?;
            change(webhook);
            Some(webhook.clone())
        };
        self.revise(artist, changing).await
    }

    /// Removes a webhook, and returns it; `None` if the artist has no such webhook. One read and one write.
    pub async fn remove(&self, artist: ArtistId, id: WebhookId) -> Result<Option<Webhook>, StoreError> {
        let removing = |webhooks: &mut Vec<Webhook>| {
            let at = webhooks.iter().position(|webhook| webhook.id == id)?;
            Some(webhooks.remove(at))
        };
        self.revise(artist, removing).await
    }

    async fn revise<T>(
        &self,
        artist: ArtistId,
        revision: impl Fn(&mut Vec<Webhook>) -> Option<T>,
    ) -> Result<Option<T>, StoreError> {
        const ATTEMPTS: u32 = 8;
        for attempt in 0..ATTEMPTS {
            let found: Option<WebhooksRow> = self.0.get(&rows::webhooks(artist)).await?;
            let mut state = found.unwrap_or_else(|| WebhooksRow {
                artist_id: artist,
                webhooks: Vec::new(),
                version: 0,
                form: None,
            });
            let Some(result) = revision(&mut state.webhooks) else { return Ok(None) };
            let seen = state.version;
            state.version += 1;
            state.form = state.webhooks.iter().all(|webhook| webhook.key.is_some()).then_some(FORM);
            let put =
                self.0.client.put_item().table_name(&self.0.name).set_item(Some(row(&rows::webhooks(artist), &state)?));
            let put = if seen == 0 {
                put.condition_expression("attribute_not_exists(pk)")
            } else {
                put.condition_expression("version = :seen").expression_attribute_values(":seen", number(seen))
            };
            if unless_refused(put.dispatch().await)?.is_some() {
                return Ok(Some(result));
            }
            tokio::time::sleep(backoff(attempt)).await;
        }
        Err(StoreError::Contention("webhooks"))
    }
}
