use local::writes::{self, Outcome};
use serde_json::Value;

/// A response of the service with its body.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: reqwest::header::HeaderMap,
    pub body: Value,
}

impl Answer {
    pub async fn of(request: reqwest::RequestBuilder) -> Self {
        let response = request.send().await.expect("the service answers");
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let text = response.text().await.expect("the body can be read");
        Self { status, headers, body: json_or_text(text) }
    }

    /// Sends a write until it is mined or refused. It gets an idempotency key unless it has one.
    pub async fn of_write(request: reqwest::RequestBuilder) -> Self {
        writes::send(request).await.expect("an outcome").into()
    }

    /// Sends a request as it is, and again while the answer is 202, or 409 because an equal one is being answered.
    pub async fn of_repeated(request: reqwest::RequestBuilder) -> Self {
        writes::repeat(request).await.expect("an outcome").into()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The fields of `errors[]`.
    pub fn failing_fields(&self) -> Vec<&str> {
        let errors = self.body["errors"].as_array().into_iter().flatten();
        errors.filter_map(|error| error["field"].as_str()).collect()
    }

    /// Asserts the status and the shape of an error.
    #[track_caller]
    pub fn expect_error(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.body["status"], "error", "{self:?}");
        assert!(self.body["message"].as_str().is_some_and(|message| !message.is_empty()), "{self:?}");
        assert_eq!(self.header("content-type"), "application/json; charset=utf-8");
        assert!(!self.header("x-request-id").is_empty(), "{self:?}");
        for error in self.body["errors"].as_array().into_iter().flatten() {
            assert!(error["field"].is_string() && error["message"].is_string(), "{self:?}");
        }
        self
    }

    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert_eq!(self.status, 200, "{self:?}");
        self
    }

    /// Asserts that a write is queued, and perhaps mined by now.
    #[track_caller]
    pub fn expect_queued(self) -> Self {
        assert!([200, 202].contains(&self.status), "{self:?}");
        self
    }
}

impl From<Outcome> for Answer {
    fn from(Outcome { status, headers, body, .. }: Outcome) -> Self {
        Self { status, headers, body: json_or_text(body) }
    }
}

fn json_or_text(text: String) -> Value {
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}
