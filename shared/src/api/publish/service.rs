//! Requests that create moments, and bring along what is stored here first.

use super::{
    own::own_collection,
    publication::{Publication, Target},
    request::{CreateMomentRequest, CreateMomentsRequest, CreateWritingRequest},
    token::RequestedMoment,
};
use crate::{
    api::{
        error::require_active,
        media::{Document, MediaLibrary, MetadataRequest},
        transact::TransactionService,
    },
    config::{self, StartError},
    http::{ApiError, FromFields, Request, Response},
    model::{ArtistId, ChainId, Content, Creation, LongText, NewMoment, Scope, TargetCollection},
    store::artist::ArtistTable,
};

/// Creates moments for artists.
pub struct PublishingService {
    transactions: TransactionService,
    library: MediaLibrary,
}

/// A request that creates moments.
pub trait Publishing: FromFields {
    /// What it creates.
    const CREATION: Creation;

    /// Stores what it brings along, for `artist`.
    fn into_publication(
        self,
        service: &PublishingService,
        request: &Request,
        artist: ArtistId,
    ) -> impl Future<Output = Result<Publication, ApiError>>;
}

impl PublishingService {
    /// Reads what [`TransactionService`] and [`MediaLibrary`] read.
    pub async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let library = MediaLibrary::from_env(&aws, ArtistTable::from_env(&aws)?)?;
        Ok(Self { transactions: TransactionService::from_env().await?, library })
    }

    /// Creates the moments, and answers as [`TransactionService::transact`] does.
    pub async fn publish<P: Publishing>(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.transactions.authenticate(request, Scope::Publish).await?;
        let body: P = request.large_json()?.read_for(&self.transactions)?;
        // Before anything is stored.
        require_active(self.transactions.artists(), caller.artist).await?;
        let publication = body.into_publication(self, request, caller.artist).await?;
        self.transactions
            .transact(request, caller, publication.chain, P::CREATION, async |session| publication.plan(session).await)
            .await
    }

    /// The collection that a request names, or the artist's own one.
    async fn target(
        &self,
        contract: Option<TargetCollection>,
        request: &Request,
        whose: (ArtistId, ChainId),
    ) -> Result<Target, ApiError> {
        match contract {
            Some(contract) => Ok(Target::Named(contract)),
            None => {
                let own = own_collection(self.transactions.artists(), &self.library, request, whose).await?;
                Ok(Target::Own(own))
            }
        }
    }
}

impl Publishing for CreateMomentRequest {
    const CREATION: Creation = Creation::Moment;

    async fn into_publication(
        mut self,
        service: &PublishingService,
        request: &Request,
        artist: ArtistId,
    ) -> Result<Publication, ApiError> {
        keep_metadata(&mut self.token, &service.library, request, artist).await?;
        let target = service.target(self.contract.take(), request, (artist, self.chain_id)).await?;
        Ok(Publication::of_moment(self, target))
    }
}

impl Publishing for CreateMomentsRequest {
    const CREATION: Creation = Creation::Moments;

    async fn into_publication(
        self,
        service: &PublishingService,
        request: &Request,
        artist: ArtistId,
    ) -> Result<Publication, ApiError> {
        let Self { contract, mut tokens, account, splits, chain_id } = self;
        for token in &mut tokens {
            keep_metadata(token, &service.library, request, artist).await?;
        }
        let moments: Vec<NewMoment> = tokens.into_iter().map(|token| token.moment).collect();
        let target = service.target(contract, request, (artist, chain_id)).await?;
        Ok(Publication::new(chain_id, target, moments, splits, account))
    }
}

impl Publishing for CreateWritingRequest {
    const CREATION: Creation = Creation::Moment;

    async fn into_publication(
        self,
        service: &PublishingService,
        request: &Request,
        artist: ArtistId,
    ) -> Result<Publication, ApiError> {
        let Self { contract, title, text, token, account, splits, chain_id } = self;
        let LongText(text) = text
            .or_else(|| token.content.clone())
            .ok_or_else(|| ApiError::invalid_field("text", "is required, or token.tokenContent in its place"))?;
        let document = Document { mime: "text/plain; charset=utf-8", content: text.into_bytes() };
        let uri = service.library.keep(request, artist, document).await?.uri.to_string();
        let content = Some(Content { mime: "text/plain".to_owned(), uri });
        let metadata = MetadataRequest { content, ..MetadataRequest::titled(title) };
        let uri = service.library.keep_metadata(request, artist, metadata).await?.uri;
        let target = service.target(contract, request, (artist, chain_id)).await?;
        Ok(Publication::new(chain_id, target, vec![token.moment(uri)], splits, account))
    }
}

/// Stores the metadata that a requested moment brings, and gives it its URI.
async fn keep_metadata(
    RequestedMoment { moment, metadata }: &mut RequestedMoment,
    library: &MediaLibrary,
    request: &Request,
    artist: ArtistId,
) -> Result<(), ApiError> {
    if let Some(metadata) = metadata.take() {
        moment.uri = library.keep_metadata(request, artist, metadata).await?.uri;
        return Ok(());
    }
    library.refuse_removed(moment.uri.as_str()).await
}
