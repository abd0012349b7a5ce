//! `DELETE /moment/permission`: revokes an account's admin permission on a moment.

#[cfg(test)]
mod description;

use shared::{
    api::{request::MomentFields, transact::TransactionService},
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{CheckedAddress, MomentRef, Scope},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RevokePermission>().await
}

struct RevokePermission {
    service: TransactionService,
}

/// The moment and its admin.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct RevokePermissionRequest {
    /// The moment; token 0 is its whole collection.
    moment: MomentRef,
    /// Account that loses the permission.
    admin_address: CheckedAddress,
}

/// The same in the query, for clients that send no body with `DELETE`.
#[derive(FromFields)]
#[schema(rename_all = "camelCase")]
struct RevokePermissionQuery {
    #[field(flatten)]
    moment: MomentFields,
    admin_address: CheckedAddress,
}

impl Endpoint for RevokePermission {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let RevokePermissionRequest { moment, admin_address: CheckedAddress(admin) } = if request.has_body() {
            request.json()?.read_for(&self.service)?
        } else {
            request.query().read_for::<RevokePermissionQuery>(&self.service)?.into()
        };
        self.service.revoke_admin(request, caller, &moment, admin).await
    }
}

impl From<RevokePermissionQuery> for RevokePermissionRequest {
    fn from(query: RevokePermissionQuery) -> Self {
        Self { moment: query.moment.into(), admin_address: query.admin_address }
    }
}
