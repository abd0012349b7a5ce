//! Timelines, events, collectors, payments and notifications.

pub mod event_reader;
pub mod list_collectors;
pub mod list_events;
pub mod list_moment_collectors;
pub mod list_notifications;
pub mod list_payments;
pub mod list_timeline;
pub mod list_transfers;
pub mod mark_notifications;
pub mod read_stats;
pub mod wait_for_events;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    list_collectors::list_collectors,
    list_events::list_events,
    list_moment_collectors::list_moment_collectors,
    list_notifications::list_notifications,
    list_payments::list_payments,
    list_timeline::list_timeline,
    list_transfers::list_transfers,
    mark_notifications::mark_notifications,
    read_stats::read_stats,
    wait_for_events::wait_for_events,
))]
pub struct Contract;
