//! The queue of webhooks that something waits for.

use std::{
    collections::BTreeSet,
    sync::{Arc, OnceLock},
};

use shared::{
    model::{ArtistId, WebhookId},
    store::artist::{ArtistTable, DueWebhook, FanOutProgress, LogPosition, QueuePlace, QueueScan, WebhookQueue},
};
use tests::{DatabaseProxy, Stack};
use tokio::{runtime::Handle, task};

const NOW: u64 = 1_800_000_000;

struct Queue {
    queue: WebhookQueue,
    fan_out: FanOutProgress,
    artist: ArtistId,
    /// As another process sees it, through a proxy.
    others: WebhookQueue,
    proxy: DatabaseProxy,
}

impl Queue {
    async fn start() -> Self {
        let stack = Stack::connect();
        let database = tests::empty_tables(&stack).await;
        let sdk = stack.endpoints().sdk_config(&database.endpoint).await;
        let table = ArtistTable::new(&sdk, "ArtistTable");
        let proxy = DatabaseProxy::start().await.expect("a proxy");
        proxy.lead_to(&database.endpoint);
        let others = stack.endpoints().sdk_config(&proxy.url).await;
        Self {
            queue: WebhookQueue::new(table.clone()),
            fan_out: FanOutProgress::new(table),
            artist: ArtistId::random(),
            others: WebhookQueue::new(ArtistTable::new(&others, "ArtistTable")),
            proxy,
        }
    }

    async fn add(&self, webhook: WebhookId) {
        self.queue.note_added(self.artist, webhook).await.expect("a row");
    }

    async fn look(&self, now: u64) -> QueueScan {
        self.queue.look(now, &mut QueuePlace::default(), |_| false).await.expect("rows")
    }

    async fn due(&self, now: u64) -> Vec<WebhookId> {
        self.look(now).await.due.iter().map(|due| due.webhook).collect()
    }

    async fn only(&self, now: u64) -> DueWebhook {
        let mut due = self.look(now).await.due;
        assert_eq!(due.len(), 1, "{due:?}");
        due.remove(0)
    }

    /// Notes a failure of the only webhook that is due.
    async fn fail(&self, now: u64, next: u64) {
        let mut due = self.only(now).await;
        due.failures += 1;
        due.failing_since.get_or_insert(now);
        self.queue.put_off(&due, next).await.expect("rows");
    }
}

#[tokio::test]
async fn what_is_added_while_a_webhook_is_looked_at_stays() {
    let (queue, webhook) = (Queue::start().await, WebhookId::next());
    queue.add(webhook).await;
    let due = queue.only(NOW).await;
    queue.add(webhook).await;
    queue.queue.settle(&due, NOW).await.expect("rows");
    let due = queue.only(NOW).await;
    queue.queue.settle(&due, NOW).await.expect("rows");
    assert_eq!(queue.due(NOW).await, []);
}

#[tokio::test]
async fn a_webhook_that_failed_waits_for_its_next_try_unless_its_artist_asks() {
    let (queue, webhook) = (Queue::start().await, WebhookId::next());
    queue.add(webhook).await;
    queue.fail(NOW, NOW + 100).await;
    queue.add(webhook).await;
    let look = queue.look(NOW + 99).await;
    assert_eq!((look.due.len(), look.next), (0, Some(NOW + 100)));
    queue.queue.ask(queue.artist, webhook).await.expect("a row");
    assert_eq!(queue.only(NOW + 1).await.failures, 1);
    queue.fail(NOW + 1, NOW + 50).await;
    assert_eq!(queue.due(NOW + 49).await, [], "the try was made");

    let mut due = queue.only(NOW + 50).await;
    assert_eq!((due.failures, due.failing_since), (2, Some(NOW)));
    queue.add(webhook).await;
    (due.failures, due.failing_since) = (0, None);
    queue.queue.settle(&due, NOW + 50).await.expect("rows");
    let mut due = queue.only(NOW + 50).await;
    (due.failures, due.failing_since) = (0, None);
    queue.queue.settle(&due, NOW + 50).await.expect("rows");
    assert_eq!(queue.look(NOW + 1_000).await.due, []);
}

#[tokio::test]
async fn failures_are_remembered_while_nothing_waits() {
    let (queue, webhook) = (Queue::start().await, WebhookId::next());
    queue.add(webhook).await;
    queue.fail(NOW, NOW + 10).await;
    let due = queue.only(NOW + 10).await;
    queue.queue.settle(&due, NOW + 10).await.expect("rows");
    assert_eq!(queue.due(NOW + 1_000).await, []);
    queue.add(webhook).await;
    let due = queue.only(NOW + 1_000).await;
    assert_eq!((due.failures, due.failing_since), (1, Some(NOW)));
    queue.queue.forget(&due).await.expect("rows");
    queue.add(webhook).await;
    assert_eq!(queue.only(NOW + 1_000).await.failures, 0);
}

#[tokio::test]
async fn later_tries_come_in_the_order_of_their_times() {
    let (queue, mut webhooks) = (Queue::start().await, Vec::new());
    for after in [30, 10, 20] {
        webhooks.push(WebhookId::next());
        queue.add(*webhooks.last().expect("one")).await;
        queue.fail(NOW, NOW + after).await;
    }
    assert_eq!(queue.due(NOW + 25).await, [webhooks[1], webhooks[2]]);
    assert_eq!(queue.due(NOW + 30).await, [webhooks[1], webhooks[2], webhooks[0]]);
}

