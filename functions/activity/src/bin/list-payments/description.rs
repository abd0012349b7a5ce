use shared::api::request::PageQuery;

use super::{ListPaymentsQuery, ListPaymentsResponse};

/// List payments
///
/// Newest first.
#[utoipa::path(
    get,
    path = "/payments",
    tag = "Activity",
    params(ListPaymentsQuery, PageQuery),
    responses((status = 200, description = "The page.", body = ListPaymentsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
fn list_payments() {}

openapi::published!(list_payments);
