//! Sends one message to an address that anyone may have chosen.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use reqwest::{
    Client, Response,
    header::{ACCEPT_ENCODING, CONTENT_TYPE},
    redirect::Policy,
};
use serde_json::{Value, json};
use shared::{
    api::webhook_message::{CHALLENGE, webhook_message},
    auth::webhook_secret::WebhookSecret,
    model::WebhookUrl,
    public_web::{PrivateReceivers, PublicResolver},
    store::artist::{Challenge, Delivery, DeliveryAttempt, Webhook},
    telemetry::trace,
};

/// Longest wait for an answer.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Longest wait for the rest of an answer.
const REST: Duration = Duration::from_secs(1);

/// Most bytes of an answer.
const MAX_BYTES: usize = 1024;

const GONE: u16 = 410;

/// What became of a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Taken,
    /// The receiver wants nothing more.
    Gone,
    Failed,
}

impl Outcome {
    fn of(status: Option<u16>) -> Self {
        match status {
            Some(200..300) => Self::Taken,
            Some(GONE) => Self::Gone,
            _ => Self::Failed,
        }
    }
}

/// Sends to public web addresses.
pub(crate) struct Sender {
    client: Client,
    private: PrivateReceivers,
}

impl Sender {
    pub(crate) fn new(private: PrivateReceivers) -> Result<Self, reqwest::Error> {
        let client = Client::builder()
            .user_agent("moments-webhooks/1.0")
            .dns_resolver(Arc::new(PublicResolver))
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .pool_max_idle_per_host(2)
            .build()?;
        Ok(Self { client, private })
    }

    /// Sends a delivery, signed with each of the secrets. Takes at most 11 seconds.
    pub(crate) async fn send(
        &self,
        url: &WebhookUrl,
        delivery: &Delivery,
        secrets: &[WebhookSecret],
        now: u64,
    ) -> (Outcome, DeliveryAttempt) {
        let (attempt, _) = self.post(url, &delivery.event, &delivery.body, secrets, now).await;
        (Outcome::of(attempt.status), attempt)
    }

    /// Sends a receiver its challenge; taken if its answer is what was asked for. Fails for a time beyond the year 9999.
    pub(crate) async fn challenge(
        &self,
        webhook: &Webhook,
        challenge: &Challenge,
        secrets: &[WebhookSecret],
        now: u64,
    ) -> Result<(Outcome, DeliveryAttempt), time::Error> {
        let data = json!({"challenge": challenge.text});
        let body = webhook_message(CHALLENGE, challenge.id, webhook.id, &data, now)?;
        let (mut attempt, answer) = self.post(&webhook.url, &challenge.id.to_string(), &body, secrets, now).await;
        let mut outcome = Outcome::of(attempt.status);
        if outcome == Outcome::Taken && !is_answered(&challenge.text, &answer) {
            attempt.error = Some("its answer isn't the challenge".to_owned());
            outcome = Outcome::Failed;
        }
        Ok((outcome, attempt))
    }

    /// Returns the try, and the answer's body as far as it was read.
    async fn post(
        &self,
        url: &WebhookUrl,
        id: &str,
        body: &str,
        secrets: &[WebhookSecret],
        now: u64,
    ) -> (DeliveryAttempt, Vec<u8>) {
        let started = Instant::now();
        let answered = match url.parsed().filter(|_| self.private.admit(url)) {
            None => Err("its address isn't public"),
            Some(url) => {
                let signatures: Vec<_> = secrets.iter().map(|secret| secret.sign(id, now, body)).collect();
                let request = self.client.post(url).header(CONTENT_TYPE, "application/json");
                let request = request.header(ACCEPT_ENCODING, "identity").header("webhook-id", id);
                let request = request.header("webhook-timestamp", now);
                let request = request.header("webhook-signature", signatures.join(" ")).body(body.to_owned());
                match tokio::time::timeout(TIMEOUT, trace::send(request)).await {
                    Err(_) => Err("no answer within 10 seconds"),
                    Ok(Err(error)) if error.is_connect() => Err("no connection to a public address"),
                    Ok(Err(_)) => Err("no answer in HTTP"),
                    Ok(Ok(response)) => Ok(response),
                }
            }
        };
        let latency_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        let (status, error, answer) = match answered {
            Ok(response) => {
                let (status, answer) = finish(response, REST).await;
                (Some(status), None, answer)
            }
            Err(error) => (None, Some(error.to_owned()), Vec::new()),
        };
        (DeliveryAttempt { at: now, status, latency_ms, error }, answer)
    }
}

/// Whether an answer is the challenge, alone or as an object's `challenge`: what was sent, sent back, has it deeper.
fn is_answered(challenge: &str, answer: &[u8]) -> bool {
    let is_field = |answer: Value| answer["challenge"] == challenge;
    answer.trim_ascii() == challenge.as_bytes() || serde_json::from_slice(answer).is_ok_and(is_field)
}

