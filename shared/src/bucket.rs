//! The media bucket. Clients write to it through signed URLs, each good for one part of one upload. The service joins the
//! parts, and files what it takes under its CID, where it is served from: nobody can change it after that.

use std::time::Duration;

use aws_sdk_s3::{
    Client,
    config::{Builder, RequestChecksumCalculation, ResponseChecksumValidation},
    error::{BuildError, ProvideErrorMetadata, SdkError},
    presigning::{PresigningConfig, PresigningConfigError},
    primitives::{ByteStream, ByteStreamError},
    types::{CompletedMultipartUpload, CompletedPart, MetadataDirective, TaggingDirective},
};
use futures::{StreamExt as _, TryStreamExt as _, stream};

use crate::{
    aws::Dispatch,
    config::{self, ConfigError},
    model::{Cid, IMMUTABLE, UploadId, disposition, served_type},
    telemetry::trace::AwsCalls,
};

/// Tag of objects that are not in use yet: the bucket deletes them after two days.
const UNFINISHED: &str = "state=unfinished";

/// Bytes that S3 copies at once. A larger object is copied in parts, several at a time: one copy of 2 GiB would take longer
/// than a request.
const COPIED_AT_ONCE: u64 = 64 << 20;

/// Parts that are copied at a time.
const COPIES: usize = 16;

