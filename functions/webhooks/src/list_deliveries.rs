//! Contract of `GET /webhooks/{id}/deliveries`.

use serde::Serialize;
use shared::{
    http::FromFields,
    model::{DeliveryId, PageLimit},
};
use utoipa::{IntoParams, ToSchema};

use crate::{DeliveryView, WebhookPath};

/// The page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListDeliveriesQuery {
    /// Most deliveries.
    #[param(default = 20, required = false)]
    pub limit: PageLimit,
    /// The last id of the page before; the newest deliveries by default.
    pub before: Option<DeliveryId>,
}

#[derive(Serialize, ToSchema)]
pub struct ListDeliveriesResponse {
    /// The newest first.
    pub deliveries: Vec<DeliveryView>,
}

/// List a webhook's deliveries
///
/// Lists the deliveries of the last 7 days and those that are queued, newest first, each with its status, the number
/// of attempts and the duration of the last one.
#[utoipa::path(
    get,
    path = "/webhooks/{id}/deliveries",
    tag = "Webhooks",
    security(("token" = [])),
    params(WebhookPath, ListDeliveriesQuery),
    responses((status = 200, description = "The page.", body = ListDeliveriesResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
    extensions(("x-errors" = json!([403, 404]))),
)]
pub fn list_deliveries() {}
