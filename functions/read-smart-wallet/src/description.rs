use shared::model::{Address, ChainId};

use super::ReadSmartWalletResponse;

/// Read the balances of an artist's account
#[utoipa::path(
    get,
    path = "/smartwallet",
    tag = "Artists",
    params(
        ("address" = Address, Query, description = "The account that the service keeps, or another wallet of its artist."),
        ("chainId" = Option<ChainId>, Query, description = "The chain; 8453 unless given."),
    ),
    responses((status = 200, description = "The balances.", body = ReadSmartWalletResponse)),
)]
fn read_smart_wallet() {}

contract::published!(read_smart_wallet, 404, 502, 503);
