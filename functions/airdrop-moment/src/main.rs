//! `POST /moment/airdrop`: gives tokens of a moment away, all in one transaction.

#[cfg(test)]
mod description;

use alloy::{
    primitives::{Bytes, U256},
    sol_types::SolCall,
};
use shared::{
    chain::{account::Call, contracts::Creator1155, permission::Permission},
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{CheckedAddress, MomentRef},
    telemetry,
    writing::{Begun, Wording, Writers, Writing, answer_node_error},
};
use utoipa::ToSchema;

/// Most recipients of one airdrop.
const MAX_RECIPIENTS: usize = 200;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(AirdropMoment { writers: Writers::from_env().await? }).await
}

struct AirdropMoment {
    writers: Writers,
}

/// The body of the request. The response is the transaction: `{hash, chainId}`.
#[derive(ToSchema)]
struct AirdropMomentRequest {
    /// Which moment.
    moment: MomentRef,
    /// Who gets a token; one who is named twice gets two.
    #[schema(min_items = 1, max_items = 200)]
    recipients: Vec<CheckedAddress>,
}

impl Endpoint for AirdropMoment {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let AirdropMomentRequest { moment, recipients } = AirdropMomentRequest::parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, moment.chain, request, Wording::Hash).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        writing.require(&moment, Permission::Minter).await?;
        check_supply(&writing, &moment, recipients.len()).await?;
        let mint = |CheckedAddress(recipient): CheckedAddress| Creator1155::adminMintCall {
            recipient: recipient.into(),
            tokenId: moment.token.into(),
            quantity: U256::ONE,
            data: Bytes::new(),
        };
        let mints = recipients.into_iter().map(|recipient| mint(recipient).abi_encode().into());
        let airdrop = Creator1155::multicallCall { data: mints.collect() };
        writing.send(vec![Call::new(moment.collection.into(), &airdrop)]).await
    }
}

impl AirdropMomentRequest {
    fn parse(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let moment = writers.moment(&mut fields);
        let recipients = fields.list("recipients", 1..=MAX_RECIPIENTS);
        fields.finish(|| Some(Self { moment: moment?, recipients: recipients? }))
    }
}

/// Makes sure that there are enough tokens for everybody: the contract mints one at a time, and would speak of the one
/// that is too many.
async fn check_supply(writing: &Writing<'_>, moment: &MomentRef, count: usize) -> Result<(), ApiError> {
    let info = Creator1155::getTokenInfoCall { tokenId: moment.token.into() };
    let info = writing.node().read(moment.collection.into(), &info).await.map_err(answer_node_error)?;
    match info.map(|info| info.maxSupply.saturating_sub(info.totalMinted)) {
        Some(left) if left < U256::from(count) => Err(ApiError::unprocessable(format!(
            "Only {left} more of this moment can be minted, and there are {count} recipients"
        ))),
        _ => Ok(()),
    }
}
