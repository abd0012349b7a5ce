//! Domain types that can't hold an invalid value. Each parses with `FromStr`; its error message continues a sentence
//! that begins with the field's name: "tokenId" + "must be a whole number…".

mod activity;
mod address;
mod amount;
mod artist;
mod artist_change;
mod caip;
mod cid;
mod collection;
mod comment;
mod dag;
mod device;
mod email;
mod event;
mod event_id;
mod export_cursor;
mod fees;
mod flag;
mod folded_name;
mod invalid;
mod key;
mod media;
mod metadata;
mod moderation;
mod moment;
mod moment_update;
mod one_time_code;
mod page;
mod passkey;
mod payment;
mod preview;
mod profile;
mod publication;
mod ranking;
mod sale;
mod schema;
mod session;
mod sign_in_link;
mod stats;
mod text;
mod transaction;
mod transfer;
mod uri;
mod webhook;

pub use activity::{ActivityId, ActivityKind};
pub use address::{Address, CheckedAddress};
pub use amount::{Amount, Share, Whole, WholeText};
pub use artist::{ArtistId, ArtistName, Wallet, WalletType};
pub use artist_change::{ArtistChange, ArtistChanged};
pub use caip::{CaipContract, CaipNetwork};
pub use cid::Cid;
pub use collection::{
    Collection, FeeRecipient, MAX_ADMINS, MAX_FEE_RECIPIENTS, MAX_NAME_KEPT, MAX_URI_KEPT, Moment, MomentSale,
    Protocol, Royalty, clip_name, clip_uri,
};
pub use comment::{Comment, CommentId, CommentNonce, CommentText, MAX_COMMENT_CHARACTERS, clip_comment};
pub use dag::{Dag, LEAF};
pub use device::{DeviceId, DeviceToken};
pub use email::Email;
pub use event::{
    About, ArtistEvent, CollectionEvent, CommentEvent, Event, EventCursor, EventData, EventKind, EventKinds,
    EventRoyalty, EventsAfter, LogId, LogName, LogPlace, ModerationEvent, MomentEvent, PaymentEvent, PermissionEvent,
    SaleEvent, SaleView, TransactionEvent, TransferEvent, Wait,
};
pub use event_id::EventId;
pub use export_cursor::ExportCursor;
pub use fees::{Fees, MarketFees};
pub use flag::Flag;
pub use folded_name::FoldedName;
pub use invalid::Invalid;
pub use key::{DailyLimit, DailySpend, KeyDays, KeyId, KeyName, Scope};
pub use media::{FileHash, LongText, MediaType, RawFormat, Title, UploadId, UploadSize, UploadType, WebUrl};
pub use metadata::{Content, ContentType, MAX_DESCRIPTION_CHARACTERS, MAX_NAME_CHARACTERS, Metadata};
pub use moderation::{Action, Reason, Statement, Subject, Suspension};
pub use moment::{ChainId, MomentRef, TokenId};
pub use moment_update::{MomentEdit, MomentUpdate, SaleEdit};
pub use one_time_code::{Nonce, OneTimeCode};
pub use page::{Page, PageLimit, PageNumber};
pub use passkey::{CeremonyId, PasskeyId, PasskeyName};
pub use payment::{Payment, Referral};
pub use preview::{Form, Measures, Picture, PreviewWidth, Previews};
pub use profile::{AvatarUri, Bio, SocialUsername, Username};
pub use publication::{CollectionName, NewMoment, OPEN_EDITION, OwnCollection, Split, TargetCollection};
pub use ranking::{Period, RankedBy, SortOrder, Spending};
pub use sale::{Sale, SaleTerms, SaleTime, SaleType};
pub use session::SessionId;
pub use sign_in_link::SignInLink;
pub use stats::{COUNTED_DAYS, CountedSubject, Counts, DayCounts, LastCollect, Stats, StatsSubject};
pub use transaction::{Call, ConcurrencyKey, Creation, NewTokens, Plan, TransactionId, TransactionStatus};
pub use transfer::{Transfer, TransferType};
pub use uri::MetadataUri;
pub use webhook::{DeliveryId, DeliveryStatus, WebhookDescription, WebhookId, WebhookStatus, WebhookUrl};
