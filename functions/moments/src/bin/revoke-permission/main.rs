//! `DELETE /moment/permission`: revokes an account's admin permission on a moment.

use moments::revoke_permission::{RevokePermissionQuery, RevokePermissionRequest};
use shared::{
    api::{activity::ActivityLog, transact::TransactionService},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RevokePermission>().await
}

struct RevokePermission {
    service: TransactionService,
    activity: ActivityLog,
}

impl Endpoint for RevokePermission {
    async fn from_env() -> Result<Self, StartError> {
        let activity = ActivityLog::from_env(&config::aws().await)?;
        Ok(Self { service: TransactionService::from_env_with_places().await?, activity })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let RevokePermissionRequest { moment, admin_address: CheckedAddress(admin) } = if request.has_body() {
            request.json()?.read_for(&self.service)?
        } else {
            request.query().read_for::<RevokePermissionQuery>(&self.service)?.into()
        };
        self.service.revoke_admin(request, caller, &self.activity, &moment, admin).await
    }
}
