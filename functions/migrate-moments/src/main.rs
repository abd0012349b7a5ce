//! `POST /moment/migrate`: makes the artist's external wallet an admin of every collection that their embedded wallet is
//! an admin of, so that they can leave the service with all that they made. No token moves.

#[cfg(test)]
mod description;
mod grants;

use shared::{
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::{Address, ArtistId, ChainId, WalletType},
    store::{Artists, Moments, Table},
    telemetry,
    writing::{Begun, Wording, Writers},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let aws = config::aws().await;
    let (artists, moments) = (Artists::new(Table::artists(&aws)?), Moments::new(Table::chain(&aws)?));
    serve(MigrateMoments { writers: Writers::from_env().await?, artists, moments }).await
}

struct MigrateMoments {
    writers: Writers,
    artists: Artists,
    moments: Moments,
}

impl Endpoint for MigrateMoments {
    /// The body of the request is `{chainId?}`. The response is `{message: "success", results: [{hash, chainId}]}` with
    /// what was sent; whoever asks until nothing was has migrated everything.
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let artist = self.writers.authenticate(request).await?;
        let chain = parse(request, &self.writers)?;
        let writing = match self.writers.begin(artist, chain, request, Wording::Each).await? {
            Begun::Fresh(writing) => writing,
            Begun::Replayed(response) => return Ok(response),
        };
        let wallet = self.external_wallet(artist).await?;
        let batches = grants::missing(&self.moments, &writing, wallet).await?;
        writing.send_each(batches).await
    }
}

impl MigrateMoments {
    /// The wallet that the artist connected first of those that a key controls, on whichever chain: what is at a contract
    /// wallet's address on another chain may be somebody else's.
    async fn external_wallet(&self, artist: ArtistId) -> Result<Address, ApiError> {
        let profile = self.artists.profile(artist).await?;
        let wallets = profile.map(|profile| profile.wallets).unwrap_or_default();
        let external = wallets.into_iter().find(|wallet| wallet.r#type == WalletType::External);
        external.map(|wallet| wallet.address).ok_or_else(|| {
            ApiError::conflict(
                "You have no external wallet to migrate to: connect one with POST /artists/wallets/challenge \
                 and POST /artists/wallets",
            )
        })
    }
}

fn parse(request: &Request, writers: &Writers) -> Result<ChainId, ApiError> {
    let mut fields = request.json_or_empty()?;
    let chain = writers.chain(&mut fields);
    fields.finish(|| chain)
}
