//! Sign-in and API keys.

pub mod add_passkey;
pub mod ask_proof;
pub mod challenge_passkey;
pub mod challenge_passkey_sign_in;
pub mod challenge_sign_in;
pub mod change_email;
pub mod create_api_key;
pub mod forget_device;
pub mod give_proof;
pub mod keep_email;
pub mod keep_passkey;
pub mod list_api_keys;
pub mod list_key_requests;
pub mod list_passkeys;
pub mod log_in;
pub mod log_out;
pub mod mailbox_budget;
pub mod passkey;
pub mod publish_key_set;
pub mod read_me;
pub mod remove_passkey;
pub mod revoke_api_key;
pub mod send_code;
pub mod sign_in;
pub mod use_link;
pub mod use_passkey;
pub mod use_wallet;
#[cfg(test)]
mod webauthn_vectors;

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    ask_proof::ask_proof,
    give_proof::give_proof,
    change_email::change_email,
    keep_email::keep_email,
    challenge_sign_in::challenge_sign_in,
    create_api_key::create_api_key,
    forget_device::forget_device,
    list_api_keys::list_api_keys,
    list_key_requests::list_key_requests,
    log_in::log_in,
    log_out::log_out,
    publish_key_set::publish_key_set,
    revoke_api_key::revoke_api_key,
    send_code::send_code,
    use_link::use_link,
    use_wallet::use_wallet,
    use_passkey::use_passkey,
    read_me::read_me,
    remove_passkey::remove_passkey,
    keep_passkey::keep_passkey,
    list_passkeys::list_passkeys,
    challenge_passkey_sign_in::challenge_passkey_sign_in,
    challenge_passkey::challenge_passkey,
    add_passkey::add_passkey,
))]
pub struct Contract;
