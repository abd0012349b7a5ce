//! An artist's requests to the service.

use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};

use super::catalogue::WorkFile;
use crate::{
    Error,
    artists::DemoArtist,
    writes::{self, Outcome},
};

/// An artist with a key, as a client of the service.
pub(crate) struct Session<'a> {
    pub(crate) artist: &'a DemoArtist,
    api: &'a str,
    http: &'a Client,
}

impl<'a> Session<'a> {
    pub(crate) fn new(artist: &'a DemoArtist, api: &'a str, http: &'a Client) -> Self {
        Self { artist, api, http }
    }

    /// Sends JSON with the artist's key. A write answers when its transaction is mined, an upload when it is stored.
    pub(crate) async fn send(&self, method: Method, path: &str, body: &Value) -> Result<Value, Error> {
        let request = self.http.request(method, format!("{}{path}", self.api));
        self.answer(request.header("x-api-key", &self.artist.key).json(body)).await
    }

    /// Changes the profile, which no key may.
    pub(crate) async fn update_profile(&self, change: &Value) -> Result<Value, Error> {
        let request = self.http.patch(format!("{}/artists/me", self.api));
        self.answer(request.bearer_auth(&self.artist.token).json(change)).await
    }

    /// Collects: `name` is the order's own, so that none is placed twice.
    pub(crate) async fn collect(&self, name: &str, order: &Value) -> Result<Value, Error> {
        let request = self.http.post(format!("{}/moment/collect", self.api));
        let request = request.header("x-api-key", &self.artist.key).header("idempotency-key", name);
        self.answer(request.json(order)).await
    }

    async fn answer(&self, request: RequestBuilder) -> Result<Value, Error> {
        let Outcome { url, status, body, .. } = writes::send(request).await?;
        if status != 200 {
            return Err(format!("{url} answered {}: {status}: {body}", self.artist.username).into());
        }
        Ok(serde_json::from_str(&body)?)
    }

    /// Uploads a file and returns its `ipfs://` URI.
    pub(crate) async fn upload(&self, file: WorkFile) -> Result<String, Error> {
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
    pub(crate) async fn store_metadata(&self, document: &Value) -> Result<String, Error> {
        let stored = self.send(Method::POST, "/metadata", document).await?;
        Ok(stored["uri"].as_str().ok_or("a stored document has a URI")?.to_owned())
    }
}
