//! Webhooks that something waits for. Rows say that one is to be looked at: deliveries themselves, and whether tries fail,
//! are in rows of their own. What is added while a webhook is looked at is never lost: it changes the row that said so.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::{Delete, Put, TransactWriteItem};
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{
    aws::Dispatch,
    model::{ArtistId, WebhookId},
    store::{
        artist::rows,
        engine::table::{
            ArtistTable, Item, PrimaryKey, READS_AT_ONCE, StoreError, number, readable, row, text, unless_refused,
        },
    },
};

/// Rows of each kind that a look reads at most.
const READY_ROWS: i32 = 256;
const LATER_ROWS: i32 = 64;

/// How long failures without a later try are remembered, in seconds.
const MEMORY: u64 = 10 * 24 * 60 * 60;

/// A webhook with deliveries that wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DueWebhook {
    /// The webhook.
    pub webhook: WebhookId,
    /// Its artist.
    pub artist_id: ArtistId,
    /// Tries that failed since the last success.
    pub failures: u32,
    /// When the first of them was, in Unix seconds.
    pub failing_since: Option<u64>,
    /// Whether failures are stored.
    is_remembered: bool,
    /// The note that was left to the next try.
    noted: Option<u64>,
    /// When tries are due, as rows say.
    later: Vec<u64>,
    /// The last note that something was added, and that a try was asked for.
    added: Option<u64>,
    asked: Option<u64>,
}

/// The webhooks that something waits for.
#[derive(Clone)]
pub struct WebhookQueue(ArtistTable);

/// Where the next look goes on.
#[derive(Clone, Debug, Default)]
pub struct QueuePlace(Option<Item>);

/// A part of the queue.
#[derive(Clone, Debug, Default)]
pub struct QueueScan {
    /// Webhooks to be tried now; those that wait longest for another try come first.
    pub due: Vec<DueWebhook>,
    /// When the next one is due after that, in Unix seconds.
    pub next: Option<u64>,
    /// Whether there may be more.
    pub has_more: bool,
}

#[derive(Deserialize)]
struct ReadyRow {
    sk: String,
    artist_id: ArtistId,
    added: u64,
}

#[derive(Serialize, Deserialize)]
struct LaterRow {
    #[serde(skip_serializing)]
    sk: String,
    artist_id: ArtistId,
}

#[derive(Serialize, Deserialize)]
struct FailingRow {
    webhook: WebhookId,
    artist_id: ArtistId,
    failures: u32,
    failing_since: Option<u64>,
    due_at: Option<u64>,
    /// The note that was left to the next try.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    noted: Option<u64>,
    expires_at: u64,
}

impl DueWebhook {
    fn new(webhook: WebhookId, artist_id: ArtistId) -> Self {
        Self {
            webhook,
            artist_id,
            failures: 0,
            failing_since: None,
            is_remembered: false,
            noted: None,
            later: Vec::new(),
            added: None,
            asked: None,
        }
    }

    fn failing(&self, due_at: Option<u64>, expires_at: u64) -> FailingRow {
        let Self { webhook, artist_id, failures, failing_since, .. } = *self;
        FailingRow { webhook, artist_id, failures, failing_since, due_at, noted: None, expires_at }
    }
}

impl WebhookQueue {
    /// Uses the artist table.
    pub fn new(artists: ArtistTable) -> Self {
        Self(artists)
    }

    /// Notes that something was added: it waits for its turn, behind a pause after a failure. One write.
    pub async fn note_added(&self, artist: ArtistId, webhook: WebhookId) -> Result<(), StoreError> {
        self.note(artist, rows::webhook_added(webhook)).await
    }

    /// Like [`note_added`](Self::note_added), but due at once, regardless of back-off. One write, which wakes the worker.
    pub async fn ask(&self, artist: ArtistId, webhook: WebhookId) -> Result<(), StoreError> {
        self.note(artist, rows::webhook_asked(webhook)).await
    }

    async fn note(&self, artist: ArtistId, key: PrimaryKey) -> Result<(), StoreError> {
        let call = self.0.client.update_item().table_name(&self.0.name).set_key(Some(key.item()));
        // No note is like another: a deletion that comes late, or twice, takes none that it hasn't seen.
        let note = Uuid::new_v4().as_u64_pair().1;
        let call = call.update_expression("SET added = :note, artist_id = :artist");
        let call = call.expression_attribute_values(":note", number(note));
        call.expression_attribute_values(":artist", text(artist)).dispatch().await?;
        Ok(())
    }

