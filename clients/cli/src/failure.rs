//! What went wrong, in one line that says what to do.

use std::{fmt, io, path::Path};

use moments_client::types;
use reqwest::{Response, header::HeaderMap};
use serde_json::Value;

/// Why a command didn't do what it should.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command was called wrongly: its exit status is 2.
    #[error("{0}")]
    Usage(String),
    /// Something on this machine.
    #[error("{0}")]
    Here(String),
    /// The service answered that it won't.
    #[error("{0}")]
    Refused(Refusal),
    /// No answer came, or a part of one.
    #[error("The service can't be reached: {0}. Check the address and the network, then run the command again")]
    Lost(String),
    /// The answer isn't one of this service's.
    #[error("The service's answer isn't understood: {0}. Check the address; a newer service needs a newer command")]
    Strange(String),
    /// A write isn't mined yet: the transaction's id.
    #[error("Transaction {0} isn't mined yet, and goes on by itself: `moments transactions` tells its outcome")]
    Pending(String),
    /// The reader of the output has gone.
    #[error("nobody reads the output")]
    Closed,
}

impl Failure {
    /// Something that can't be done with a file.
    pub fn file(path: &Path, error: &io::Error) -> Self {
        Self::Here(format!("{}: {error}", path.display()))
    }

    /// The same, where it is about one of several things.
    pub fn about(mut self, name: &str) -> Self {
        if let Self::Refused(refusal) = &mut self {
            refusal.message = format!("{name}: {}", refusal.message);
        }
        self
    }

    /// An option's value that the service's description doesn't allow.
    pub fn option(name: &str, error: impl fmt::Display) -> Self {
        let error = error.to_string();
        // Patterns are for machines.
        let wrong =
            if error.contains("match pattern") { "has a form or characters that aren't taken there" } else { &error };
        Self::Usage(format!("{name}: {wrong}"))
    }
}

impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        // An upload's address is a secret.
        let error = error.without_url();
        let mut cause: &dyn std::error::Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        let cause = one_line(&cause.to_string());
        if error.is_decode() { Self::Strange(cause) } else { Self::Lost(cause) }
    }
}

/// An answer that says no.
#[derive(Debug)]
pub struct Refusal {
    /// Its HTTP status.
    pub status: u16,
    message: String,
    /// The wrong fields, with the reason of each.
    fields: Vec<(String, String)>,
    /// `x-request-id`.
    request: Option<String>,
    /// `retry-after`, in seconds.
    pub retry_after: Option<u64>,
}

impl Refusal {
    /// An error in the service's form.
    pub fn new(status: u16, headers: &HeaderMap, error: &types::Error) -> Self {
        let fields = error.errors.iter().map(|wrong| (wrong.field.clone(), wrong.message.clone())).collect();
        Self::with(status, headers, error.message.clone(), fields)
    }

    /// An error in any form.
    pub async fn read(response: Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().await.unwrap_or_default();
        if let Ok(error) = serde_json::from_slice::<types::Error>(&body)
            && error.status.is_some()
        {
            return Self::new(status.as_u16(), &headers, &error);
        }
        let body = serde_json::from_slice::<Value>(&body).unwrap_or_default();
        let message = body["message"].as_str().or(status.canonical_reason()).unwrap_or("The service refuses it");
        // What the service itself doesn't find is in its form.
        let remedy = if status == 404 { ": check the service's address" } else { "" };
        Self::with(status.as_u16(), &headers, format!("{message}{remedy}"), Vec::new())
    }

    fn with(status: u16, headers: &HeaderMap, message: String, fields: Vec<(String, String)>) -> Self {
        let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let retry_after = retry_after(headers);
        Self { status, message, fields, request: header("x-request-id"), retry_after }
    }

    /// What to do, where the message of such a status doesn't say it.
    fn remedy(&self) -> Option<String> {
        match self.status {
            401 => Some("Sign in again with `moments sign-in`, or check the key that you gave".to_owned()),
            402 => Some("Send money to your account, whose address `moments whoami` prints".to_owned()),
            429 => Some(match self.retry_after {
                Some(seconds) => format!("Try again in {seconds} seconds"),
                None => "Try again in a minute".to_owned(),
            }),
            500.. => Some("Try again in a minute; if it stays so, tell the operator the request's id".to_owned()),
            _ => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wrong: Vec<_> = self.fields.iter().map(|(field, message)| format!("{field} {message}")).collect();
        let mut line = self.message.trim_end_matches('.').to_owned();
        // The message is often that of the first field, and then says nothing new.
        let is_said = |message: &str| message == line || line.ends_with(&format!(".{message}"));
        match wrong.split_first() {
            Some((first, _)) if is_said(first) => line = wrong.join("; "),
            Some(_) => line = format!("{line}: {}", wrong.join("; ")),
            None => {}
        }
        if let Some(request) = &self.request {
            line = format!("{line} (request {request})");
        }
        if let Some(remedy) = self.remedy() {
            line = format!("{line}. {remedy}");
        }
        formatter.write_str(&one_line(&line))
    }
}

/// `retry-after`, in seconds.
pub fn retry_after(headers: &HeaderMap) -> Option<u64> {
    headers.get("retry-after")?.to_str().ok()?.trim().parse().ok()
}

/// A text without control characters, which could break the line or steer the terminal.
pub fn one_line(text: &str) -> String {
    text.split(char::is_control).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(status: u16, message: &str, fields: &[(&str, &str)]) -> String {
        let headers = HeaderMap::from_iter([
            (
                reqwest::header::HeaderName::from_static("x-request-id"),
                reqwest::header::HeaderValue::from_static("r-1"),
            ),
            (reqwest::header::RETRY_AFTER, reqwest::header::HeaderValue::from_static("7")),
        ]);
        let fields = fields.iter().map(|(field, message)| ((*field).to_owned(), (*message).to_owned())).collect();
        Refusal::with(status, &headers, message.to_owned(), fields).to_string()
    }

    #[test]
    fn a_refusal_is_one_line_with_its_fields_and_a_remedy() {
        let wrong = [("collectionAddress", "must be an address"), ("tokenId", "is required")];
        let line = "collectionAddress must be an address; tokenId is required (request r-1)";
        assert_eq!(refusal(400, "collectionAddress must be an address", &wrong), line);
        assert_eq!(refusal(400, "moment.collectionAddress must be an address", &wrong), line);
        assert_eq!(refusal(400, "Two fields are wrong", &wrong), format!("Two fields are wrong: {line}"));
        assert_eq!(refusal(404, "There is no moment 1", &[]), "There is no moment 1 (request r-1)");
        assert_eq!(refusal(429, "Too many codes.", &[]), "Too many codes (request r-1). Try again in 7 seconds");
        assert!(refusal(401, "The API key is unknown", &[]).contains("moments sign-in"));
    }

    #[test]
    fn patterns_are_not_shown() {
        assert_eq!(
            Failure::option("--x", "doesn't match pattern \"^a$\"").to_string(),
            "--x: has a form or characters that aren't taken there"
        );
        assert_eq!(Failure::option("--x", "longer than 2 characters").to_string(), "--x: longer than 2 characters");
    }

    #[test]
    fn a_message_cannot_steer_the_terminal() {
        assert_eq!(one_line("a\n\u{1b}[2Jb\r\n"), "a [2Jb");
    }
}
