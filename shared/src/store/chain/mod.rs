//! The chain table: what a re-index rebuilds from the chains.

pub(super) mod collection_lists;
pub(super) mod comment_names;
pub(super) mod comments;
pub(super) mod final_payments;
pub(super) mod leaderboard;
pub(super) mod merged_timelines;
pub(super) mod metadata;
pub(super) mod moments;
pub(super) mod payments;
pub(super) mod previews;
pub(super) mod relistings;
pub(super) mod rows;
pub(super) mod statistics;
pub(super) mod timeline;
pub(super) mod timeline_start;
pub(super) mod transfers;
pub(super) mod uri_names;
pub(super) mod visibility;

pub use self::rows::ROWS;
pub use self::{
    collection_lists::{CollectionLists, CollectionPage, ListedCollection},
    comment_names::{NameReference, PendingRename},
    comments::{CommentPage, Comments, ListedComment, MAX_PREVIEWS, NewComment, PAGE_SIZE},
    leaderboard::{Leaderboard, LeaderboardScope, Leaderboards, PaymentCursor, RankedCollector, SpendingChange},
    metadata::{ArrivedDocument, Documents, DueDocument, NamedDocument, QUEUE_SHARDS, can_change, host},
    moments::{EarlySettings, Moments, Tier, collection_key, moment_key, moment_keys, split_key},
    payments::{NotificationList, NotificationPlace, PaymentFilter, PaymentPage, Payments, UnsettledEnd, payment_keys},
    previews::{DuePreviews, PreviewOwner, PreviewQueue},
    relistings::{Relisting, TimelineSubject, admin_notes_key},
    statistics::{Statistics, stats_keys},
    timeline::{ListedMoment, Listing, Scope, TimelineFilter, TimelinePage, Timelines, listing_keys},
    timeline_start::{TimelinePosition, TimelineStart},
    transfers::{TransferList, TransferPage, Transfers, transfer_keys},
    uri_names::{UriNames, UriOwner},
    visibility::Visibility,
};
pub use super::engine::{structures::merged::Rest, table::ChainTable};
