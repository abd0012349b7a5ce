//! `POST /collections`: creates a collection. 202 with the hash alone while its transaction isn't mined.

#[cfg(test)]
mod description;

use shared::{
    api::{
        publish::{CreateCollectionRequest, CreatedCollection, Publication},
        transact::{ReplyFormat, TransactionService},
    },
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(CreateCollection { service: TransactionService::from_env().await? }).await
}

struct CreateCollection {
    service: TransactionService,
}

impl Endpoint for CreateCollection {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.service.authenticate(request).await?;
        let body: CreateCollectionRequest = request.json()?.read_for(&self.service)?;
        let (publication, format) = (Publication::from(body), ReplyFormat::Receipt(CreatedCollection::find));
        self.service
            .transact(request, artist, publication.chain, format, async |session| publication.calls(session).await)
            .await
    }
}
