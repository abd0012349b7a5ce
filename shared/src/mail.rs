//! The mails that the service sends, through SES.

use aws_sdk_ses::{
    Client,
    error::{BuildError, ProvideErrorMetadata},
    types::{Body, Content, Destination, Message},
};

use crate::{
    config::{self, ConfigError},
    model::{Email, OneTimeCode},
};

/// A mail that didn't leave.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// SES refused it or can't be reached. Its own words name addresses; its code doesn't.
    #[error("SES: {0}")]
    Send(String),
    /// It can't be written.
    #[error("mail")]
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
    ///
    /// # Errors
    /// When it is unset.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        Ok(Self { client: Client::new(aws), sender: config::required("MAIL_SENDER")? })
    }

    /// Sends a sign-in code. One SES call.
    ///
    /// # Errors
    /// When SES doesn't take the mail.
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
