//! Artists' profiles and accounts.

pub mod delete_artist;
pub mod export_artist;
pub mod list_activity;
pub mod profile;
pub mod read_artist;
pub mod search_artists;
pub mod unsubscribe;
pub mod update_artist;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    delete_artist::delete_artist,
    export_artist::export_artist,
    list_activity::list_activity,
    read_artist::read_artist,
    read_artist::read_own_artist,
    search_artists::search_artists,
    unsubscribe::unsubscribe,
    update_artist::update_artist,
))]
pub struct Contract;
