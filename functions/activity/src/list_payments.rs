//! Contract of `GET /payments`.

use serde::Serialize;
use shared::{
    api::{
        read::{Pagination, PaymentView},
        request::{PageQuery, UntilQuery},
    },
    http::FromFields,
    model::{Address, ArtistName, ChainId, PageStart},
};
use utoipa::{IntoParams, ToSchema};

/// Filters and page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct ListPaymentsQuery {
    /// Creator of the collections, by any of their wallets or their username: payments to all of their wallets.
    #[param(inline)]
    pub artist: Option<ArtistName>,
    /// Recipient of the tokens.
    pub collector: Option<Address>,
    /// The chain; all by default, test networks only for a person or where there are no others.
    pub chain_id: Option<ChainId>,
    #[param(ignore)]
    #[field(flatten)]
    pub start: PageStart,
}

/// A page of payments.
#[derive(Serialize, ToSchema)]
pub struct ListPaymentsResponse {
    #[schema(pattern = "^success$")]
    pub status: &'static str,
    pub payments: Vec<PaymentView>,
    pub pagination: Pagination,
}

/// List payments
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/payments",
    tag = "Activity",
    params(ListPaymentsQuery, PageQuery, UntilQuery),
    responses((status = 200, description = "The page.", body = ListPaymentsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
pub fn list_payments() {}
