//! `POST /moment/permission`: makes an account an admin of a moment.

#[cfg(test)]
mod description;

use shared::{
    api::transact::TransactionService,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{CheckedAddress, MomentRef, Scope},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<GrantPermission>().await
}

struct GrantPermission {
    service: TransactionService,
}

/// The moment and its new admin.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct GrantPermissionRequest {
    /// The moment; token 0 is its whole collection.
    moment: MomentRef,
    /// Account that gets the permission.
    admin_address: CheckedAddress,
}

impl Endpoint for GrantPermission {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let GrantPermissionRequest { moment, admin_address: CheckedAddress(admin) } =
            request.json()?.read_for(&self.service)?;
        self.service.grant_admin(request, caller, &moment, admin).await
    }
}
