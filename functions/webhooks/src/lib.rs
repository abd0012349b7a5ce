//! Webhooks and their deliveries.

pub mod create_webhook;
pub mod delete_webhook;
pub mod list_deliveries;
pub mod list_webhooks;
pub mod read_webhook;
pub mod redeliver_webhook;
pub mod rotate_webhook;
pub mod test_webhook;
pub mod update_webhook;

mod path;
mod service;
mod view;

pub use self::{
    path::{DeliveryPath, WebhookPath},
    service::{WebhookService, no_webhook, require_public},
    view::{DeliveryView, WebhookView},
};

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    create_webhook::create_webhook,
    delete_webhook::delete_webhook,
    list_deliveries::list_deliveries,
    list_webhooks::list_webhooks,
    read_webhook::read_webhook,
    redeliver_webhook::redeliver_webhook,
    rotate_webhook::rotate_webhook,
    test_webhook::test_webhook,
    update_webhook::update_webhook,
))]
pub struct Contract;