    /// Returns what is due of the queue's next part, without those that are `busy`. Two Queries of a page each, and a read
    /// per 100 webhooks; two writes for each one that waits for its next try.
    pub async fn look(
        &self,
        now: u64,
        place: &mut QueuePlace,
        busy: impl Fn(WebhookId) -> bool,
    ) -> Result<QueueScan, StoreError> {
        let begins_within = place.0.is_some();
        let ready = self.page(&rows::ready_webhooks(), READY_ROWS).set_exclusive_start_key(place.0.take());
        let later = self.page(&rows::later_webhooks(), LATER_ROWS);
        let (ready, later) = tokio::join!(ready.dispatch(), later.dispatch());
        let (ready, later) = (ready?, later?);
        place.0 = ready.last_evaluated_key;
        let mut look = QueueScan { has_more: begins_within || place.0.is_some(), ..QueueScan::default() };
        let mut waiting: BTreeMap<WebhookId, DueWebhook> = BTreeMap::new();
        for row in readable::<ReadyRow>(ready.items.unwrap_or_default()) {
            let Some((kind, webhook)) = parts::<WebhookId>(&row.sk) else { continue };
            let due = waiting.entry(webhook).or_insert_with(|| DueWebhook::new(webhook, row.artist_id));
            match kind {
                "ASKED" => due.asked = Some(row.added),
                _ => due.added = Some(row.added),
            }
        }
        for row in readable::<LaterRow>(later.items.unwrap_or_default()) {
            let Some((due_at, webhook)) = parts::<WebhookId>(&row.sk) else { continue };
            let Ok(due_at) = due_at.parse::<u64>() else { continue };
            if due_at > now {
                look.next = Some(due_at);
                break;
            }
            waiting.entry(webhook).or_insert_with(|| DueWebhook::new(webhook, row.artist_id)).later.push(due_at);
        }
        waiting.retain(|webhook, _| !busy(*webhook));
        look.due = self.without_backing_off(waiting, now).await?;
        look.due.sort_by_key(|due| due.later.first().copied().unwrap_or(now));
        Ok(look)
    }

    /// Adds what is known of failures, and leaves out those whose next attempt is later.
    async fn without_backing_off(
        &self,
        waiting: BTreeMap<WebhookId, DueWebhook>,
        now: u64,
    ) -> Result<Vec<DueWebhook>, StoreError> {
        let failing = self.0.get_readable::<FailingRow>(waiting.keys().copied().map(rows::failing_webhook)).await?;
        let mut failing: HashMap<_, _> = failing.into_iter().map(|row| (row.webhook, row)).collect();
        let (mut due, mut backing_off) = (Vec::new(), Vec::new());
        for (webhook, mut waiting) in waiting {
            let mut backs_off = false;
            let row = failing.remove(&webhook);
            if let Some(row) = &row {
                (waiting.failures, waiting.failing_since) = (row.failures, row.failing_since);
                (waiting.is_remembered, waiting.noted) = (true, row.noted);
                waiting.later.extend(row.due_at.filter(|due_at| !waiting.later.contains(due_at)));
                backs_off = waiting.asked.is_none() && row.due_at.is_some_and(|due_at| due_at > now);
            }
            match row.filter(|_| backs_off) {
                Some(row) => backing_off.push(self.leave_to_next_try(row, waiting.added)),
                None => due.push(waiting),
            }
        }
        stream::iter(backing_off).buffer_unordered(READS_AT_ONCE).try_collect::<()>().await?;
        Ok(due)
    }

    /// Has the row of a webhook's next try lead to what was added. A process that ends that try is
    /// refused if it hasn't seen the note; if it was first, the note stays.
    async fn leave_to_next_try(&self, failing: FailingRow, added: Option<u64>) -> Result<(), StoreError> {
        let (Some(_), Some(due_at)) = (added, failing.due_at) else { return Ok(()) };
        let webhook = failing.webhook;
        let marked = row(&rows::failing_webhook(webhook), &FailingRow { noted: added, ..failing })?;
        let put = self.0.client.put_item().table_name(&self.0.name).set_item(Some(marked));
        let put = put.condition_expression("due_at = :due").expression_attribute_values(":due", number(due_at));
        if unless_refused(put.dispatch().await)?.is_some() {
            self.delete_seen(rows::webhook_added(webhook), added).await?;
        }
        Ok(())
    }

    /// Stores what was tried, and when the next try is due. One transaction of two or three rows; a write or two.
    pub async fn put_off(&self, due: &DueWebhook, due_at: u64) -> Result<(), StoreError> {
        let failing = due.failing(Some(due_at), due_at + MEMORY);
        let later = LaterRow { sk: String::new(), artist_id: due.artist_id };
        let mut writes = vec![
            self.0.replacement(&rows::failing_webhook(due.webhook), &failing)?,
            self.0.replacement(&rows::later_webhook(due_at, due.webhook), &later)?,
        ];
        for former in due.later.iter().filter(|former| **former != due_at) {
            writes.push(self.0.deletion(&rows::later_webhook(*former, due.webhook))?);
        }
        self.0.write_together(writes).await?;
        self.delete_seen(rows::webhook_added(due.webhook), due.added).await?;
        self.delete_seen(rows::webhook_asked(due.webhook), due.asked).await
    }