/// A failed operation of S3.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// The call failed.
    #[error("S3 call failed")]
    Call(#[source] Box<aws_sdk_s3::Error>),
    /// A call can't be made.
    #[error("S3 call can't be made")]
    Request(#[from] BuildError),
    /// A URL can't be signed.
    #[error("S3 URL can't be signed")]
    Signing(#[from] PresigningConfigError),
    /// The content ended early.
    #[error("S3 content ended early")]
    Content(#[from] ByteStreamError),
    /// The answer lacks a part, which is named.
    #[error("S3 answered without {0}")]
    Answer(&'static str),
}

impl<E> From<SdkError<E>> for BucketError
where
    aws_sdk_s3::Error: From<SdkError<E>>,
{
    fn from(error: SdkError<E>) -> Self {
        Self::Call(Box::new(error.into()))
    }
}

/// A part of an upload that S3 has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedPart {
    /// From 1.
    pub number: u32,
    /// In bytes.
    pub size: u64,
    tag: String,
}

/// The media bucket.
#[derive(Clone)]
pub struct Bucket {
    client: Client,
    name: String,
}

impl Bucket {
    /// The bucket that `MEDIA_BUCKET` names.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        Ok(Self::new(aws, config::required(config::variables::MEDIA_BUCKET)?))
    }

    /// The bucket with this name.
    pub fn new(aws: &aws_config::SdkConfig, name: impl Into<String>) -> Self {
        // A checksum in a signed URL would be that of no content.
        let settings = Builder::from(aws)
            .interceptor(AwsCalls)
            .request_checksum_calculation(RequestChecksumCalculation::WhenRequired)
            .response_checksum_validation(ResponseChecksumValidation::WhenRequired);
        Self { client: Client::from_conf(settings.build()), name: name.into() }
    }

    /// Where its signed URLs lead: scheme, host and port. No call.
    pub async fn origin(&self) -> Result<String, BucketError> {
        let url = self.sign_read("-", Duration::from_secs(60)).await?;
        let end = url.match_indices('/').nth(2).map_or(url.len(), |(end, _)| end);
        Ok(url[..end].to_owned())
    }

    /// Begins an upload, and returns S3's id of it.
    pub async fn begin(&self, key: &str) -> Result<String, BucketError> {
        let call = self.client.create_multipart_upload().bucket(&self.name).key(key).tagging(UNFINISHED);
        call.dispatch().await?.upload_id.ok_or(BucketError::Answer("an upload's id"))
    }

    /// A URL to `PUT` a part of exactly `size` bytes to. No call.
    pub async fn sign_part(
        &self,
        key: &str,
        upload: &str,
        number: u32,
        size: u64,
        lifetime: Duration,
    ) -> Result<String, BucketError> {
        let call = self.client.upload_part().bucket(&self.name).key(key).upload_id(upload);
        let call = call.part_number(i32::try_from(number).unwrap_or(i32::MAX));
        let call = call.content_length(i64::try_from(size).unwrap_or(i64::MAX));
        let signed = call.presigned(PresigningConfig::expires_in(lifetime)?).await?;
        Ok(signed.uri().to_owned())
    }

    /// The parts of an upload; `None` if it is joined, given up or expired.
    pub async fn parts(&self, key: &str, upload: &str) -> Result<Option<Vec<UploadedPart>>, BucketError> {
        let call = self.client.list_parts().bucket(&self.name).key(key).upload_id(upload);
        let Some(answer) = unless_missing(call.dispatch().await)? else { return Ok(None) };
        let part = |part: aws_sdk_s3::types::Part| {
            Some(UploadedPart {
                number: u32::try_from(part.part_number?).ok()?,
                size: u64::try_from(part.size?).ok()?,
                tag: part.e_tag?,
            })
        };
        let parts = answer.parts.unwrap_or_default().into_iter().map(part);
        parts.collect::<Option<_>>().map(Some).ok_or(BucketError::Answer("a part's number, size and tag"))
    }

    /// Makes the object of all parts.
    pub async fn join(&self, key: &str, upload: &str, parts: Vec<UploadedPart>) -> Result<(), BucketError> {
        let part = |UploadedPart { number, tag, .. }: UploadedPart| {
            CompletedPart::builder().part_number(i32::try_from(number).unwrap_or(i32::MAX)).e_tag(tag).build()
        };
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts.into_iter().map(part).collect()));
        let call = self.client.complete_multipart_upload().bucket(&self.name).key(key).upload_id(upload);
        // A second call at the same time finds the upload gone: it is joined.
        unless_missing(call.multipart_upload(parts.build()).dispatch().await)?;
        Ok(())
    }

    /// Files a joined upload of `size` bytes under its CID, unless the file is there; `false` if the upload isn't.
    pub async fn file(&self, upload: UploadId, cid: Cid, mime: &str, size: u64) -> Result<bool, BucketError> {
        let source = format!("{}/{}", self.name, upload.object());
        if size > COPIED_AT_ONCE {
            return self.file_in_parts(&source, cid, mime, size).await;
        }
        let call = self.client.copy_object().bucket(&self.name).key(cid.object()).copy_source(source);
        let call = call.metadata_directive(MetadataDirective::Replace).tagging_directive(TaggingDirective::Replace);
        let call =
            call.content_type(served_type(mime)).content_disposition(disposition(cid, mime)).cache_control(IMMUTABLE);
        is_there(call.if_none_match("*").dispatch().await)
    }

    async fn file_in_parts(&self, source: &str, cid: Cid, mime: &str, size: u64) -> Result<bool, BucketError> {
        let key = cid.object();
        let call = self.client.create_multipart_upload().bucket(&self.name).key(&key);
        let call = call.content_type(mime).content_disposition(disposition(cid, mime)).cache_control(IMMUTABLE);
        let multipart = call.dispatch().await?.upload_id.ok_or(BucketError::Answer("an upload's id"))?;
        let parts = (0..size.div_ceil(COPIED_AT_ONCE)).map(|part| {
            let (first, number) = (part * COPIED_AT_ONCE, i32::try_from(part + 1).unwrap_or(i32::MAX));
            let range = format!("bytes={first}-{}", (first + COPIED_AT_ONCE).min(size) - 1);
            let call = self.client.upload_part_copy().bucket(&self.name).key(&key).upload_id(&multipart);
            let call = call.part_number(number).copy_source(source).copy_source_range(range);
            async move {
                let Some(copied) = unless_missing(call.dispatch().await)? else { return Ok(None) };
                let tag = copied.copy_part_result.and_then(|part| part.e_tag);
                let tag = tag.ok_or(BucketError::Answer("a part's tag"))?;
                Ok::<_, BucketError>(Some(CompletedPart::builder().part_number(number).e_tag(tag).build()))
            }
        });
        let parts: Vec<_> = stream::iter(parts).buffered(COPIES).try_collect().await?;
        let Some(parts) = parts.into_iter().collect::<Option<Vec<_>>>() else { return Ok(false) };
        let parts = CompletedMultipartUpload::builder().set_parts(Some(parts)).build();
        let call = self.client.complete_multipart_upload().bucket(&self.name).key(&key).upload_id(multipart);
        is_there(call.multipart_upload(parts).if_none_match("*").dispatch().await)
    }

    /// Files a small document under its CID, unless it is there.
    pub async fn file_document(&self, cid: Cid, mime: &str, content: Vec<u8>) -> Result<(), BucketError> {
        let call = self.client.put_object().bucket(&self.name).key(cid.object()).body(content.into());
        let call = call.content_type(mime).content_disposition(disposition(cid, mime)).cache_control(IMMUTABLE);
        is_there(call.if_none_match("*").dispatch().await).map(drop)
    }

    /// Gives an object another key; nothing happens if there is none.
    pub async fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        let source = format!("{}/{from}", self.name);
        let call = self.client.copy_object().bucket(&self.name).key(to).copy_source(source).if_none_match("*");
        if is_there(call.dispatch().await)? { self.delete(from).await } else { Ok(()) }
    }

    /// The keys that begin with `from`. They are few.
    pub async fn keys_under(&self, from: &str) -> Result<Vec<String>, BucketError> {
        let found = self.client.list_objects_v2().bucket(&self.name).prefix(from).dispatch().await?;
        Ok(found.contents.unwrap_or_default().into_iter().filter_map(|object| object.key).collect())
    }

    /// Gives all objects whose keys begin with `from` keys that begin with `to`. They are few.
    pub async fn rename_under(&self, from: &str, to: &str) -> Result<(), BucketError> {
        for key in self.keys_under(from).await? {
            self.rename(&key, &format!("{to}{}", &key[from.len()..])).await?;
        }
        Ok(())
    }

    /// Stores a small object, which doesn't change under its key.
    pub async fn put(&self, key: &str, mime: &str, content: Vec<u8>) -> Result<(), BucketError> {
        let call = self.client.put_object().bucket(&self.name).key(key).body(content.into());
        call.content_type(mime).cache_control(IMMUTABLE).dispatch().await?;
        Ok(())
    }

    /// Reads an object from its byte `first` to its byte `last`, or to its end; `None` if it doesn't exist.
    pub async fn read(&self, key: &str, first: u64, last: Option<u64>) -> Result<Option<ByteStream>, BucketError> {
        let last = last.map_or_else(String::new, |last| last.to_string());
        let call = self.client.get_object().bucket(&self.name).key(key).range(format!("bytes={first}-{last}"));
        Ok(unless_missing(call.dispatch().await)?.map(|answer| answer.body))
    }

    /// Reads an object at once, which must be small; `None` if it doesn't exist.
    pub async fn read_whole(&self, key: &str) -> Result<Option<Vec<u8>>, BucketError> {
        let Some(content) = self.read(key, 0, None).await? else { return Ok(None) };
        Ok(Some(content.collect().await?.to_vec()))
    }

    /// A URL to read an object with. No call.
    pub async fn sign_read(&self, key: &str, lifetime: Duration) -> Result<String, BucketError> {
        let call = self.client.get_object().bucket(&self.name).key(key);
        Ok(call.presigned(PresigningConfig::expires_in(lifetime)?).await?.uri().to_owned())
    }

    /// Deletes an object.
    pub async fn delete(&self, key: &str) -> Result<(), BucketError> {
        self.client.delete_object().bucket(&self.name).key(key).dispatch().await?;
        Ok(())
    }
}

/// Whether an object is there after an attempt to create it, by which it isn't overwritten; not if what it is made of is
/// missing.
fn is_there<T, E>(result: Result<T, SdkError<E>>) -> Result<bool, BucketError>
where
    E: ProvideErrorMetadata,
    aws_sdk_s3::Error: From<SdkError<E>>,
{
    match result {
        Err(error) if error.code() == Some("PreconditionFailed") => Ok(true),
        result => Ok(unless_missing(result)?.is_some()),
    }
}

/// `None` if the object or upload doesn't exist.
fn unless_missing<T, E>(result: Result<T, SdkError<E>>) -> Result<Option<T>, BucketError>
where
    E: ProvideErrorMetadata,
    aws_sdk_s3::Error: From<SdkError<E>>,
{
    match result {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if matches!(error.code(), Some("NoSuchKey" | "NoSuchUpload")) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