#[tokio::test]
async fn looks_go_through_all_that_is_ready_page_by_page() {
    let (queue, mut place) = (Queue::start().await, QueuePlace::default());
    let webhooks: BTreeSet<_> = (0..600).map(|_| WebhookId::next()).collect();
    for webhook in &webhooks {
        queue.add(*webhook).await;
    }
    let (mut found, mut looks) = (BTreeSet::new(), 0);
    while found.len() < webhooks.len() {
        let look = queue.queue.look(NOW, &mut place, |_| false).await.expect("rows");
        assert!(look.has_more && look.due.len() <= 256);
        found.extend(look.due.iter().map(|due| due.webhook));
        looks += 1;
    }
    assert_eq!((found, looks), (webhooks, 3));
}

#[tokio::test]
async fn a_former_leader_moves_no_position() {
    let fan_out = Queue::start().await.fan_out;
    let former = fan_out.acquire_lease("former").await.expect("a row").expect("the lead");
    fan_out.release_lease(&former).await.expect("a row");
    let leader = fan_out.acquire_lease("next").await.expect("a row").expect("the lead");
    let at = |after| LogPosition { log: "7".to_owned(), after, tick: after };
    assert!(fan_out.advance(&leader, "service", &at(2)).await.expect("a row"));
    assert!(!fan_out.advance(&former, "service", &at(1)).await.expect("a row"));
    assert_eq!(fan_out.position("service").await.expect("a row"), at(2));
}

#[tokio::test]
async fn failures_before_a_try_that_worked_are_over_even_if_the_worker_is_killed_next() {
    let (queue, webhook) = (Queue::start().await, WebhookId::next());
    queue.add(webhook).await;
    queue.fail(NOW, NOW + 100).await;
    let mut due = queue.only(NOW + 100).await;
    queue.queue.recover(&mut due).await.expect("a row");
    let due = queue.only(NOW + 100).await;
    assert_eq!((due.failures, due.failing_since), (0, None));
}

#[tokio::test]
async fn what_is_added_next_stays_when_a_deletion_is_sent_again() {
    let (queue, webhook) = (Queue::start().await, WebhookId::next());
    queue.add(webhook).await;
    let added = queue.only(NOW).await;
    queue.queue.settle(&added, NOW).await.expect("rows");
    queue.add(webhook).await;
    queue.queue.settle(&added, NOW).await.expect("rows");
    let next = queue.only(NOW).await;
    queue.queue.settle(&next, NOW).await.expect("rows");

    queue.queue.ask(queue.artist, webhook).await.expect("a row");
    let asked = queue.only(NOW).await;
    queue.queue.settle(&asked, NOW).await.expect("rows");
    queue.queue.ask(queue.artist, webhook).await.expect("a row");
    queue.queue.settle(&asked, NOW).await.expect("rows");
    assert_eq!(queue.due(NOW).await, [webhook]);
}

#[tokio::test]
async fn what_is_added_next_stays_when_the_end_of_a_later_try_is_sent_again() {
    let (queue, webhook) = (Queue::start().await, WebhookId::next());
    queue.add(webhook).await;
    queue.fail(NOW, NOW + 10).await;
    queue.add(webhook).await;
    let due = queue.only(NOW + 10).await;
    queue.queue.settle(&due, NOW + 10).await.expect("rows");
    queue.add(webhook).await;
    queue.queue.settle(&due, NOW + 10).await.expect("rows");
    assert_eq!(queue.due(NOW + 10).await, [webhook]);
}

#[tokio::test]
async fn what_was_asked_for_meanwhile_stays_with_the_next_try() {
    let (queue, webhook) = (Queue::start().await, WebhookId::next());
    queue.add(webhook).await;
    queue.fail(NOW, NOW + 10).await;
    queue.queue.ask(queue.artist, webhook).await.expect("a row");
    let due = queue.only(NOW + 10).await;
    queue.queue.ask(queue.artist, webhook).await.expect("a row");
    queue.queue.settle(&due, NOW + 10).await.expect("rows");
    let due = queue.only(NOW + 10).await;
    queue.queue.settle(&due, NOW + 10).await.expect("rows");
    assert_eq!(queue.due(NOW + 1_000).await, []);
}

/// A webhook waits for its next try, as the next leader sees it, whose clock is a second behind; for the former one it is due.
#[tokio::test(flavor = "multi_thread")]
async fn stale_leader_keeps_newer_retry_while_the_next_one_scans() {
    let (queue, webhook) = (Arc::new(Queue::start().await), WebhookId::next());
    queue.add(webhook).await;
    queue.fail(NOW, NOW + 10).await;
    let due = queue.only(NOW + 10).await;
    queue.add(webhook).await;
    let (former, ended) = (Arc::clone(&queue), OnceLock::new());
    queue.proxy.observe(move |target, _, _| {
        // The next leader has read what was added, and that it waits for the next try.
        if target.ends_with(".BatchGetItem") && ended.set(()).is_ok() {
            let end = former.queue.forget(&due);
            task::block_in_place(|| Handle::current().block_on(end)).expect("rows");
        }
    });
    let look = queue.others.look(NOW + 9, &mut QueuePlace::default(), |_| false).await.expect("rows");
    assert_eq!(look.due, []);
    assert_eq!(queue.due(NOW + 1_000).await, [webhook]);
}

#[tokio::test]
async fn stale_leader_keeps_newer_retry_after_the_next_one_scanned() {
    let (queue, webhook) = (Queue::start().await, WebhookId::next());
    queue.add(webhook).await;
    queue.fail(NOW, NOW + 10).await;
    let due = queue.only(NOW + 10).await;
    queue.add(webhook).await;
    assert_eq!(queue.due(NOW + 9).await, []);
    queue.queue.forget(&due).await.expect("rows");
    assert_eq!(queue.due(NOW + 1_000).await, [webhook]);
}
