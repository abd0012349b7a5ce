//! Contract of `GET /transfers`.

use serde::Serialize;
use shared::{
    api::{
        read::{Pagination, TransferView},
        request::{PageQuery, UntilQuery},
    },
    http::{Fields, FromFields},
    model::{Address, ArtistName, ChainId, ContentType, Invalid, PageStart, TokenId, TransferType},
};
use utoipa::{IntoParams, ToSchema};

/// Filters and page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
#[field(check)]
pub struct ListTransfersQuery {
    /// How the tokens were got; in any way by default.
    pub r#type: Option<TransferType>,
    /// Creator of the collections, by any of their wallets or their username; not with a collector.
    #[param(inline)]
    pub artist: Option<ArtistName>,
    /// Who got the tokens, by any of their wallets or their username.
    #[param(inline)]
    pub collector: Option<ArtistName>,
    /// The moments' collection.
    pub collection: Option<Address>,
    /// The moment's token in the collection.
    #[param(rename = "tokenId")]
    pub token_id: Option<TokenId>,
    /// Kind of work.
    pub content_type: Option<ContentType>,
    /// The chain; all by default, test networks only with another filter or where there are no others.
    #[param(rename = "chainId")]
    pub chain_id: Option<ChainId>,
    #[param(ignore)]
    #[field(flatten)]
    pub start: PageStart,
}

/// A page of transfers.
#[derive(Serialize, ToSchema)]
pub struct ListTransfersResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    pub transfers: Vec<TransferView>,
    pub pagination: Pagination,
}

/// List transfers
///
/// Who got which tokens, and how: through a sale, by an airdrop, from another account. Newest first. Some filter
/// combinations are applied after paging: `total_count` is then null, and pages may be short or empty even when more follow.
/// Follow `Link`.
#[utoipa::path(
    get,
    path = "/transfers",
    tag = "Activity",
    params(ListTransfersQuery, PageQuery, UntilQuery),
    responses((status = 200, description = "The page.", body = ListTransfersResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
pub fn list_transfers() {}

impl ListTransfersQuery {
    fn check(&self, fields: &Fields<'_>) {
        if self.artist.is_some() && self.collector.is_some() {
            fields.field("collector").refuse(&Invalid("must not be given together with artist"));
        }
        if self.token_id.is_some() && self.collection.is_none() {
            fields.field("tokenId").refuse(&Invalid("needs a collection"));
        }
    }
}
