//! Mails that the service sends through SES.

use aws_sdk_ses::{
    Client,
    error::{BuildError, ProvideErrorMetadata},
    types::{Body, Content, Destination, Message},
};

use crate::{
    config::{self, ConfigError},
    model::{Email, OneTimeCode},
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
        Ok(Self { client: Client::new(aws), sender: config::required("MAIL_SENDER")? })
    }

    /// Sends a sign-in code. One SES call.
    pub async fn send_code(&self, to: &Email, code: &OneTimeCode) -> Result<(), MailError> {
        let minutes = OneTimeCode::LIFETIME.as_secs() / 60;
        let text = format!(
            "Your Moments sign-in code is {code}\n\n\
             It is valid for {minutes} minutes and can be used once. If you did not ask for it, ignore this mail: \
             nobody can sign in without it.\n",
            code = code.reveal()
        );
        let message = Message::builder()
            .subject(utf8("Your Moments sign-in code")?)
            .body(Body::builder().text(utf8(&text)?).build())
            .build();
        let destination = Destination::builder().to_addresses(to.as_str()).build();
        let call = self.client.send_email().source(&self.sender).destination(destination).message(message);
        call.send().await.map_err(|error| MailError::Send(error.code().unwrap_or("no answer").to_owned()))?;
        Ok(())
    }
}

fn utf8(text: &str) -> Result<Content, BuildError> {
    Content::builder().charset("UTF-8").data(text).build()
}
