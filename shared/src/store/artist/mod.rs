//! The artist table: artists, their transactions, files and webhooks. It is backed up.

pub(super) mod activities;
pub(super) mod artists;
pub(super) mod deletions;
pub(super) mod media;
pub(super) mod moderation;
pub(super) mod payouts;
pub(super) mod pins;
pub(super) mod rows;
pub(super) mod search;
pub(super) mod service_events;
pub(super) mod transactions;
pub(super) mod webhooks;

pub use self::rows::ROWS;
pub use self::{
    activities::{Activities, Activity},
    artists::{
        Artist, Artists, Contact, ContactRefusal, EmailOwner, HELD_NAMES, Introduction, MAX_WALLETS, NAME_HELD_FOR,
        NextEmail, Outbox, Profile, ProfileChange, ProfileRefusal, WalletOwner, WalletRefusal,
    },
    deletions::{Cancelled, Deletion, Deletions, GRACE},
    media::{
        HashProgress, KeptContent, Media, StorageLimits, StorageRefusal, StoredBlock, StoredContent, UPLOAD_LIFETIME,
        Upload, UploadOutcome,
    },
    moderation::{Decision, DecisionCount, LoggedDecision, Moderation, Proposal, Report, ReportedSubject, Withheld},
    payouts::{MAX_PAYOUTS, PAYOUT_DELAY, PayoutAddress, PayoutAddresses},
    pins::{PinJob, PinPause, Pins},
    search::{ListedArtist, Search},
    service_events::ServiceEvents,
    transactions::{
        AccountState, Admission, AdmissionRefusal, Admitted, Attempt, Batch, BatchReference, BatchStatus, CallerState,
        Charge, DAY, Ending, LaneState, Lease, MAX_SERIES, MAX_WAITING, Member, MinedIn, NewTransaction, Outlay, Pool,
        PoolLimit, Queued, Replay, ReplayClaim, ReplayKey, Slot, Spent, Transaction, TransactionPage, Transactions,
    },
    webhooks::{
        Deliveries, Delivery, DeliveryAttempt, DueWebhook, FanOutProgress, LogPosition, MAX_WEBHOOKS, QueuePlace,
        QueueScan, Webhook, WebhookQueue, Webhooks,
    },
};
pub use super::engine::table::ArtistTable;
