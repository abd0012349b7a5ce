//! Mails that the service sends through SES.

use aws_sdk_ses::{
    Client,
    config::Builder,
    error::{BuildError, ProvideErrorMetadata},
    types::{Body, Content, Destination, Message},
};

use crate::{
    aws::Dispatch,
    config::{self, ConfigError},
    model::{Email, OneTimeCode, WebhookUrl},
    telemetry::trace::AwsCalls,
};

/// A mail that wasn't sent.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// SES refused it or didn't answer: its error code, without the message, which names addresses.
    #[error("SES: {0}")]
    Send(String),
    /// The mail couldn't be composed.
    #[error("mail couldn't be composed")]
    Write(#[from] BuildError),
}

/// Sends mails from the service's own address.
#[derive(Clone)]
pub struct Mailer {
    client: Client,
    sender: String,
}

impl Mailer {
    /// Reads `MAIL_SENDER`, a verified identity of SES.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        let client = Client::from_conf(Builder::from(aws).interceptor(AwsCalls).build());
        Ok(Self { client, sender: config::required("MAIL_SENDER")? })
    }

    /// Sends a sign-in code for the service at `origin`. One SES call.
    pub async fn send_code(&self, to: &Email, code: &OneTimeCode, origin: &str) -> Result<(), MailError> {
        let minutes = OneTimeCode::LIFETIME.as_secs() / 60;
        let text = format!(
            "Your Moments sign-in code is {code}\n\n\
             It signs you in at {origin}, is valid for {minutes} minutes and can be used once. Enter it there and nowhere \
             else: nobody of Moments will ever ask you for it. If you did not ask for it, ignore this mail: nobody can \
             sign in without it.\n",
            code = code.reveal()
        );
        self.send(to, "Your Moments sign-in code", &text).await
    }

    /// Sends a notice of what happened to an account. One SES call.
    pub async fn send_notice(&self, to: &Email, notice: &Notice<'_>) -> Result<(), MailError> {
        let Notice { what, subject, when, network, origin } = notice;
        let subject = if subject.is_empty() { String::new() } else { format!(": {subject}") };
        let text = format!(
            "{what}{subject}.\n\n\
             When: {when}\nFrom: {network}\nAt: {origin}\n\n\
             If it was you, there is nothing to do. If it wasn't: sign in at {origin}/manage, sign out everywhere, revoke \
             the API keys that you don't know, and look through the wallets, the addresses and the activity there. Then \
             change the password of this mailbox: whoever reads it can sign in.\n\n\
             Nobody of Moments will ever ask you for a code.\n"
        );
        self.send(to, what, &text).await
    }

    /// Tells that a webhook was switched off. One SES call.
    pub async fn send_webhook_off(&self, to: &Email, url: &WebhookUrl, origin: &str) -> Result<(), MailError> {
        let text = format!(
            "The webhook {url} was switched off: no try to deliver an event to it has succeeded for five days.\n\n\
             Once its receiver answers again, switch it on at {origin}/manage. What happened meanwhile is kept at \
             {origin}/events.\n"
        );
        self.send(to, "A webhook of yours was switched off", &text).await
    }

    async fn send(&self, to: &Email, subject: &str, text: &str) -> Result<(), MailError> {
        let message =
            Message::builder().subject(utf8(subject)?).body(Body::builder().text(utf8(text)?).build()).build();
        let destination = Destination::builder().to_addresses(to.as_str()).build();
        let call = self.client.send_email().source(&self.sender).destination(destination).message(message);
        call.dispatch().await.map_err(|error| MailError::Send(error.code().unwrap_or("no answer").to_owned()))?;
        Ok(())
    }
}

/// What a mail tells of something that happened to an account.
#[derive(Clone, Copy, Debug)]
pub struct Notice<'a> {
    /// What happened, as a sentence without its full stop.
    pub what: &'a str,
    /// What it concerns; may be empty.
    pub subject: &'a str,
    /// ISO 8601.
    pub when: &'a str,
    /// Network that asked for it.
    pub network: &'a str,
    /// The service's base URL.
    pub origin: &'a str,
}

fn utf8(text: &str) -> Result<Content, BuildError> {
    Content::builder().charset("UTF-8").data(text).build()
}
