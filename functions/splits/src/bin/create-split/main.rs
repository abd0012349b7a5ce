//! `POST /splits`: creates a split, without anything that pays to it yet.

use shared::{
    api::{
        publish::{CreateSplitRequest, CreatedSplit, locate_split},
        transact::TransactionService,
    },
    chain::wallet::Call,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Creation, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateSplit>().await
}

struct CreateSplit {
    service: TransactionService,
}

impl Endpoint for CreateSplit {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let CreateSplitRequest { splits, chain_id } = request.json()?.read_for(&self.service)?;
        let mut there = None;
        let answer = self
            .service
            .transact(request, caller, chain_id, Creation::Split, async |session| {
                let (chain, split) = (session.chain(), splits.0.as_ref());
                let located = locate_split(chain, session.node(), split, session.account()).await?;
                let creation = located.as_ref().and_then(|located| located.creation.as_ref());
                let creation = creation.map(|creation| Call::new(chain.addresses.split_factory, creation));
                let Some(creation) = creation else {
                    there = located.map(|located| located.address);
                    return Err(ApiError::conflict("The split is there already"));
                };
                Ok(vec![creation])
            })
            .await;
        match there {
            Some(address) => Response::json(&CreatedSplit { split_address: address.into(), chain_id, hash: None }),
            None => answer,
        }
    }
}
