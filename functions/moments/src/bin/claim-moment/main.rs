//! `POST /claims/{token}`: gives whoever has the link a token of its moment, at the expense of its artist.

use moments::claim_moment::{ClaimMomentRequest, ClaimMomentResponse, ClaimPath};
use shared::{
    api::{
        transact::{Claim, Claimer, TransactionService},
        wallet_verifier::WalletVerifier,
    },
    auth::wallet_proof::{Message, WalletSignature},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::{Scope, WalletType},
    store::{
        artist::{ClaimPlace, WalletOwner},
        secret::{Challenges, SecretTable},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ClaimMoment>().await
}

struct ClaimMoment {
    service: TransactionService,
    challenges: Challenges,
    verifier: WalletVerifier,
}

impl Endpoint for ClaimMoment {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            service: TransactionService::from_env().await?,
            challenges: Challenges::new(SecretTable::from_env(&aws)?),
            verifier: WalletVerifier::from_env(&aws).await?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ClaimPath { token } = request.path_parameters().read()?;
        let ClaimMomentRequest { message, signature } = request.json_or_empty()?.read()?;
        let claim = match message.zip(signature) {
            Some(proof) => {
                self.service.count_write(request).await?;
                let place = self.service.claim_place(&token).await?;
                self.claim_with_wallet(request, &place, &proof).await?
            }
            None => {
                let caller = self.service.authenticate(request, Scope::Collect).await?;
                let place = self.service.claim_place(&token).await?;
                self.service.claim(request, &place, self.service.claimer(&place, caller.artist)?).await?
            }
        };
        let (answer, is_done) = ClaimMomentResponse::of(&claim);
        Response::json(&answer)?.with_status(if is_done { 200 } else { 202 })
    }
}

impl ClaimMoment {
    /// Two writes and up to two reads besides those of the claim, and a call to the chain for a contract wallet.
    async fn claim_with_wallet(
        &self,
        request: &Request,
        place: &ClaimPlace,
        (message, signature): &(Message, WalletSignature),
    ) -> Result<Claim, ApiError> {
        let now = clock::now()?.as_secs();
        let challenge = self.challenges.count_try(message.as_str(), None, now).await?.ok_or_else(unknown_message)?;
        let wallet = self.verifier.verify(&challenge, message, signature).await?;
        let wallet = wallet.map_err(|reason| ApiError::unauthorized(format!("The signature {reason}")))?;
        if wallet.r#type == WalletType::Smart && challenge.chain != place.chain_id {
            let words =
                format!("A contract wallet must prove itself on the moment's chain, which is {}", place.chain_id);
            return Err(ApiError::unauthorized(words));
        }
        let person = match self.service.artists().find_by_wallet(wallet, challenge.chain, now).await? {
            WalletOwner::Artist { artist, .. } => artist.embedded_wallet,
            WalletOwner::Other | WalletOwner::Nobody => wallet.address,
        };
        let claim = self.service.claim(request, place, Claimer { person, account: wallet.address }).await?;
        // Used up last, so that what is refused costs a try, not the message. Who was faster claimed the same.
        self.challenges.redeem(&challenge).await?;
        Ok(claim)
    }
}

fn unknown_message() -> ApiError {
    ApiError::unauthorized(
        "The message was not given out for a sign-in, has expired or was used: get a new one from \
         POST /oauth/wallet/challenge",
    )
}
