//! `POST /moment/create/prepare`: what a wallet of anybody sends to create a moment.

use alloy::primitives::U256;
use moments::prepare_moment::PrepareMomentRequest;
use shared::{
    api::{
        cost::Cost,
        error::no_collection,
        prepare::CallPreparer,
        publish::{Splits, WalletPublication},
    },
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, TargetCollection},
    store::chain::{ChainTable, Moments},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<PrepareMoment>().await
}

struct PrepareMoment {
    moments: Moments,
    preparer: CallPreparer,
}

impl Endpoint for PrepareMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let moments = Moments::new(ChainTable::from_env(&aws)?.eventually_consistent());
        Ok(Self { moments, preparer: CallPreparer::from_env(&aws).await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let body: PrepareMomentRequest = request.json()?.read_for(&self.preparer)?;
        let PrepareMomentRequest { contract, token, account, splits: Splits(split), chain_id } = body;
        self.preparer.admit(request).await?;
        if let TargetCollection::Existing(address) = contract {
            // Only what a known factory made: its index is what says so.
            let known = self.moments.collection(chain_id, address).await?;
            known.ok_or_else(|| no_collection(address))?;
        }
        let CheckedAddress(account) = account;
        let sender = self.preparer.sender(chain_id, account)?;
        let publication = WalletPublication { target: contract, moment: token, split, account };
        let calls = publication.calls(sender.chain, sender.node).await?;
        let free = Cost { currency: sender.chain.native_currency(), amount: U256::ZERO };
        Response::json(&sender.prepare(free, None, calls).await?)
    }
}