/// Returns the status of an answer, and its body. Reads a short answer to its end, for so long at most: the connection can
/// then be used again.
async fn finish(mut response: Response, at_most: Duration) -> (u16, Vec<u8>) {
    let (status, mut body) = (response.status().as_u16(), Vec::new());
    if response.content_length().is_some_and(|length| length > MAX_BYTES as u64) {
        return (status, body);
    }
    let rest = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_BYTES {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(at_most, rest).await;
    (status, body)
}

#[cfg(test)]
mod tests {
    use std::{env, process::Command};

    use shared::model::{DeliveryId, WebhookId};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
    };

    use super::*;

    /// Longer than a test waits.
    const EVER: Duration = Duration::from_secs(3600);

    async fn receiver() -> (TcpListener, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    #[tokio::test]
    async fn a_name_of_a_private_address_is_not_connected_to() {
        let ((listener, port), sender) = (receiver().await, Sender::new(PrivateReceivers::default()).unwrap());
        tokio::select! {
            answer = sender.client.post(format!("http://localhost:{port}/")).send() => {
                assert!(answer.unwrap_err().is_connect());
            }
            _ = listener.accept() => panic!("connected"),
        }
    }

    #[test]
    fn a_proxy_of_the_environment_is_not_used() {
        // It is the environment of a whole process.
        let mut test = Command::new(env::current_exe().unwrap());
        test.args(["send::tests::a_listed_receiver_is_connected_to", "--exact", "--ignored"]);
        test.env_remove("no_proxy").env_remove("NO_PROXY").env("http_proxy", "http://127.0.0.1:9");
        let output = String::from_utf8(test.output().unwrap().stdout).unwrap();
        assert!(output.contains("1 passed"), "{output}");
    }

    #[tokio::test]
    #[ignore = "run by another test, with an environment of its own"]
    async fn a_listed_receiver_is_connected_to() {
        let ((listener, port), sender) = (receiver().await, Sender::new("127.0.0.1".parse().unwrap()).unwrap());
        let url = format!("http://127.0.0.1:{port}/").parse().unwrap();
        let (id, body) = (DeliveryId::next(), json!({}).to_string());
        let delivery = Delivery::new(id, WebhookId::next(), id.to_string(), "x".to_owned(), body, 0);
        tokio::select! {
            (_, attempt) = sender.send(&url, &delivery, &[], 0) => panic!("not connected: {attempt:?}"),
            accepted = listener.accept() => assert!(accepted.is_ok()),
        }
    }

    /// Finishes an answer whose receiver sends so much, and then nothing, without closing the connection.
    async fn finish_of(sent: &str, at_most: Duration) -> u16 {
        let (listener, port) = receiver().await;
        let send = async {
            let (mut socket, _) = listener.accept().await.unwrap();
            assert!(socket.read(&mut [0; 1024]).await.unwrap() > 0);
            socket.write_all(sent.as_bytes()).await.unwrap();
            socket
        };
        let request = Client::new().get(format!("http://127.0.0.1:{port}/")).send();
        let (_socket, response) = tokio::join!(send, request);
        tokio::time::timeout(20 * REST, finish(response.unwrap(), at_most)).await.unwrap().0
    }

    #[test]
    fn only_the_challenge_itself_is_its_answer() {
        let challenge = "6c1f2f6e6f0e4b7e9d8a3f1c2b4d5e6f";
        for answer in [challenge.to_owned(), format!(" {challenge}\n"), json!({"challenge": challenge}).to_string()] {
            assert!(is_answered(challenge, answer.as_bytes()), "{answer}");
        }
        let sent_back = json!({"type": CHALLENGE, "data": {"challenge": challenge}}).to_string();
        for answer in ["", "{}", "ok", &sent_back, &format!("{challenge}{challenge}"), "{\"challenge\": true}"] {
            assert!(!is_answered(challenge, answer.as_bytes()), "{answer}");
        }
    }

    #[tokio::test]
    async fn nothing_is_read_of_an_answer_that_announces_much() {
        assert_eq!(finish_of("HTTP/1.1 202 Accepted\r\ncontent-length: 1025\r\n\r\n", EVER).await, 202);
    }

    #[tokio::test]
    async fn no_more_is_read_once_an_answer_is_long() {
        let chunk = "x".repeat(1025);
        let answer = format!("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n401\r\n{chunk}\r\n");
        assert_eq!(finish_of(&answer, EVER).await, 200);
    }

    #[tokio::test]
    async fn an_answer_that_does_not_come_is_not_waited_for() {
        assert_eq!(finish_of("HTTP/1.1 200 OK\r\ncontent-length: 1024\r\n\r\n", REST).await, 200);
    }
}
