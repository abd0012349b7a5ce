//! The artist table: artists, their transactions, files and webhooks. It is backed up.

pub(super) mod activities;
pub(super) mod allow_lists;
pub(super) mod artists;
pub(super) mod claims;
pub(super) mod deletions;
pub(super) mod files;
pub(super) mod gifts;
pub(super) mod made_collections;
pub(super) mod media;
pub(super) mod moderation;
pub(super) mod news;
pub(super) mod payouts;
pub(super) mod pins;
pub(super) mod rows;
pub(super) mod search;
pub(super) mod service_events;
pub(super) mod transactions;
pub(super) mod webhooks;

pub use self::rows::ROWS;
pub use self::{
    activities::{Activities, Activity, ActivityPage},
    allow_lists::AllowLists,
    artists::{
        AcceptanceRefusal, Artist, Artists, ChangedBy, Contact, ContactRefusal, EmailOwner, HELD_NAMES, Introduction,
        MAX_ACCEPTED_SENDERS, MAX_WALLETS, NAME_HELD_FOR, NewAttribution, NextEmail, OldWallet, Outbox, Profile,
        ProfileChange, ProfileRefusal, WalletOwner, WalletRefusal,
    },
    claims::{ClaimLink, ClaimPlace, Claims, MAX_CLAIM_LINKS, NewClaim, NewClaimLink, Taken, TakenPlaces},
    deletions::{Cancelled, Deletion, Deletions, GRACE},
    files::{FileState, MAX_NAMINGS, Naming, Released, UploadedFile},
    gifts::{Gift, Gifts},
    made_collections::MadeCollections,
    media::{
        HashProgress, KeptContent, Media, StorageLimits, StorageRefusal, StoredBlock, StoredContent, UPLOAD_LIFETIME,
        Upload, UploadOutcome,
    },
    moderation::{
        Decision, DecisionCount, Dismissal, LogEntry, LoggedDecision, Moderation, Proposal, RemovedPicture, Report,
        ReportedSubject, Withheld,
    },
    news::{DueNews, Giver, News, NewsQueue},
    payouts::{MAX_PAYOUTS, PayoutAddress, PayoutAddresses},
    pins::{PinJob, PinPause, Pins},
    search::{ListedArtist, Search},
    service_events::ServiceEvents,
    transactions::{
        AccountState, Admission, AdmissionRefusal, Admitted, Attempt, Batch, BatchReference, BatchStatus, CallerState,
        Charge, CountedOutlay, Ending, LaneState, Lease, MAX_SERIES, MAX_WAITING, Member, MinedIn, NewTransaction,
        Outlay, PendingEnding, Pool, PoolLimit, Queued, Replay, ReplayClaim, ReplayKey, Requeue, RestoredBatch, Slot,
        Spent, StoredPlan, Transaction, TransactionPage, Transactions,
    },
    webhooks::{
        Challenge, Deliveries, Delivery, DeliveryAttempt, DueWebhook, FanOutProgress, LogPosition, MAX_WEBHOOKS,
        QueuePlace, QueueScan, SecretName, Webhook, WebhookQueue, Webhooks,
    },
};
pub use super::engine::table::ArtistTable;
