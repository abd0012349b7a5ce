//! `PATCH /collections/{network}/{contract}`: changes a collection's name and metadata URI.

use collections::update_collection::UpdateCollectionRequest;
use shared::{
    api::{request::CollectionPath, transact::TransactionService},
    chain::{contracts::native::Creator1155, protocol::permission::Permission, wallet::Call},
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, Creation, MomentRef, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateCollection>().await
}

struct UpdateCollection {
    service: TransactionService,
}

impl Endpoint for UpdateCollection {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let (path, body): (CollectionPath, _) = request.json()?.read_with(&request.path_parameters(), &self.service)?;
        let ((chain, collection), UpdateCollectionRequest { new_uri, new_collection_name }) = (path.place(), body);
        self.service
            .transact(request, caller, chain, Creation::Nothing, async |session| {
                session.require_on_collection(collection, Permission::Metadata).await?;
                session.note(ActivityKind::Edited, MomentRef::whole(chain, collection));
                let (uri, name) = (new_uri.to_string(), new_collection_name.0.clone());
                let update = Creator1155::updateContractMetadataCall { newURI: uri, newName: name };
                Ok(vec![Call::new(collection.into(), &update)])
            })
            .await
    }
}
