//! `PATCH /collections/{network}/{contract}`: gives a collection another name and metadata URI.

#[cfg(test)]
mod description;

use shared::{
    chain::{account::Call, contracts::Creator1155, permission::Permission},
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, ChainId, CollectionName, MetadataUri},
    telemetry,
    writing::{Begun, Wording, Writers},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(UpdateCollection { writers: Writers::from_env().await? }).await
}

struct UpdateCollection {
    writers: Writers,
}

/// The request. The response is the transaction: `{hash, chainId}`.
#[derive(ToSchema)]
struct UpdateCollectionRequest {
    /// `network` in the path: `eip155:<chain id>`.
    #[schema(ignore)]
    chain: ChainId,
    /// `contract` in the path: `erc1155:<address>`.
    #[schema(ignore)]
    collection: Address,
    /// Where the metadata is from now on.
    #[schema(rename = "newUri")]
    uri: MetadataUri,
    /// What it is called from now on.
    #[schema(rename = "newCollectionName")]
    name: CollectionName,
}

impl Endpoint for UpdateCollection {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let UpdateCollectionRequest { chain, collection, uri, name } =
            UpdateCollectionRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        writing.require_on_collection(collection, Permission::Metadata).await?;
        let update = Creator1155::updateContractMetadataCall { newURI: uri.to_string(), newName: name.0 };
        writing.send(vec![Call::new(collection.into(), &update)]).await
    }
}

impl UpdateCollectionRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let collection = writers.collection(&mut request.path_parameters().beside(&fields));
        let uri = fields.required("newUri");
        let name = fields.required("newCollectionName");
        fields.finish(|| {
            let (chain, collection) = collection?;
            Some(Self { chain, collection, uri: uri?, name: name? })
        })
    }
}
