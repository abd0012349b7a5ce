//! `GET /ipfs/{cid}`: a file that is kept here, or a range of it. A whole file that is too large for an answer is redirected
//! to the files' host, or to the bucket where there is none. With `?format=raw`: a single block, for IPFS nodes.

use std::time::Duration;

use media::{
    range::Range,
    read_content::{ReadContentPath, ReadContentQuery},
};
use shared::{
    api::{error::removed, read::Site},
    bucket::Bucket,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, StatusCode, json, serve},
    model::{Cid, FILES_POLICY, IMMUTABLE, disposition, served_type},
    store::artist::{ArtistTable, KeptContent, Media, StoredBlock, StoredContent},
};

/// Most bytes of an answer: in base64 they are less than the 6 MB that Lambda passes on.
const MAX_BYTES: u64 = 4 << 20;

/// How long a redirection to the bucket, which limits nobody, is good for. Clients follow it at once, and the bucket checks
/// the time when a download begins; ranges, which players ask for again and again, aren't redirected.
const REDIRECT: Duration = Duration::from_secs(5 * 60);

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ReadContent>().await
}

struct ReadContent {
    bucket: Bucket,
    media: Media,
    files: Option<String>,
    site: Site,
}

impl Endpoint for ReadContent {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        Ok(Self {
            bucket: Bucket::from_env(&aws)?,
            media: Media::new(ArtistTable::from_env(&aws)?),
            files: config::optional(config::variables::FILES_ADDRESS),
            site: Site::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let ReadContentPath { cid } = request.path_parameters().read()?;
        let ReadContentQuery { format } = request.query().read()?;
        if format.is_some() {
            return self.send_block(cid).await;
        }
        let content = self.stored(cid).await?;
        match Range::of(request.header("range"), content.size, MAX_BYTES) {
            Range::Impossible => {
                let body = json!({"status": "error", "message": format!("The file has {} bytes", content.size)});
                Response::stored(416, body.to_string())?.with("content-range", &format!("bytes */{}", content.size))
            }
            Range::Whole if content.size > MAX_BYTES => {
                let url = match &self.files {
                    Some(files) => format!("{files}/ipfs/{cid}"),
                    None => self.bucket.sign_read(&cid.object(), REDIRECT).await?,
                };
                let body = json!({"message": "The file is at location"});
                Response::stored(307, body.to_string())?.with("location", &url)
            }
            Range::Whole => self.send(cid, &content, StatusCode::OK, (0, content.size.saturating_sub(1))).await,
            Range::Part { first, last } => {
                let part = self.send(cid, &content, StatusCode::PARTIAL_CONTENT, (first, last)).await?;
                part.with("content-range", &format!("bytes {first}-{last}/{}", content.size))
            }
        }
    }
}

impl ReadContent {
    /// The file; 404 if it isn't here, 451 if the operator removed it (<https://www.rfc-editor.org/rfc/rfc7725>).
    async fn stored(&self, cid: Cid) -> Result<StoredContent, ApiError> {
        match self.media.content(cid).await? {
            Some(KeptContent::Stored(content)) => Ok(content),
            Some(KeptContent::Removed(reason)) => {
                let by = format!("<{}>; rel=\"blocked-by\"", self.site.endpoint("/moderation"));
                Err(removed(cid, reason).with("link", &by))
            }
            None => Err(missing(cid)),
        }
    }

    /// One block (<https://specs.ipfs.tech/http-gateways/trustless-gateway/>).
    async fn send_block(&self, cid: Cid) -> Result<Response, ApiError> {
        let block = match self.media.block(cid).await? {
            Some(StoredBlock::Node { block }) => block.into_vec(),
            Some(StoredBlock::Leaf { file, offset, size }) => self.bytes(file, (offset, offset + size - 1)).await?,
            None => {
                let whole = self.stored(cid).await?;
                if !cid.is_raw() {
                    return Err(missing(cid));
                }
                self.bytes(cid, (0, whole.size.saturating_sub(1))).await?
            }
        };
        Response::bytes(StatusCode::OK, "application/vnd.ipld.raw", block)?
            .with("cache-control", IMMUTABLE)?
            .with("content-disposition", &format!("attachment; filename=\"{cid}.bin\""))?
            .with("content-security-policy", FILES_POLICY)?
            .with("cross-origin-resource-policy", "cross-origin")?
            .with("x-content-type-options", "nosniff")
    }

    async fn bytes(&self, cid: Cid, (first, last): (u64, u64)) -> Result<Vec<u8>, ApiError> {
        let stream = self.bucket.read(&cid.object(), first, Some(last)).await?.ok_or_else(|| missing(cid))?;
        Ok(stream.collect().await.map_err(shared::bucket::BucketError::from)?.to_vec())
    }

    async fn send(
        &self,
        cid: Cid,
        content: &StoredContent,
        status: StatusCode,
        (first, last): (u64, u64),
    ) -> Result<Response, ApiError> {
        let bytes = self.bytes(cid, (first, last)).await?;
        Response::bytes(status, served_type(&content.mime), bytes)?
            .with("accept-ranges", "bytes")?
            .with("cache-control", IMMUTABLE)?
            .with("etag", &format!("\"{cid}\""))?
            .with("content-disposition", &disposition(cid, &content.mime))?
            .with("content-security-policy", FILES_POLICY)?
            .with("cross-origin-resource-policy", "cross-origin")?
            .with("x-content-type-options", "nosniff")
    }
}

fn missing(cid: Cid) -> ApiError {
    ApiError::not_found(format!("{cid} isn't stored here"))
}
