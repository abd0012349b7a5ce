//! `POST /moment/create`: creates a moment in an existing or a new collection, or in the artist's own.

#[cfg(test)]
mod description;

use shared::{
    api::{
        media::{MAX_METADATA_BYTES, MediaLibrary},
        publish::{CreateMomentRequest, Publication, Target, keep_metadata, own_collection},
        transact::TransactionService,
    },
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Creation, Scope},
    store::Table,
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let library = MediaLibrary::from_env(&aws, Table::artists(&aws)?)?;
    serve(CreateMoment { service: TransactionService::from_env().await?, library }).await
}

struct CreateMoment {
    service: TransactionService,
    library: MediaLibrary,
}

impl Endpoint for CreateMoment {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let mut body: CreateMomentRequest = request.json_of(MAX_METADATA_BYTES)?.read_for(&self.service)?;
        keep_metadata(std::slice::from_mut(&mut body.token), &self.library, request, caller.artist).await?;
        let target = match body.contract.take() {
            Some(contract) => Target::Named(contract),
            None => {
                let whose = (caller.artist, body.chain_id);
                Target::Own(own_collection(self.service.artists(), &self.library, request, whose).await?)
            }
        };
        let (publication, creation) = (Publication::of_moment(body, target), Creation::Moment);
        self.service
            .transact(request, caller, publication.chain, creation, async |session| publication.plan(session).await)
            .await
    }
}
