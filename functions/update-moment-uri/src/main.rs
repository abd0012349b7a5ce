//! `POST /registry/metadata/moment`: gives a moment another metadata URI.

#[cfg(test)]
mod description;

use shared::{
    chain::{account::Call, contracts::Creator1155, permission::Permission},
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{MetadataUri, MomentRef},
    telemetry,
    writing::{Begun, Wording, Writers},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(UpdateMomentUri { writers: Writers::from_env().await? }).await
}

struct UpdateMomentUri {
    writers: Writers,
}

/// The body of the request. The response is the transaction: `{hash, chainId}`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
struct UpdateMomentUriRequest {
    /// Which moment.
    moment: MomentRef,
    /// Where the metadata is from now on.
    new_uri: MetadataUri,
}

impl Endpoint for UpdateMomentUri {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let UpdateMomentUriRequest { moment, new_uri } = UpdateMomentUriRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, moment.chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        writing.require(&moment, Permission::Metadata).await?;
        let update =
            Creator1155::updateTokenURICall { tokenId: moment.token.into(), newURI: new_uri.as_str().to_owned() };
        writing.send(vec![Call::new(moment.collection.into(), &update)]).await
    }
}

impl UpdateMomentUriRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let moment = writers.moment(&mut fields);
        let new_uri = fields.required("newUri");
        fields.finish(|| Some(Self { moment: moment?, new_uri: new_uri? }))
    }
}
