//! The words of the domain as types that can't hold a bad value. Each parses with `FromStr`, and an error reads on
//! after the field's name: "tokenId" + "must be a whole number…".

mod address;
mod amount;
mod artist;
mod caip;
mod collection;
mod comment;
mod email;
mod event_id;
mod fees;
mod flag;
mod folded_name;
mod key;
mod metadata;
mod moment;
mod one_time_code;
mod page;
mod payment;
mod profile;
mod publication;
mod ranking;
mod sale;
mod schema;
mod uri;

pub use address::{Address, CheckedAddress};
pub use amount::{Amount, Share, Whole};
pub use artist::{ArtistId, Wallet, WalletType};
pub use caip::{CaipContract, CaipNetwork, CollectionPath};
pub use collection::{
    Collection, FeeRecipient, MAX_ADMINS, MAX_FEE_RECIPIENTS, MAX_NAME_KEPT, MAX_URI_KEPT, Moment, MomentSale,
    Protocol, Royalty, clip_name, clip_uri,
};
pub use comment::{Comment, CommentId, CommentNonce, CommentText, MAX_COMMENT_CHARACTERS, clip_comment};
pub use email::Email;
pub use event_id::EventId;
pub use fees::{Fees, MarketFees};
pub use flag::Flag;
pub use folded_name::FoldedName;
pub use key::{KeyId, KeyName};
pub use metadata::{Content, ContentType, MAX_DESCRIPTION_CHARACTERS, MAX_NAME_CHARACTERS, Metadata};
pub use moment::{ChainId, MomentRef, TokenId};
pub use one_time_code::OneTimeCode;
pub use page::{Page, PageLimit, PageNumber, PageParameters};
pub use payment::{Payment, Transfer, TransferKind};
pub use profile::{Bio, SocialUsername, Username};
pub use publication::{CollectionName, NewMoment, OPEN_EDITION, Split, TargetCollection};
pub use ranking::{Period, RankedBy, SortOrder, Spending};
pub use sale::{Sale, SaleTerms, SaleType};
pub use uri::MetadataUri;

/// Why a text is not a value of the type it should be, worded to follow the field's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub &'static str);

/// Implements `Serialize` and `Deserialize` through `Display` and `FromStr`, so that a stored or sent value is
/// parsed by the same rules as a received one.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_as_text;
