//! The media bucket. Clients write to it through signed URLs, each good for one part of one upload: an object comes to be
//! when the service joins the parts, and nobody can change it after that.

use std::time::Duration;

use aws_sdk_s3::{
    Client,
    config::{Builder, RequestChecksumCalculation, ResponseChecksumValidation},
    error::{BuildError, ProvideErrorMetadata, SdkError},
    presigning::{PresigningConfig, PresigningConfigError},
    primitives::{ByteStream, ByteStreamError},
    types::{CompletedMultipartUpload, CompletedPart},
};

use crate::{
    aws::Dispatch,
    config::{self, ConfigError},
    telemetry::trace::AwsCalls,
};

/// Tag of objects that are not in use yet: the bucket deletes them after two days.
const UNFINISHED: &str = "state=unfinished";

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
        let url = self.sign_read("-", "-", "-", Duration::from_secs(60)).await?;
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

    /// Keeps an object for good.
    pub async fn keep(&self, key: &str) -> Result<(), BucketError> {
        self.client.delete_object_tagging().bucket(&self.name).key(key).dispatch().await?;
        Ok(())
    }

    /// Gives an object another key; nothing happens if there is none.
    pub async fn rename(&self, from: &str, to: &str) -> Result<(), BucketError> {
        let source = format!("{}/{from}", self.name);
        let copied = self.client.copy_object().bucket(&self.name).key(to).copy_source(source).dispatch().await;
        match unless_missing(copied)? {
            Some(_) => self.delete(from).await,
            None => Ok(()),
        }
    }

    /// Gives all objects whose keys begin with `from` keys that begin with `to`. They are few.
    pub async fn rename_under(&self, from: &str, to: &str) -> Result<(), BucketError> {
        let found = self.client.list_objects_v2().bucket(&self.name).prefix(from).dispatch().await?;
        for key in found.contents().iter().filter_map(|object| object.key()) {
            self.rename(key, &format!("{to}{}", &key[from.len()..])).await?;
        }
        Ok(())
    }

    /// Stores an object.
    pub async fn put(&self, key: &str, content: Vec<u8>) -> Result<(), BucketError> {
        self.client.put_object().bucket(&self.name).key(key).body(content.into()).dispatch().await?;
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

    /// A URL to read an object with, as this media type and saved like this. No call.
    pub async fn sign_read(
        &self,
        key: &str,
        mime: &str,
        disposition: &str,
        lifetime: Duration,
    ) -> Result<String, BucketError> {
        let call = self.client.get_object().bucket(&self.name).key(key).response_content_type(mime);
        let call = call.response_content_disposition(disposition);
        Ok(call.presigned(PresigningConfig::expires_in(lifetime)?).await?.uri().to_owned())
    }

    /// Deletes an object.
    pub async fn delete(&self, key: &str) -> Result<(), BucketError> {
        self.client.delete_object().bucket(&self.name).key(key).dispatch().await?;
        Ok(())
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
