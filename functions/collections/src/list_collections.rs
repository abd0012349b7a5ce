//! Request, answer and description of `GET /collections`.

use serde::Serialize;
use shared::{
    api::{
        read::{CollectionView, Pagination},
        request::{PageQuery, UntilQuery},
    },
    http::FromFields,
    model::{ArtistName, ChainId, PageStart},
};
use utoipa::{IntoParams, ToSchema};

/// Filters and page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListCollectionsQuery {
    /// Their creator, by any of the artist's wallets or the username: collections of all of their wallets.
    #[param(inline)]
    pub artist: Option<ArtistName>,
    /// The chain; all by default, test networks only for an artist or where there are no others.
    pub chain_id: Option<ChainId>,
    #[param(ignore)]
    #[field(flatten)]
    pub start: PageStart,
}

/// A page of collections.
#[derive(Serialize, ToSchema)]
pub struct ListCollectionsResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    pub collections: Vec<CollectionView>,
    pub pagination: Pagination,
}

/// List collections
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/collections",
    tag = "Collections",
    params(ListCollectionsQuery, PageQuery, UntilQuery),
    responses((status = 200, description = "The page.", body = ListCollectionsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
pub fn list_collections() {}
