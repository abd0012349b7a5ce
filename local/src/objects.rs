//! Objects of a bucket, as answers to browsers.

use aws_sdk_s3::{Client, error::ProvideErrorMetadata as _, operation::get_object::GetObjectOutput};
use axum::{
    body::Body,
    http::{StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures::stream;

/// A bucket that is read.
#[derive(Clone)]
pub struct Objects {
    s3: Client,
    bucket: String,
}

impl Objects {
    /// The bucket with this name.
    pub fn new(aws: &aws_config::SdkConfig, bucket: String) -> Self {
        Self { s3: Client::new(aws), bucket }
    }

    /// The object with this key, or its range, as it was stored; `None` if it can't be read.
    pub async fn read(&self, key: &str, range: Option<String>) -> Option<Response> {
        match self.s3.get_object().bucket(&self.bucket).key(key).set_range(range).send().await {
            Ok(object) => Some(response(object)),
            Err(error) if error.code() == Some("InvalidRange") => {
                Some(StatusCode::RANGE_NOT_SATISFIABLE.into_response())
            }
            Err(_) => None,
        }
    }
}

fn response(object: GetObjectOutput) -> Response {
    let status = if object.content_range.is_some() { StatusCode::PARTIAL_CONTENT } else { StatusCode::OK };
    let sent = [
        (header::ACCEPT_RANGES, object.accept_ranges),
        (header::CACHE_CONTROL, object.cache_control),
        (header::CONTENT_DISPOSITION, object.content_disposition),
        (header::CONTENT_LENGTH, object.content_length.map(|length| length.to_string())),
        (header::CONTENT_RANGE, object.content_range),
        (header::CONTENT_TYPE, object.content_type),
        (header::ETAG, object.e_tag),
    ];
    let chunks = stream::unfold(object.body, async |mut body| body.next().await.map(|chunk| (chunk, body)));
    let mut response = (status, Body::from_stream(chunks)).into_response();
    for (name, value) in sent {
        if let Some(value) = value.and_then(|value| value.parse().ok()) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}
