//! Events: what happened, as logs tell it. `docs/guide/events.md` explains them.

mod cursor;
mod data;
mod subject;

use std::{collections::BTreeSet, fmt, str::FromStr};

use serde::{Deserialize, Serialize, Serializer};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type},
};

use self::subject::Concerns;
pub use self::{
    cursor::{EventCursor, EventsAfter, LogId, LogName, LogPlace, Wait},
    data::{
        AcceptanceEvent, AllowListView, ArtistEvent, CollectionEvent, CommentEvent, ModerationEvent, MomentEvent,
        PaymentEvent, PermissionEvent, RoyaltyView, SaleEvent, SaleView, TransactionEvent, TransferEvent,
    },
    subject::About,
};
use super::{
    address::Address, event_id::EventId, invalid::Invalid, moderation::Subject, moment::MomentRef, text::serde_as_text,
};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Event {
    /// The same whenever its cause is indexed again, and for the event that takes it back.
    pub id: EventId,
    /// When it happened, in Unix seconds.
    #[serde(rename = "at")]
    pub time: u64,
    /// Whether it is taken back: the chain has dropped its block.
    #[serde(default, rename = "back", skip_serializing_if = "is_false")]
    pub is_reverted: bool,
    /// What happened.
    #[serde(rename = "of")]
    pub data: EventData,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_false(value: &bool) -> bool {
    !value
}

macro_rules! kinds {
    ($($kind:ident $word:literal $data:ident $says:literal;)+) => {
        /// Kind of an event, and with it the form of its data.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum EventKind {$(
            #[doc = $says]
            $kind,
        )+}

        impl EventKind {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$kind),+];
            const WORDS: &[&'static str] = &[$($word),+];

            /// The type of such events.
            pub fn word(self) -> &'static str {
                match self {$(Self::$kind => $word,)+}
            }

            /// What has happened then.
            pub fn says(self) -> &'static str {
                match self {$(Self::$kind => $says,)+}
            }

            /// Name in the published description.
            pub fn name(self) -> &'static str {
                match self {$(Self::$kind => concat!(stringify!($kind), "Event"),)+}
            }

            /// Name and schemas of the data.
            pub fn data_schemas(self, schemas: &mut Vec<(String, RefOr<Schema>)>) -> String {
                match self {$(Self::$kind => {
                    let name = $data::name().into_owned();
                    schemas.push((name.clone(), $data::schema()));
                    $data::schemas(schemas);
                    name
                })+}
            }
        }

        /// Content of an event.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "type", content = "data")]
        pub enum EventData {$(
            #[doc = $says]
            #[serde(rename = $word)]
            $kind($data),
        )+}

        impl EventData {
            /// Its kind.
            pub fn kind(&self) -> EventKind {
                match self {$(Self::$kind(_) => EventKind::$kind,)+}
            }

            fn concerns(&self) -> &dyn Concerns {
                match self {$(Self::$kind(data) => data,)+}
            }

            /// Serialises it without its kind.
            pub fn serialize_content<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {$(Self::$kind(data) => data.serialize(serializer),)+}
            }
        }
    };
}

kinds! {
    CollectionCreated "collection.created" CollectionEvent "A collection was made.";
    CollectionUpdated "collection.updated" CollectionEvent "The name or the metadata URI of a collection changed.";
    CollectionAccepted "collection.accepted" AcceptanceEvent "An artist accepted a collection that another account made in their name.";
    MomentCreated "moment.created" MomentEvent "A moment was made.";
    MomentUpdated "moment.updated" MomentEvent "The metadata URI or the royalty of a moment changed.";
    SaleUpdated "sale.updated" SaleEvent "A sale of a moment was set or ended.";
    MomentCollected "moment.collected" TransferEvent "Tokens were collected through a sale, perhaps for nothing.";
    MomentTransferred "moment.transferred" TransferEvent "Tokens were given, minted without a sale, or burned.";
    CommentCreated "comment.created" CommentEvent "Somebody commented on a moment.";
    PermissionChanged "permission.changed" PermissionEvent "An account's permissions on a moment or collection changed.";
    PaymentReceived "payment.received" PaymentEvent "A collect cost more than the contracts' fee.";
    TransactionMined "transaction.mined" TransactionEvent "A transaction of yours is mined, and done.";
    TransactionFailed "transaction.failed" TransactionEvent "A transaction of yours did nothing.";
    ArtistUpdated "artist.updated" ArtistEvent "An artist's profile or wallets changed.";
    ModerationChanged "moderation.changed" ModerationEvent "The operator decided about something of yours, or undid a decision.";
}

impl EventKind {
    /// Whether such events are for their artist's eyes only.
    pub fn is_private(self) -> bool {
        matches!(self, Self::TransactionMined | Self::TransactionFailed | Self::ModerationChanged)
    }
}

