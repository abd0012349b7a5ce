//! `POST /registry/metadata/moment`: changes a moment's metadata URI.

use moments::update_moment_uri::UpdateMomentUriRequest;
use shared::{
    api::transact::TransactionService,
    chain::protocol::permission::Permission,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{ActivityKind, Creation, MomentEdit, Protocol, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<UpdateMomentUri>().await
}

struct UpdateMomentUri {
    service: TransactionService,
}

impl Endpoint for UpdateMomentUri {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let UpdateMomentUriRequest { moment, new_uri } = request.json()?.read_for(&self.service)?;
        self.service
            .transact(request, caller, moment.chain, Creation::Nothing, async |session| {
                match session.protocol(moment.collection).await? {
                    Some(Protocol::Registry) => session.require_indexed(&moment).await?,
                    _ => drop(session.require(&moment, Permission::Metadata).await?),
                }
                session.note(ActivityKind::Edited, moment);
                // The same function in both protocols.
                Ok(moment.update(MomentEdit::Uri(new_uri)))
            })
            .await
    }
}
