//! `GET /.well-known/jwks.json`: the public keys of tokens (RFC 7517).

use shared::{
    auth::token::PublicKeys,
    config::StartError,
    http::{ApiError, Endpoint, Request, Response, serve},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<PublishKeySet>().await
}

struct PublishKeySet {
    keys: PublicKeys,
}

impl Endpoint for PublishKeySet {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self { keys: PublicKeys::from_env()? })
    }

    async fn handle(&self, _request: &Request) -> Result<Response, ApiError> {
        const SECONDS_TO_KEEP: u32 = 60 * 60;
        Ok(Response::json(self.keys.jwks())?.cacheable(SECONDS_TO_KEEP))
    }
}