impl FromStr for EventKind {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let found = Self::ALL.iter().copied().find(|kind| kind.word() == text);
        found.ok_or(Invalid("must be a type of event, such as moment.created"))
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

serde_as_text!(EventKind);

impl ToSchema for EventKind {}

impl PartialSchema for EventKind {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Type of an event. What takes such an event back comes along."))
            .enum_values(Some(Self::WORDS.iter().copied()))
            .into()
    }
}

impl EventData {
    /// Whose words it has; `None` if it has nobody's.
    pub fn subject(&self) -> Option<Subject> {
        match self {
            Self::CollectionCreated(of) | Self::CollectionUpdated(of) => {
                Some(Subject::Collection(of.chain_id, of.collection))
            }
            Self::MomentCreated(of) | Self::MomentUpdated(of) => {
                let place = MomentRef { chain: of.chain_id, collection: of.collection, token: of.token_id };
                Some(Subject::Moment(place))
            }
            Self::CommentCreated(of) => of.comment_id.map(|comment| Subject::Comment(of.chain_id, comment)),
            Self::CollectionAccepted(_)
            | Self::SaleUpdated(_)
            | Self::MomentCollected(_)
            | Self::MomentTransferred(_)
            | Self::PermissionChanged(_)
            | Self::PaymentReceived(_)
            | Self::TransactionMined(_)
            | Self::TransactionFailed(_)
            | Self::ArtistUpdated(_)
            | Self::ModerationChanged(_) => None,
        }
    }

    /// Takes the words of [`EventData::subject`] out.
    pub fn withhold(&mut self) {
        match self {
            Self::CollectionCreated(of) | Self::CollectionUpdated(of) => {
                of.name.clear();
                of.uri.clear();
            }
            Self::MomentCreated(of) | Self::MomentUpdated(of) => of.uri.clear(),
            Self::CommentCreated(of) => of.comment.clear(),
            _ => {}
        }
    }
}

impl Event {
    /// Its type: with `.reverted` at the end if it takes another one back.
    pub fn r#type(&self) -> String {
        format!("{}{}", self.data.kind().word(), if self.is_reverted { ".reverted" } else { "" })
    }

    /// The event that takes this one back.
    #[must_use]
    pub fn reverted(self, time: u64) -> Self {
        Self { time, is_reverted: true, ..self }
    }

    /// What it is about.
    pub fn about(&self) -> About {
        self.data.concerns().about()
    }

    /// The accounts that it concerns.
    pub fn accounts(&self) -> Vec<Address> {
        let mut accounts = self.data.concerns().accounts();
        accounts.retain(|account| *account != Address::ZERO);
        accounts
    }
}

/// Kinds of events, separated by commas. What takes such an event back is meant, too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventKinds(BTreeSet<EventKind>);

impl EventKinds {
    /// Whether the kind is one of them.
    pub fn contain(&self, kind: EventKind) -> bool {
        self.0.contains(&kind)
    }
}

impl FromStr for EventKinds {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let kinds: Result<_, Invalid> = text.split(',').map(str::parse).collect();
        let expected = "must be types of events, separated by commas, such as moment.created,sale.updated";
        kinds.map(Self).map_err(|_| Invalid(expected))
    }
}

impl fmt::Display for EventKinds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<_> = self.0.iter().map(|kind| kind.word()).collect();
        formatter.write_str(&words.join(","))
    }
}

impl ToSchema for EventKinds {}

impl PartialSchema for EventKinds {
    fn schema() -> RefOr<Schema> {
        let words = EventKind::WORDS.join("|").replace('.', "\\.");
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Types of events, separated by commas. `.reverted` events of these types are included."))
            .pattern(Some(format!("^({words})(,({words}))*$")))
            .examples(["moment.collected,comment.created"])
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_read_as_they_are_written() {
        for kind in EventKind::ALL {
            assert_eq!(kind.word().parse(), Ok(*kind));
        }
        let kinds: EventKinds = "sale.updated,moment.created,sale.updated".parse().unwrap();
        assert_eq!(kinds.to_string(), "moment.created,sale.updated");
        for text in ["", ",", "sale.updated,", "sale.updated.reverted", "sale", " sale.updated"] {
            assert!(text.parse::<EventKinds>().is_err(), "{text:?} was accepted");
        }
    }

    #[test]
    fn an_event_is_stored_and_read_again() {
        let data = EventData::ArtistUpdated(ArtistEvent { address: Address::ZERO });
        let id = "6c1f2f6e-6f0e-5b7e-9d8a-3f1c2b4d5e6f".parse().unwrap();
        let event = Event { id, time: 7, is_reverted: false, data };
        for event in [event.clone(), event.reverted(9)] {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
            assert_eq!(text.contains("back"), event.r#type() == "artist.updated.reverted");
            assert!(event.accounts().is_empty(), "nobody has the zero address");
        }
    }
}
