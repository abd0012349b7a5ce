//! DynamoDB: three tables and one file per aggregate. docs/data-model.md describes every row.

mod activities;
mod artists;
mod collection_lists;
mod comment_names;
mod comments;
mod deletions;
pub mod engine;
mod events;
mod leaderboard;
mod media;
mod metadata;
mod moments;
mod notification_reads;
mod payments;
mod payouts;
mod personal;
mod pins;
mod related;
mod search;
pub mod secret;
mod service_events;
mod settled_payments;
mod timeline;
mod timelines_together;
mod transactions;
mod transfers;
mod wallet_connections;
mod webhooks;

pub use self::{
    activities::{Activities, Activity},
    artists::{
        Artist, Artists, HELD_NAMES, Introduction, MAX_WALLETS, NAME_HELD_FOR, Outbox, Profile, ProfileChange,
        ProfileRefusal, WalletRefusal,
    },
    collection_lists::{CollectionLists, CollectionPage, ListedCollection},
    comment_names::{NameReference, PendingRename},
    comments::{CommentPage, Comments, ListedComment, MAX_PREVIEWS, NewComment, PAGE_SIZE},
    deletions::{Deletion, Deletions, GRACE, TakenBack},
    engine::*,
    events::EventLogs,
    leaderboard::{Leaderboard, LeaderboardScope, Leaderboards, PaymentCursor, RankedCollector, SpendingChange},
    media::{HashProgress, Media, StoredBlock, StoredContent, UPLOAD_LIFETIME, Upload, UploadOutcome},
    metadata::{ArrivedDocument, Documents, DueDocument, QUEUE_SHARDS},
    moments::{EarlySettings, Moments, Tier, collection_key, moment_key, moment_keys, split_key},
    notification_reads::{NotificationReads, NumberPage},
    payments::{NotificationList, NotificationPlace, PaymentFilter, PaymentPage, Payments, UnsettledEnd, payment_keys},
    payouts::{MAX_PAYOUTS, PAYOUT_DELAY, PayoutAddress, PayoutAddresses},
    personal::{ARTIST_KINDS, Person, PersonalPage, PersonalRows, SECRET_KINDS},
    pins::{PinJob, PinPause, Pins},
    related::{Related, RelatedKeys, RelatedRows},
    search::{ListedArtist, Search},
    secret::*,
    service_events::ServiceEvents,
    timeline::{
        ListedMoment, Listing, Relisting, Scope, TimelineFilter, TimelinePage, TimelineSubject, Timelines, listing_keys,
    },
    transactions::{
        AccountState, Admission, AdmissionRefusal, Admitted, Attempt, Batch, BatchReference, BatchStatus, CallerState,
        Charge, DAY, Ending, LaneState, Lease, MAX_SERIES, MAX_WAITING, Member, MinedIn, NewTransaction, Outlay, Pool,
        PoolLimit, Queued, Replay, ReplayKey, Slot, Transaction, TransactionPage, Transactions,
    },
    transfers::{TransferList, TransferPage, Transfers, transfer_keys},
    wallet_connections::WalletConnections,
    webhooks::{
        Deliveries, Delivery, DeliveryAttempt, DueWebhook, FanOut, LogPosition, MAX_WEBHOOKS, QueueLook, QueuePlace,
        Webhook, WebhookQueue, Webhooks,
    },
};
pub(crate) use engine::backoff;
pub use engine::{
    Lease as WorkLease,
    table::{ArtistTable, ChainTable, SecretTable},
};