    /// Forgets the failures before a try that worked: a write, if there were any. Comes before the try's own end, so that a
    /// worker that is killed in between leaves no failures that are over.
    pub async fn recover(&self, due: &mut DueWebhook) -> Result<(), StoreError> {
        if due.is_remembered {
            let key = rows::failing_webhook(due.webhook);
            self.0.client.delete_item().table_name(&self.0.name).set_key(Some(key.item())).dispatch().await?;
        }
        (due.failures, due.failing_since, due.is_remembered, due.noted) = (0, None, false, None);
        Ok(())
    }

    /// Ends the waiting, unless something was added since `due` was read; failures are remembered. One or two writes, or a
    /// transaction of up to five rows after a failure.
    pub async fn settle(&self, due: &DueWebhook, now: u64) -> Result<(), StoreError> {
        let remembered = due.failing_since.map(|_| due.failing(None, now + MEMORY));
        self.leave(due, remembered).await
    }

    /// Forgets a webhook, unless something was added since `due` was read: it may be on again. As [`WebhookQueue::settle`].
    pub async fn forget(&self, due: &DueWebhook) -> Result<(), StoreError> {
        self.leave(due, None).await
    }

    async fn leave(&self, due: &DueWebhook, remembered: Option<FailingRow>) -> Result<(), StoreError> {
        let failing = rows::failing_webhook(due.webhook);
        let (added, asked) = (rows::webhook_added(due.webhook), rows::webhook_asked(due.webhook));
        let mut writes = Vec::new();
        for later in &due.later {
            writes.push(self.0.deletion(&rows::later_webhook(*later, due.webhook))?);
        }
        if remembered.is_none() && !due.is_remembered && writes.is_empty() {
            self.delete_seen(added, due.added).await?;
            return self.delete_seen(asked, due.asked).await;
        }
        // All or none: what was left to the next try since has no other row that leads to it.
        let unchanged = match due.noted {
            Some(_) => "attribute_not_exists(pk) OR noted = :noted",
            None if due.is_remembered => "attribute_not_exists(noted)",
            None => "attribute_not_exists(pk)",
        };
        let noted = due.noted.map(|noted| HashMap::from([(":noted".to_owned(), number(noted))]));
        let write = TransactWriteItem::builder();
        writes.push(match remembered {
            Some(fields) => {
                let put = Put::builder().table_name(&self.0.name).set_item(Some(row(&failing, &fields)?));
                let put = put.condition_expression(unchanged).set_expression_attribute_values(noted);
                write.put(put.build()?).build()
            }
            None => {
                let delete = Delete::builder().table_name(&self.0.name).set_key(Some(failing.item()));
                let delete = delete.condition_expression(unchanged).set_expression_attribute_values(noted);
                write.delete(delete.build()?).build()
            }
        });
        if let Some(seen) = due.added {
            writes.push(self.deletion_of_seen(&added, seen)?);
        }
        if let Some(seen) = due.asked {
            writes.push(self.deletion_of_seen(&asked, seen)?);
        }
        self.0.write_together(writes).await.map(drop)
    }

    fn page(&self, partition: &str, rows: i32) -> aws_sdk_dynamodb::operation::query::builders::QueryFluentBuilder {
        let query = self.0.query().key_condition_expression("pk = :pk").limit(rows);
        query.expression_attribute_values(":pk", text(partition))
    }

    async fn delete_seen(&self, key: PrimaryKey, seen: Option<u64>) -> Result<(), StoreError> {
        let Some(seen) = seen else { return Ok(()) };
        let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(key.item()));
        let call = call.condition_expression(SEEN).expression_attribute_values(":seen", number(seen));
        unless_refused(call.dispatch().await).map(drop)
    }

    fn deletion_of_seen(&self, key: &PrimaryKey, seen: u64) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder().table_name(&self.0.name).set_key(Some(key.item()));
        let delete = delete.condition_expression(SEEN).expression_attribute_values(":seen", number(seen));
        Ok(TransactWriteItem::builder().delete(delete.build()?).build())
    }
}

/// Nothing was added since a row was read; one that is gone already is no matter.
const SEEN: &str = "attribute_not_exists(pk) OR added = :seen";

fn parts<T: std::str::FromStr>(sk: &str) -> Option<(&str, T)> {
    let (first, second) = sk.split_once('#')?;
    Some((first, second.parse().ok()?))
}
