//! `POST /moment/create/simulate`: simulates `POST /moment/create`; nothing is sent or stored.

use moments::simulate_moment::SimulateMomentResponse;
use shared::{
    api::{
        publish::{CreateMomentRequest, Publication, Target, expected_own_collection},
        transact::TransactionService,
    },
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Scope,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<SimulateMoment>().await
}

struct SimulateMoment {
    service: TransactionService,
}

impl Endpoint for SimulateMoment {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let mut body: CreateMomentRequest = request.large_json()?.read_for(&self.service)?;
        let target = match body.contract.take() {
            Some(contract) => Target::Named(contract),
            None => {
                let whose = (caller.artist, body.chain_id);
                Target::Own(expected_own_collection(self.service.artists(), whose).await?)
            }
        };
        let publication = Publication::of_moment(body, target);
        let gas = self
            .service
            .estimate(request, caller, publication.chain, async |session| publication.plan(session).await)
            .await?;
        Response::json(&SimulateMomentResponse { success: true, gas })
    }
}
