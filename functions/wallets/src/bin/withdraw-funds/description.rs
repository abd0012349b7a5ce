use shared::api::transact::SentTransaction;

use super::WithdrawFundsRequest;

/// Withdraw money from the artist's account
///
/// To a connected wallet whose key signed for it, or to a payout address that was added 24 hours ago. Needs a sign-in within
/// 15 minutes and an `Idempotency-Key`. The artist gets a mail about it.
#[utoipa::path(
    post,
    path = "/smartwallet/withdraw",
    tag = "Artists",
    security(("token" = [])),
    request_body(content = WithdrawFundsRequest, example = json!({
        "to": "0x00000000000000000000000000000000000000a1",
        "amount": "0.25",
        "unit": "main",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
)]
fn withdraw_funds() {}

openapi::published!(withdraw_funds pays, 404);
