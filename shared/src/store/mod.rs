//! DynamoDB: three tables and one file per aggregate. docs/data-model.md describes every row.

pub mod artist;
mod collection_lists;
mod comment_names;
mod comments;
pub mod engine;
mod events;
mod leaderboard;
mod metadata;
mod moments;
mod notification_reads;
mod payments;
mod personal;
mod related;
pub mod secret;
mod settled_payments;
mod timeline;
mod timelines_together;
mod transfers;
mod wallet_connections;

pub use self::{
    artist::*,
    collection_lists::{CollectionLists, CollectionPage, ListedCollection},
    comment_names::{NameReference, PendingRename},
    comments::{CommentPage, Comments, ListedComment, MAX_PREVIEWS, NewComment, PAGE_SIZE},
    engine::*,
    events::EventLogs,
    leaderboard::{Leaderboard, LeaderboardScope, Leaderboards, PaymentCursor, RankedCollector, SpendingChange},
    metadata::{ArrivedDocument, Documents, DueDocument, QUEUE_SHARDS},
    moments::{EarlySettings, Moments, Tier, collection_key, moment_key, moment_keys, split_key},
    notification_reads::{NotificationReads, NumberPage},
    payments::{NotificationList, NotificationPlace, PaymentFilter, PaymentPage, Payments, UnsettledEnd, payment_keys},
    personal::{ARTIST_KINDS, Person, PersonalPage, PersonalRows, SECRET_KINDS},
    related::{Related, RelatedKeys, RelatedRows},
    secret::*,
    timeline::{
        ListedMoment, Listing, Relisting, Scope, TimelineFilter, TimelinePage, TimelineSubject, Timelines, listing_keys,
    },
    transfers::{TransferList, TransferPage, Transfers, transfer_keys},
    wallet_connections::WalletConnections,
};
pub use artist::Lease;
pub(crate) use engine::backoff;
pub use engine::{
    Lease as WorkLease,
    table::{ArtistTable, ChainTable, SecretTable},
};
