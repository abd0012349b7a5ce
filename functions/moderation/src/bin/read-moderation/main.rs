//! `GET /moderation`: how often the operator took something out of sight.

use moderation::read_moderation::ReadModerationResponse;
use shared::{
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::artist::{ArtistTable, Moderation},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadModeration>().await
}

struct ReadModeration(Moderation);

impl Endpoint for ReadModeration {
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self(Moderation::new(ArtistTable::from_env(&config::aws().await)?.eventually_consistent())))
    }

    async fn handle(&self, _: &Request) -> Result<Response, ApiError> {
        let counts = self.0.counts().await?;
        Response::json(&ReadModerationResponse { decisions: counts.into_iter().map(Into::into).collect() })
    }
}
