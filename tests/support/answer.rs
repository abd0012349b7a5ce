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
        Self { status, headers, body: serde_json::from_str(&text).unwrap_or(Value::String(text)) }
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
}
