//! `GET /artists/{address}`: what an artist shows of themselves, by any of their wallets.

#[cfg(test)]
mod description;

use shared::{
    config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::Address,
    profile::ArtistResponse,
    store::{Artists, Table},
    telemetry,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(ReadArtist { artists: Artists::new(Table::artists(&config::aws().await)?) }).await
}

struct ReadArtist {
    artists: Artists,
}

impl Endpoint for ReadArtist {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let address = parse(request)?;
        let profile = self.artists.profile_of(address).await?;
        let profile = profile.ok_or_else(|| ApiError::not_found(format!("{address} is no artist's wallet")))?;
        Response::public(&ArtistResponse::of(&profile)?)
    }
}

/// `address`: any wallet of the artist.
fn parse(request: &Request) -> Result<Address, ApiError> {
    let mut path = request.path_parameters();
    let address = path.required("address");
    path.finish(|| address)
}
