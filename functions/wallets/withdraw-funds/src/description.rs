use shared::api::transact::SentTransaction;

use super::WithdrawFundsRequest;

/// Withdraw money from the artist's account
///
/// To any recipient but a contract of the protocol.
#[utoipa::path(
    post,
    path = "/smartwallet/withdraw",
    tag = "Artists",
    security(("apiKey" = [])),
    request_body(content = WithdrawFundsRequest, example = json!({
        "to": "0x00000000000000000000000000000000000000a1",
        "amount": "1000000000000000",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn withdraw_funds() {}

openapi::published!(withdraw_funds writes, 404);
