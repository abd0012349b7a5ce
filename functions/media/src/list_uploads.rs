//! Contract of `GET /uploads`.

use serde::Serialize;
use shared::{
    api::media::StoredMedia,
    clock,
    http::{ApiError, FromFields},
    model::{Address, ChainId, MetadataUri, PageLimit, Reason, TokenId, UploadId},
    store::{
        artist::{FileState, UploadedFile},
        chain::UriOwner,
    },
};
use utoipa::{IntoParams, ToSchema};

use crate::names::Names;

/// The page.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListUploadsQuery {
    /// Most files.
    #[param(default = 20, required = false)]
    pub limit: PageLimit,
    /// The last id of the page before; the newest files by default.
    pub before: Option<UploadId>,
}

#[derive(Serialize, ToSchema)]
pub struct ListUploadsResponse {
    /// The newest first.
    pub uploads: Vec<UploadedFileView>,
}

/// A file that the artist uploaded.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = UploadedFile)]
pub struct UploadedFileView {
    /// The upload that it came with.
    upload_id: UploadId,
    /// Its URI for metadata and moments.
    uri: MetadataUri,
    /// Where it is served.
    #[schema(format = "uri")]
    url: String,
    /// Its media type.
    #[schema(examples("image/png"))]
    content_type: String,
    /// In bytes.
    size: u64,
    /// When it was uploaded.
    #[schema(format = "date-time")]
    uploaded_at: String,
    /// Number of documents stored here that name it, up to 100.
    documents: usize,
    /// A moment that it belongs to.
    #[schema(required = true)]
    moment: Option<NamingMoment>,
    /// Why the operator removed it.
    #[schema(required = true)]
    removed: Option<Reason>,
}

/// A moment.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NamingMoment {
    /// Its collection's contract.
    collection_address: Address,
    /// Its token.
    token_id: TokenId,
    /// Its chain.
    chain_id: ChainId,
}

impl UploadedFileView {
    /// A file at the address of `media`, with what became of it and what names it.
    pub fn of(
        file: &UploadedFile,
        media: StoredMedia,
        state: Option<&FileState>,
        names: &Names,
    ) -> Result<Self, ApiError> {
        let StoredMedia { uri, url, content_type, size } = media;
        let moment = match names.owner {
            Some(UriOwner::Moment(place)) => Some(NamingMoment {
                collection_address: place.collection,
                token_id: place.token,
                chain_id: place.chain,
            }),
            Some(UriOwner::Other(_)) | None => None,
        };
        let uploaded_at = clock::iso_8601(file.at).map_err(ApiError::internal)?;
        let (documents, removed) = (names.documents.len(), state.and_then(|state| state.removed));
        Ok(Self { upload_id: file.upload, uri, url, content_type, size, uploaded_at, documents, moment, removed })
    }
}

/// List your files
///
/// Lists what you uploaded and didn't delete, newest first, with what names it here. A file that you upload twice is
/// listed once.
#[utoipa::path(
    get,
    path = "/uploads",
    tag = "Media",
    security(("token" = []), ("apiKey" = [])),
    params(ListUploadsQuery),
    responses((status = 200, description = "The page.", body = ListUploadsResponse, headers(
        ("link" = Option<String>, description = "`<?query>; rel=\"next\"` while there are more."),
    ))),
)]
pub fn list_uploads() {}
