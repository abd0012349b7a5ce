//! The API as a tool calls it: for the agent's own client, with its credential.

use serde_json::{Value, json};
use shared::{
    api::service_client::CallsFor,
    http::{ApiError, HeaderMap, Method, StatusCode},
    public_web::Downloader,
};

use crate::picture::PictureUri;

/// The API.
#[derive(Clone)]
pub struct Service {
    calls: CallsFor,
    downloader: Downloader,
}

/// Why a tool did nothing, in words for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal(pub String);

impl Refusal {
    /// A message, and the wrong fields with what is wrong with each.
    fn of_fields<'a>(message: &str, fields: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let fields = fields.map(|(field, wrong)| format!("\n- {field}: {wrong}"));
        Self(format!("{message}{}", fields.collect::<String>()))
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        let fields = error.fields().iter().map(|it| (it.field.as_str(), it.message.as_str()));
        Self::of_fields(error.message(), fields)
    }
}

impl Service {
    /// Calls for a request's client.
    pub fn new(calls: CallsFor, downloader: Downloader) -> Self {
        Self { calls, downloader }
    }

    /// Reads what is at a path with these parameters.
    pub async fn read(&self, path: &str, parameters: &[(&str, Option<String>)]) -> Result<Value, Refusal> {
        self.call(Method::GET, (path, &query(parameters)), None).await
    }

    /// Sends JSON to a path.
    pub async fn send(&self, path: &str, body: &Value) -> Result<Value, Refusal> {
        self.call(Method::POST, (path, ""), Some(body)).await
    }

    /// Stores a picture that could change or go, and returns the URI to publish.
    pub async fn store(&self, picture: &PictureUri) -> Result<String, Refusal> {
        if !picture.is_to_be_stored() {
            return Ok(picture.as_str().to_owned());
        }
        // Nothing is fetched for whoever may store nothing.
        self.read("/me", &[]).await?;
        let content = self.downloader.download(picture.as_str(), 0).await;
        let content = content.map_err(|error| Refusal(format!("The picture can't be fetched: {error}")))?;
        let upload = json!({"contentType": "application/octet-stream", "size": content.len()});
        let begun = self.send("/uploads", &upload).await?;
        let (Some(id), [part]) = (begun["uploadId"].as_str(), begun["parts"].as_array().map_or(&[][..], Vec::as_slice))
        else {
            return Err(Refusal("The service stores this picture in several parts: publish it at /manage".to_owned()));
        };
        self.calls.put(text(&part["url"]), content).await?;
        let stored = self.send(&format!("/uploads/{id}/complete"), &json!({})).await?;
        stored["uri"]
            .as_str()
            .map(str::to_owned)
            .ok_or_else(|| Refusal("The picture isn't stored yet: try again".to_owned()))
    }

    async fn call(&self, method: Method, place: (&str, &str), body: Option<&Value>) -> Result<Value, Refusal> {
        let answer = self.calls.call(method, place, HeaderMap::new(), body).await?;
        let status = answer.status();
        let content = answer.json::<Value>().await;
        let content = content.map_err(|error| ApiError::bad_gateway("The answer broke off: try again", error))?;
        if status.is_success() {
            return Ok(content);
        }
        Err(refusal(status, &content))
    }
}

fn query(parameters: &[(&str, Option<String>)]) -> String {
    let given = parameters.iter().filter_map(|(name, value)| Some((name, value.as_ref()?)));
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}

fn refusal(status: StatusCode, content: &Value) -> Refusal {
    let message = content["message"].as_str().unwrap_or("The service didn't say why");
    let fields = content["errors"].as_array().map(Vec::as_slice).unwrap_or_default().iter();
    let fields = fields.map(|field| (text(&field["field"]), text(&field["message"])));
    let hint = match status {
        StatusCode::UNAUTHORIZED => {
            ". This tool takes an API key of an artist, in the header X-API-Key of the agent's settings."
        }
        _ => "",
    };
    Refusal::of_fields(&format!("{message}{hint}"), fields)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
