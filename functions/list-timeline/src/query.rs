//! What can be asked of timelines.

use std::str::FromStr;

use shared::{
    http::{ApiError, Request},
    model::{Address, ChainId, Flag, Invalid, Page, Period, Username},
    reading::Reader,
    store::TimelineFilter,
};

/// Which moments are asked for.
pub struct ListTimelineQuery {
    /// `artist`: whose timeline; with a collection, who made that. Everyone's unless given.
    pub artist: Option<ArtistName>,
    /// `collection`: the collection whose moments; any unless given.
    pub collection: Option<Address>,
    /// `type`: both unless given.
    pub r#type: Option<TimelineType>,
    /// `chain_id`: 8453 unless given.
    pub chain: ChainId,
    /// `content_type`, `protocol` and `curated`.
    pub filter: TimelineFilter,
    /// `period`: how long ago a moment was made at most; all unless given.
    pub period: Period,
}

/// How an artist is named.
pub enum ArtistName {
    /// By one of their accounts.
    Account(Address),
    /// By their name.
    Username(Username),
}

/// What an artist has to do with a moment.
#[derive(Clone, Copy)]
pub enum TimelineType {
    /// `default`: made it.
    Default,
    /// `mutual`: is an admin of it and didn't make it.
    Mutual,
}

impl ListTimelineQuery {
    pub fn parse(request: &Request, reader: &Reader) -> Result<(Self, Page), ApiError> {
        let mut fields = request.query();
        let artist = fields.optional("artist");
        let collection = fields.optional("collection");
        let r#type = fields.optional("type");
        if fields.has("type") && (fields.has("collection") || !fields.has("artist")) {
            fields.refuse("type", Invalid("needs an artist, and no collection"));
        }
        let chain = reader.chain(&mut fields, "chain_id");
        let content_type = fields.optional("content_type");
        let protocol = fields.optional("protocol");
        let curated = fields.optional_or("curated", Flag(false));
        let period = fields.optional_or("period", Period::All);
        let page = fields.page();
        fields.finish(|| {
            let filter = TimelineFilter { content_type, protocol, curated: curated?.0 };
            Some((Self { artist, collection, r#type, chain: chain?, filter, period: period? }, page?))
        })
    }
}

impl FromStr for ArtistName {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        // No name is as long as an address.
        match text.parse() {
            Ok(account) => Ok(Self::Account(account)),
            Err(Invalid(_)) => match text.parse() {
                Ok(name) => Ok(Self::Username(name)),
                Err(Invalid(_)) => Err(Invalid("must be an address or a username")),
            },
        }
    }
}

impl FromStr for TimelineType {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text {
            "default" => Ok(Self::Default),
            "mutual" => Ok(Self::Mutual),
            _ => Err(Invalid("must be default or mutual")),
        }
    }
}
