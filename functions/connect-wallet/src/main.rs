//! `POST /artists/wallets`: connects a wallet to the caller, who proves that it is theirs by signing a message of
//! `POST /artists/wallets/challenge` with it.

#[cfg(test)]
mod description;

use shared::{
    auth::{
        caller::CallerAuthenticator,
        wallet_proof::{Message, WalletSignature},
    },
    chain::{contract_signature, node::Node, node::NodeUrls},
    clock, config,
    http::{ApiError, Endpoint, FieldError, Request, Response, StartError, serve},
    model::{Wallet, WalletType},
    profile::{WalletsResponse, no_artist},
    store::{Artists, Challenges, MAX_WALLETS, StoredChallenge, Table, WalletRefusal},
    telemetry,
    writing::answer_node_error,
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ConnectWallet::from_env().await?).await
}

struct ConnectWallet {
    callers: CallerAuthenticator,
    challenges: Challenges,
    artists: Artists,
    nodes: NodeUrls,
}

/// The body of the request. The response is the artist's wallets: `{wallets: [{address, type}]}`.
#[derive(ToSchema)]
struct ConnectWalletRequest {
    /// What was handed out, word for word.
    #[schema(value_type = String, min_length = 1, max_length = 2000)]
    message: Message,
    /// The wallet's signature of it (`personal_sign`), or what a contract wallet takes for one.
    #[schema(value_type = String, pattern = "^0x([0-9a-fA-F]{2}){1,4096}$")]
    signature: WalletSignature,
}

impl ConnectWallet {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = Table::secrets(&aws)?;
        Ok(Self {
            callers: CallerAuthenticator::from_env(secrets.clone())?,
            challenges: Challenges::new(secrets),
            artists: Artists::new(Table::artists(&aws)?),
            nodes: NodeUrls::from_env()?,
        })
    }

    /// The wallet that the challenge is for, if it signed. A contract is only asked where no key did.
    async fn prove(
        &self,
        challenge: &StoredChallenge,
        message: &Message,
        signature: &WalletSignature,
    ) -> Result<Wallet, ApiError> {
        let address = challenge.wallet;
        if signature.is_of_key(address, message) {
            return Ok(Wallet { address, r#type: WalletType::External });
        }
        let node = Node::for_requests(&self.nodes, challenge.chain)?;
        let verdict = contract_signature::is_accepted(&node, address.into(), message.hash(), signature.as_bytes());
        if verdict.await.map_err(answer_node_error)? {
            return Ok(Wallet { address, r#type: WalletType::Smart });
        }
        Err(wrong(
            "signature",
            format!(
                "is not of {address} over this message; a contract wallet must be deployed on chain {}",
                challenge.chain
            ),
        ))
    }
}

impl Endpoint for ConnectWallet {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let artist = self.callers.authenticate(request, now).await?;
        let ConnectWalletRequest { message, signature } = ConnectWalletRequest::parse(request)?;
        let challenge = self.challenges.count_try(message.as_str(), artist, now.as_secs()).await?;
        let challenge = challenge.ok_or_else(unknown_message)?;
        let wallet = self.prove(&challenge, &message, &signature).await?;
        let connected = self.artists.connect_wallet(wallet, &challenge, &self.challenges, now.as_secs()).await?;
        Response::json(&WalletsResponse::of(&connected.map_err(refused)?))
    }
}

impl ConnectWalletRequest {
    fn parse(request: &Request) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let message = fields.required("message");
        let signature = fields.required("signature");
        fields.finish(|| Some(Self { message: message?, signature: signature? }))
    }
}

fn refused(refusal: WalletRefusal) -> ApiError {
    match refusal {
        WalletRefusal::Taken => ApiError::conflict("The wallet is another artist's: they must disconnect it first"),
        WalletRefusal::TooMany => {
            ApiError::conflict(format!("You have {MAX_WALLETS} wallets already: disconnect one first"))
        }
        WalletRefusal::Used => unknown_message(),
        WalletRefusal::Gone | WalletRefusal::Unknown | WalletRefusal::Embedded => no_artist(),
    }
}

/// One answer for every reason: whose a message is, is nobody else's business.
fn unknown_message() -> ApiError {
    wrong(
        "message",
        "is none that you were given, has expired or was used: get a new one from POST /artists/wallets/challenge"
            .into(),
    )
}

fn wrong(field: &str, message: String) -> ApiError {
    ApiError::invalid_fields(vec![FieldError { field: field.to_owned(), message }])
}
