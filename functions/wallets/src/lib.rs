//! Wallets, payout addresses and the money of an artist.

pub mod add_payout_address;
pub mod challenge_wallet;
pub mod connect_wallet;
pub mod disconnect_wallet;
pub mod list_payout_addresses;
pub mod list_wallets;
pub mod on_ramp;
pub mod read_smart_wallet;
pub mod remove_payout_address;
pub mod withdraw_funds;

mod payout;
mod wallet_list;

pub use self::{
    payout::{PayoutService, PayoutView},
    wallet_list::WalletsResponse,
};

/// The resource's part of the published contract.
#[derive(utoipa::OpenApi)]
#[openapi(paths(
    add_payout_address::add_payout_address,
    challenge_wallet::challenge_wallet,
    connect_wallet::connect_wallet,
    disconnect_wallet::disconnect_wallet,
    list_payout_addresses::list_payout_addresses,
    list_wallets::list_wallets,
    read_smart_wallet::read_smart_wallet,
    remove_payout_address::remove_payout_address,
    withdraw_funds::withdraw_funds,
))]
pub struct Contract;
