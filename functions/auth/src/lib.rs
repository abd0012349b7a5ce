//! Sign-in and API keys.

pub mod create_api_key;
pub mod forget_device;
pub mod list_api_keys;
pub mod log_in;
pub mod log_out;
pub mod publish_key_set;
pub mod revoke_api_key;
pub mod send_code;
pub mod sign_in;
pub mod use_link;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    create_api_key::create_api_key,
    forget_device::forget_device,
    list_api_keys::list_api_keys,
    log_in::log_in,
    log_out::log_out,
    publish_key_set::publish_key_set,
    revoke_api_key::revoke_api_key,
    send_code::send_code,
    use_link::use_link,
))]
pub struct Contract;
