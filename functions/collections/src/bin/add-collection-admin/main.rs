//! `POST /collections/{network}/{contract}/admins`: makes an account an admin of a collection.

use collections::add_collection_admin::AddCollectionAdminRequest;
use shared::{
    api::{activity::ActivityLog, request::CollectionPath, transact::TransactionService},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, MomentRef, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<AddCollectionAdmin>().await
}

struct AddCollectionAdmin {
    service: TransactionService,
    activity: ActivityLog,
}

impl Endpoint for AddCollectionAdmin {
    async fn from_env() -> Result<Self, StartError> {
        let activity = ActivityLog::from_env(&config::aws().await)?;
        Ok(Self { service: TransactionService::from_env().await?, activity })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let input = request.json()?;
        let (path, AddCollectionAdminRequest { admin_address: CheckedAddress(admin) }): (CollectionPath, _) =
            input.read_with(&request.path_parameters(), &self.service)?;
        let (chain, contract) = path.place();
        let collection = MomentRef::whole(chain, contract);
        self.service.grant_admin(request, caller, &self.activity, &collection, admin).await
    }
}
