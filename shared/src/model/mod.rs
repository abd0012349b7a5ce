//! Domain types that can't hold an invalid value. Each parses with `FromStr`; its error message continues a sentence
//! that begins with the field's name: "tokenId" + "must be a whole number…".

mod activity;
mod address;
mod allow_list;
mod amount;
mod artist;
mod artist_change;
mod caip;
mod cid;
mod claim;
mod collection;
mod comment;
mod currency_name;
mod dag;
mod day;
mod device;
mod displayed;
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
mod moving;
mod name_shape;
mod news_mails;
mod one_time_code;
mod page;
mod passkey;
mod payment;
mod preview;
mod profile;
mod proof;
mod publication;
mod ranking;
mod recipient;
mod sale;
mod schema;
mod served;
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
pub use allow_list::{AllowList, ListPart, ListProof, ListedAccount, MAX_LISTED, part_of};
pub use amount::{Amount, Share, Whole, WholeText};
pub use artist::{ArtistId, ArtistName, Wallet, WalletType};
pub use artist_change::{ArtistChange, ArtistChanged};
pub use caip::{CaipContract, CaipNetwork};
pub use cid::Cid;
pub use claim::{ClaimId, ClaimToken};
pub use collection::{
    Collection, FeeRecipient, MAX_ADMINS, MAX_FEE_RECIPIENTS, MAX_NAME_KEPT, MAX_URI_KEPT, Moment, MomentSale, MovedTo,
    Protocol, Royalty, clip_name, clip_uri,
};
pub use comment::{Comment, CommentId, CommentNonce, CommentText, MAX_COMMENT_CHARACTERS, clip_comment};
pub use currency_name::CurrencyName;
pub use dag::{Dag, LEAF};
pub use day::DAY;
pub use device::{DeviceId, DeviceToken};
pub use displayed::{line, lines};
pub use email::Email;
pub use event::{
    About, AcceptanceEvent, AllowListView, ArtistEvent, CollectionEvent, CommentEvent, Event, EventCursor, EventData,
    EventKind, EventKinds, EventsAfter, LogId, LogName, LogPlace, ModerationEvent, MomentEvent, PaymentEvent,
    PermissionEvent, RoyaltyView, SaleEvent, SaleView, TransactionEvent, TransferEvent, Wait,
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
pub use moving::{MovingMoment, pointing, split_pointer};
pub use name_shape::{NameShape, ReservedNames};
pub use news_mails::{NewsMails, UnsubscribeToken};
pub use one_time_code::{Nonce, OneTimeCode};
pub use page::{Page, PageLimit, PageNumber, PageStart, Until};
pub use passkey::{CeremonyId, PasskeyId, PasskeyName};
pub use payment::{Payment, Referral};
pub use preview::{Fingerprint, Form, Measures, Picture, PreviewWidth, Previews};
pub use profile::{AvatarUri, Bio, SocialUsername, Username};
pub use proof::{COUNTS_AFTER, ProofAct, ProofId, ProofSubject, ProofWay, ProvenAct};
pub use publication::{CollectionName, NewMoment, OPEN_EDITION, OwnCollection, RoyaltyBps, Split, TargetCollection};
pub use ranking::{Period, RankedBy, SortOrder, Spending};
pub use recipient::{GiftRecipient, Recipient};
pub use sale::{NewSaleType, Sale, SaleTerms, SaleTime, SaleType};
pub use served::{FILES_POLICY, IMMUTABLE, disposition, served_type};
pub use session::SessionId;
pub use sign_in_link::SignInLink;
pub use stats::{COUNTED_DAYS, CountedSubject, Counts, DayCounts, LastCollect, Stats, StatsSubject};
pub use transaction::{Call, ConcurrencyKey, Creation, NewTokens, Plan, TransactionId, TransactionStatus, WriteKind};
pub use transfer::{Transfer, TransferType};
pub use uri::MetadataUri;
pub use webhook::{DeliveryId, DeliveryStatus, WebhookDescription, WebhookId, WebhookStatus, WebhookUrl};
