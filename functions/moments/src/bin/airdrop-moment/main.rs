//! `POST /moment/airdrop`: mints tokens of a moment to recipients, in one transaction.

use alloy::{
    primitives::{Bytes, U256},
    sol_types::SolCall,
};
use moments::airdrop_moment::AirdropMomentRequest;
use shared::{
    api::transact::{TransactionService, WriteSession},
    chain::{contracts::native::Creator1155, protocol::permission::Permission, wallet::Call},
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{CheckedAddress, MomentRef, Scope},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<AirdropMoment>().await
}

struct AirdropMoment {
    service: TransactionService,
}

impl Endpoint for AirdropMoment {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { service: TransactionService::from_env().await? })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Publish).await?;
        let AirdropMomentRequest { moment, recipients } = request.json()?.read_for(&self.service)?;
        self.service
            .transact_once(request, caller, moment.chain, async |session| {
                session.require(&moment, Permission::Minter).await?;
                check_supply(session, &moment, recipients.len()).await?;
                let mint = |CheckedAddress(recipient): &CheckedAddress| Creator1155::adminMintCall {
                    recipient: (*recipient).into(),
                    tokenId: moment.token.into(),
                    quantity: U256::ONE,
                    data: Bytes::new(),
                };
                let mints = recipients.iter().map(|recipient| mint(recipient).abi_encode().into());
                let airdrop = Creator1155::multicallCall { data: mints.collect() };
                Ok(vec![Call::new(moment.collection.into(), &airdrop)])
            })
            .await
    }
}

/// Requires enough tokens for all recipients: the contract mints one at a time, and its error would count only the last.
async fn check_supply(session: &WriteSession<'_>, moment: &MomentRef, count: usize) -> Result<(), ApiError> {
    let info = Creator1155::getTokenInfoCall { tokenId: moment.token.into() };
    let info = session.node().read(moment.collection.into(), &info).await?;
    match info.map(|info| info.maxSupply.saturating_sub(info.totalMinted)) {
        Some(left) if left < U256::from(count) => Err(ApiError::unprocessable(format!(
            "Only {left} more of this moment can be minted, and there are {count} recipients"
        ))),
        _ => Ok(()),
    }
}
