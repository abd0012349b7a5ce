//! An artist's requests to the service.

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};

use super::catalogue::WorkFile;
use crate::{Error, artists::DemoArtist};

/// An artist with a key, as a client of the service.
pub(super) struct Session<'a> {
    pub(super) artist: &'a DemoArtist,
    api: &'a str,
    http: &'a Client,
}

impl<'a> Session<'a> {
    pub(super) fn new(artist: &'a DemoArtist, api: &'a str, http: &'a Client) -> Self {
        Self { artist, api, http }
    }

    /// Sends JSON with the artist's key. A write answers when its transaction is mined.
    pub(super) async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value, Error> {
        self.send_once(method, path, body, None).await
    }

    /// Collects: `name` is the order's own, so that none is placed twice.
    pub(super) async fn collect(&self, name: &str, order: &Value) -> Result<Value, Error> {
        self.send_once(Method::POST, "/moment/collect", order, Some(name)).await
    }

    async fn send_once(&self, method: Method, path: &str, body: &Value, name: Option<&str>) -> Result<Value, Error> {
        let url = format!("{}{path}", self.api);
        let request = self.http.request(method.clone(), &url).header("x-api-key", &self.artist.key).json(body);
        let request = name.iter().fold(request, |request, name| request.header("idempotency-key", *name));
        let answer = request.send().await?;
        let (status, text) = (answer.status(), answer.text().await?);
        if status != StatusCode::OK {
            return Err(format!("{method} {url} of {} answered {status}: {text}", self.artist.email).into());
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// Uploads a file and returns its `ipfs://` URI.
    pub(super) async fn upload(&self, file: WorkFile) -> Result<String, Error> {
        let announced = json!({"contentType": file.mime, "size": file.bytes.len()});
        let begun = self.send(Method::POST, "/uploads", &announced).await?;
        let [part] = begun["parts"].as_array().map(Vec::as_slice).unwrap_or_default() else {
            return Err("an upload of a small file has one part".into());
        };
        let url = part["url"].as_str().unwrap_or_default();
        self.http.put(url).body(file.bytes).send().await?.error_for_status()?;
        let complete = format!("/uploads/{}/complete", begun["uploadId"].as_str().unwrap_or_default());
        let stored = self.send(Method::POST, &complete, &json!({})).await?;
        Ok(stored["uri"].as_str().ok_or("a stored file has a URI")?.to_owned())
    }

    /// Stores a metadata document and returns its URI.
    pub(super) async fn store_metadata(&self, document: &Value) -> Result<String, Error> {
        let stored = self.send(Method::POST, "/metadata", document).await?;
        Ok(stored["uri"].as_str().ok_or("a stored document has a URI")?.to_owned())
    }
}
