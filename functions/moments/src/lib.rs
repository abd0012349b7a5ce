//! Moments: publishing, changing, collecting.

pub mod airdrop_moment;
pub mod collect_moment;
pub mod create_moment;
pub mod create_moments;
pub mod create_writing;
pub mod grant_permission;
pub mod grants;
pub mod hide_moment;
pub mod migrate_moments;
pub mod prepare_collect;
pub mod purchase;
pub mod read_moment;
pub mod referral;
pub mod revoke_permission;
pub mod simulate_moment;
pub mod update_moment_uri;
pub mod update_sale;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    airdrop_moment::airdrop_moment,
    collect_moment::collect_moment,
    create_moment::create_moment,
    create_moments::create_moments,
    create_writing::create_writing,
    grant_permission::grant_permission,
    hide_moment::hide_moment,
    migrate_moments::migrate_moments,
    prepare_collect::prepare_collect,
    read_moment::read_moment,
    revoke_permission::revoke_permission,
    simulate_moment::simulate_moment,
    update_moment_uri::update_moment_uri,
    update_sale::update_sale,
))]
pub struct Contract;
