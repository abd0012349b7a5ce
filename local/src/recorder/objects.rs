//! S3's part of the recorder: requests pass as they are, since their signatures cover them.

use std::collections::BTreeMap;

use axum::{
    body::{Body, Bytes},
    http::{HeaderMap, Method, Uri, header},
    response::Response,
};
use percent_encoding::percent_decode_str;

use super::Need;

/// Headers of one connection.
const HOP_BY_HOP: [header::HeaderName; 4] =
    [header::CONNECTION, header::TRANSFER_ENCODING, header::CONTENT_LENGTH, header::EXPECT];

/// The permissions of a request for an object. A caller without a signature has none.
pub(super) fn needs_of(method: &Method, uri: &Uri, headers: &HeaderMap) -> Vec<Need> {
    let parameters: BTreeMap<String, String> =
        url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes()).into_owned().collect();
    let has = |name: &str| parameters.contains_key(name);
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let signed = header("authorization").and_then(|text| text.split("Credential=").nth(1));
    let scope = signed.or(parameters.get("X-Amz-Credential").map(String::as_str));
    let Some(caller) = scope.and_then(|scope| scope.split('/').next()) else { return Vec::new() };
    let mut actions = vec![match *method {
        Method::GET if has("list-type") => "s3:ListBucket",
        Method::GET | Method::HEAD if has("uploadId") => "s3:ListMultipartUploadParts",
        Method::GET | Method::HEAD => "s3:GetObject",
        Method::DELETE if has("tagging") => "s3:DeleteObjectTagging",
        Method::DELETE if has("uploadId") => "s3:AbortMultipartUpload",
        Method::DELETE => "s3:DeleteObject",
        _ if has("tagging") => "s3:PutObjectTagging",
        _ => "s3:PutObject",
    }];
    if header("x-amz-tagging").is_some() {
        actions.push("s3:PutObjectTagging");
    }
    // Without a key it is the bucket itself, which a slash may end.
    let object = uri.path().trim_matches('/');
    let need = |action: &str, resource: &str| Need {
        caller: caller.to_owned(),
        action: action.to_owned(),
        resource: format!("arn:aws:s3:::{resource}"),
        context: BTreeMap::new(),
    };
    let mut needs: Vec<_> = actions.iter().map(|action| need(action, object)).collect();
    // What is copied is read first.
    let source = header("x-amz-copy-source").map(|source| percent_decode_str(source.trim_start_matches('/')));
    needs.extend(source.map(|source| need("s3:GetObject", &source.decode_utf8_lossy())));
    if let (true, Some((bucket, _))) = (actions.contains(&"s3:GetObject"), object.split_once('/')) {
        // Without it, S3 answers 403 instead of 404 for a missing object.
        needs.push(need("s3:ListBucket", bucket));
    }
    needs
}

/// Sends a request on, and its answer back as it comes.
pub(super) async fn forward(
    client: &reqwest::Client,
    url: &str,
    method: Method,
    uri: &Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, reqwest::Error> {
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    // The host is signed: it stays the recorder's.
    let answer = client.request(method, format!("{}{path}", url.trim_end_matches('/'))).headers(kept(&headers));
    let answer = answer.body(body).send().await?;
    let (status, headers) = (answer.status(), kept(answer.headers()));
    let chunks = futures::stream::unfold(answer, |mut answer| async {
        let chunk = answer.chunk().await.transpose()?;
        Some((chunk, answer))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    Ok(response)
}

fn kept(headers: &HeaderMap) -> HeaderMap {
    headers.iter().filter(|(name, _)| !HOP_BY_HOP.contains(name)).map(|(n, v)| (n.clone(), v.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_for_objects_are_recorded_as_iam_permissions() {
        let signed = "X-Amz-Credential=create-upload%2F20260101%2Fx";
        let asked = |method: Method, uri: &str| {
            let needs = needs_of(&method, &uri.parse().unwrap(), &HeaderMap::new());
            needs.into_iter().map(|need| (need.caller, need.action, need.resource)).collect::<Vec<_>>()
        };
        for (method, query, action) in [
            (Method::PUT, "partNumber=1&uploadId=x&", "s3:PutObject"),
            (Method::POST, "uploads&", "s3:PutObject"),
            (Method::GET, "uploadId=x&", "s3:ListMultipartUploadParts"),
            (Method::DELETE, "tagging&", "s3:DeleteObjectTagging"),
            (Method::DELETE, "", "s3:DeleteObject"),
        ] {
            let expected = ("create-upload".to_owned(), action.to_owned(), "arn:aws:s3:::media/uploads/1".to_owned());
            assert_eq!(asked(method, &format!("/media/uploads/1?{query}{signed}")), [expected]);
        }
        let mut copied = HeaderMap::new();
        copied.insert("x-amz-copy-source", "/media/uploads/a%20b".parse().unwrap());
        let copied = needs_of(&Method::PUT, &format!("/media/ipfs/x?{signed}").parse().unwrap(), &copied);
        let copied: Vec<_> = copied.iter().map(|need| (need.action.as_str(), need.resource.as_str())).collect();
        let (target, source) = ("arn:aws:s3:::media/ipfs/x", "arn:aws:s3:::media/uploads/a b");
        assert_eq!(copied, [("s3:PutObject", target), ("s3:GetObject", source)]);
        let read = asked(Method::GET, &format!("/media/uploads/1?{signed}"));
        let read: Vec<_> = read.iter().map(|(_, action, resource)| (action.as_str(), resource.as_str())).collect();
        let bucket = ("s3:ListBucket", "arn:aws:s3:::media");
        assert_eq!(read, [("s3:GetObject", "arn:aws:s3:::media/uploads/1"), bucket]);
        assert!(asked(Method::GET, "/media/uploads/1").is_empty());
        let listed = asked(Method::GET, &format!("/media/?list-type=2&prefix=previews%2F&{signed}"));
        assert_eq!(listed, [("create-upload".to_owned(), bucket.0.to_owned(), bucket.1.to_owned())]);
    }
}
