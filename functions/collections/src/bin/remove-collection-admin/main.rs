//! `DELETE /collections/{network}/{contract}/admins`: takes the admin permission on a collection from an account.

use collections::remove_collection_admin::RemoveCollectionAdminQuery;
use shared::{
    api::{activity::ActivityLog, request::CollectionPath, transact::TransactionService},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, MomentRef, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RemoveCollectionAdmin>().await
}

struct RemoveCollectionAdmin {
    service: TransactionService,
    activity: ActivityLog,
}

impl Endpoint for RemoveCollectionAdmin {
    async fn from_env() -> Result<Self, StartError> {
        let activity = ActivityLog::from_env(&config::aws().await)?;
        Ok(Self { service: TransactionService::from_env().await?, activity })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let input = request.query();
        let (path, RemoveCollectionAdminQuery { admin_address: CheckedAddress(admin) }): (CollectionPath, _) =
            input.read_with(&request.path_parameters(), &self.service)?;
        let (chain, contract) = path.place();
        let collection = MomentRef::whole(chain, contract);
        self.service.revoke_admin(request, caller, &self.activity, &collection, admin).await
    }
}
