use shared::model::{Address, ChainId, ContentType, PageParameters, Period, Protocol, Username};

use utoipa::ToSchema;

use super::ListTimelineResponse;

/// List moments
///
/// Newest first: everyone's, those of an artist or of a collection.
#[utoipa::path(
    get,
    path = "/timeline",
    tag = "Activity",
    params(
        ("artist" = inline(Option<ArtistWord>), Query, description = "Whose timeline, by an address or a username; with a collection, who made that."),
        ("collection" = Option<Address>, Query, description = "The collection whose moments are meant."),
        ("type" = inline(Option<TimelineWord>), Query, description = "With an artist alone: what they made, or what they are an admin of without having made it; both unless given."),
        ("content_type" = Option<ContentType>, Query, description = "What kind of work."),
        ("protocol" = Option<Protocol>, Query, description = "Whose contracts."),
        ("curated" = Option<bool>, Query, description = "Only of artists who go by a name."),
        ("period" = inline(Option<Period>), Query, description = "How long ago at most; `all` unless given."),
        ("chain_id" = Option<ChainId>, Query, description = "The chain; 8453 unless given."),
        PageParameters,
    ),
    responses((status = 200, description = "The page.", body = ListTimelineResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_timeline() {}

contract::published!(list_timeline);

/// What an artist has to do with a moment.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "describes what is parsed elsewhere")]
enum TimelineWord {
    Default,
    Mutual,
}

/// An account of the artist, or their username.
#[derive(ToSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "describes what is parsed elsewhere")]
enum ArtistWord {
    Account(Address),
    Username(Username),
}
