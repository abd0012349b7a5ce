//! `DELETE /collections/{network}/{contract}/admins`: takes the admin permission on a collection from an account.

#[cfg(test)]
mod description;

use shared::{
    api::{request::CollectionPath, transact::TransactionService},
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    model::{CheckedAddress, MomentRef, Scope},
};
use utoipa::IntoParams;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<RemoveCollectionAdmin>().await
}

struct RemoveCollectionAdmin {
    service: TransactionService,
}

/// The admin.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
struct RemoveCollectionAdminQuery {
    /// Account that loses the permission.
    admin_address: CheckedAddress,
}

impl Endpoint for RemoveCollectionAdmin {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let input = request.query();
        let (path, RemoveCollectionAdminQuery { admin_address: CheckedAddress(admin) }): (CollectionPath, _) =
            input.read_with(&request.path_parameters(), &self.service)?;
        let (chain, contract) = path.place();
        let collection = MomentRef::whole(chain, contract);
        self.service.revoke_admin(request, caller, &collection, admin).await
    }
}
