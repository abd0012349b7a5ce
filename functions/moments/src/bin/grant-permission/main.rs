//! `POST /moment/permission`: makes an account an admin of a moment.

use moments::grant_permission::GrantPermissionRequest;
use shared::{
    api::{activity::ActivityLog, transact::TransactionService},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<GrantPermission>().await
}

struct GrantPermission {
    service: TransactionService,
    activity: ActivityLog,
}

impl Endpoint for GrantPermission {
    async fn from_env() -> Result<Self, StartError> {
        let activity = ActivityLog::from_env(&config::aws().await)?;
        Ok(Self { service: TransactionService::from_env().await?, activity })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let GrantPermissionRequest { moment, admin_address: CheckedAddress(admin) } =
            request.json()?.read_for(&self.service)?;
        self.service.grant_admin(request, caller, &self.activity, &moment, admin).await
    }
}
