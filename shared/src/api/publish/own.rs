//! The collection of artists who name none.

use crate::{
    api::{
        error::no_artist,
        media::{MediaLibrary, MetadataRequest},
    },
    http::{ApiError, Request},
    model::{ArtistId, ChainId, OwnCollection, Title},
    store::artist::Artists,
};

/// Name of the collection of artists without a name.
const UNNAMED: &str = "Moments";

/// The artist's own collection on a chain. The first time, its metadata is stored and it is noted: two requests at once
/// get the same one. One read; at most four reads and three writes the first time.
pub async fn own_collection(
    artists: &Artists,
    library: &MediaLibrary,
    request: &Request,
    (artist, chain): (ArtistId, ChainId),
) -> Result<OwnCollection, ApiError> {
    if let Some(known) = artists.own_collection(artist, chain).await? {
        return Ok(known);
    }
    let metadata = metadata(artists, artist).await?;
    let name = metadata.name.0.clone();
    let uri = library.keep_metadata(request, artist, metadata).await?.uri;
    Ok(artists.claim_own_collection(artist, chain, OwnCollection { name, uri }).await?)
}

/// The same; nothing is stored. At most two reads.
pub async fn expected_own_collection(
    artists: &Artists,
    (artist, chain): (ArtistId, ChainId),
) -> Result<OwnCollection, ApiError> {
    if let Some(known) = artists.own_collection(artist, chain).await? {
        return Ok(known);
    }
    let metadata = metadata(artists, artist).await?;
    let uri = metadata.document()?.uri().map_err(ApiError::internal)?;
    Ok(OwnCollection { name: metadata.name.0, uri })
}

async fn metadata(artists: &Artists, artist: ArtistId) -> Result<MetadataRequest, ApiError> {
    let name = artists.profile(artist).await?.ok_or_else(no_artist)?.username;
    Ok(MetadataRequest::titled(Title(if name.is_empty() { UNNAMED.to_owned() } else { name })))
}
