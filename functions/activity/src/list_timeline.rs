//! Contract of `GET /timeline`.

use std::str::FromStr;

use serde::Serialize;
use shared::{
    api::{
        read::{MomentView, Pagination},
        request::{PageQuery, UntilQuery},
    },
    http::{Fields, FromFields, Scalar},
    model::{Address, ArtistName, ChainId, ContentType, Flag, Invalid, PageStart, Period, Protocol},
    store::chain::TimelineFilter,
};
use utoipa::{IntoParams, ToSchema};

/// Filters and page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
#[field(check)]
pub struct ListTimelineQuery {
    /// Whose timeline, by any of their wallets or their username: that of all of their wallets. With a collection, its
    /// creator.
    #[param(inline)]
    pub artist: Option<ArtistName>,
    /// The moments' collection.
    pub collection: Option<Address>,
    /// With an artist alone: their own moments, or those that they are an admin of without being the creator; both by
    /// default.
    #[param(inline)]
    pub r#type: Option<TimelineType>,
    /// Kind of work.
    pub content_type: Option<ContentType>,
    /// Protocol of the contracts.
    pub protocol: Option<Protocol>,
    /// Only moments of artists with a name.
    #[param(value_type = Option<bool>)]
    pub curated: Option<Flag>,
    /// Hidden moments too; without it they are left out.
    #[param(value_type = Option<bool>)]
    pub hidden: Option<Flag>,
    /// Longest time ago.
    #[param(default = "all", required = false)]
    pub period: Period,
    /// The chain; all by default, test networks only for an artist or where there are no others.
    pub chain_id: Option<ChainId>,
    #[param(ignore)]
    #[field(flatten)]
    pub start: PageStart,
}

/// An artist's part in a moment.
#[derive(Clone, Copy, ToSchema)]
#[schema(title = "TimelineType", rename_all = "lowercase")]
pub enum TimelineType {
    /// Created it.
    Default,
    /// Is an admin of it without having created it.
    Mutual,
}

/// A page of moments.
#[derive(Serialize, ToSchema)]
pub struct ListTimelineResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    pub moments: Vec<MomentView>,
    pub pagination: Pagination,
}

/// List moments
///
/// All moments, those of an artist or of a collection, newest first.
#[utoipa::path(
    get,
    path = "/timeline",
    tag = "Activity",
    params(ListTimelineQuery, PageQuery, UntilQuery),
    responses((status = 200, description = "The page.", body = ListTimelineResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
pub fn list_timeline() {}

impl ListTimelineQuery {
    fn check(&self, fields: &Fields<'_>) {
        if self.r#type.is_some() && (self.collection.is_some() || self.artist.is_none()) {
            fields.field("type").refuse(&Invalid("needs an artist, and no collection"));
        }
    }

    pub fn filter(&self) -> TimelineFilter {
        let is_set = |flag: &Option<Flag>| flag.as_ref().is_some_and(|Flag(is_set)| *is_set);
        let (curated, hidden) = (is_set(&self.curated), is_set(&self.hidden));
        TimelineFilter { content_type: self.content_type, protocol: self.protocol, curated, hidden }
    }

    /// Unix time in seconds of the oldest moment, at `now`.
    pub fn since(&self, now: u64) -> u64 {
        self.period.seconds().map_or(0, |seconds| now.saturating_sub(seconds))
    }
}

impl Scalar for TimelineType {}

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
