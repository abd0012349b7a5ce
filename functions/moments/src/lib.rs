//! Moments: publishing, changing, collecting.

pub mod accept_moment;
pub mod airdrop_moment;
pub mod claim_link;
pub mod claim_moment;
pub mod collect_moment;
pub mod create_claim_link;
pub mod create_moment;
pub mod create_moments;
pub mod create_writing;
pub mod delete_claim_link;
pub mod grant_permission;
pub mod grants;
pub mod hide_moment;
pub mod list_claim_links;
pub mod migrate_moments;
pub mod move_moment;
pub mod prepare_collect;
pub mod prepare_moment;
pub mod purchase;
pub mod read_allow_list;
pub mod read_moment;
pub mod referral;
pub mod refresh_moment;
pub mod revoke_permission;
pub mod set_allow_list;
pub mod simulate_moment;
pub mod update_moment_uri;
pub mod update_sale;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    accept_moment::accept_moment,
    airdrop_moment::airdrop_moment,
    claim_moment::claim_moment,
    collect_moment::collect_moment,
    create_claim_link::create_claim_link,
    create_moment::create_moment,
    create_moments::create_moments,
    create_writing::create_writing,
    delete_claim_link::delete_claim_link,
    grant_permission::grant_permission,
    hide_moment::hide_moment,
    list_claim_links::list_claim_links,
    migrate_moments::migrate_moments,
    move_moment::move_moment,
    prepare_collect::prepare_collect,
    read_allow_list::read_allow_list,
    prepare_moment::prepare_moment,
    read_moment::read_moment,
    refresh_moment::refresh_moment,
    revoke_permission::revoke_permission,
    set_allow_list::set_allow_list,
    simulate_moment::simulate_moment,
    update_moment_uri::update_moment_uri,
    update_sale::update_sale,
))]
pub struct Contract;
