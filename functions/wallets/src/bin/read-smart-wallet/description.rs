use super::{ReadSmartWalletQuery, ReadSmartWalletResponse};

/// Read the balances of an artist's account
///
/// As the chain has them now.
#[utoipa::path(
    get,
    path = "/smartwallet",
    tag = "Artists",
    params(ReadSmartWalletQuery),
    responses((status = 200, description = "The balances.", body = ReadSmartWalletResponse)),
)]
fn read_smart_wallet() {}

openapi::published!(read_smart_wallet, 404, 429, 502, 503);
