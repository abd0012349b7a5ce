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
    model::{Email, OneTimeCode, Reason, SignInLink, WebhookUrl},
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
    settings: Option<String>,
}

impl Mailer {
    /// Reads `MAIL_SENDER`, a verified identity of SES, and `MAIL_SETTINGS`, a configuration set.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        let sender = config::required(config::variables::MAIL_SENDER)?;
        Ok(Self::new(aws, sender, config::optional(config::variables::MAIL_SETTINGS)))
    }

    /// Sends from this address, with these settings.
    pub fn new(aws: &aws_config::SdkConfig, sender: String, settings: Option<String>) -> Self {
        Self { client: Client::from_conf(Builder::from(aws).interceptor(AwsCalls).build()), sender, settings }
    }

    /// Sends what signs in at the service at `origin`: a link, and a code unless strangers guess at it. One SES call.
    pub async fn send_sign_in(
        &self,
        to: &Email,
        link: &SignInLink,
        code: Option<&OneTimeCode>,
        origin: &str,
    ) -> Result<(), MailError> {
        let link = format!("{origin}/manage#link={}", link.reveal());
        let link_minutes = SignInLink::LIFETIME.as_secs() / 60;
        let (subject, how) = match code {
            Some(code) => {
                let code_minutes = OneTimeCode::LIFETIME.as_secs() / 60;
                let how = format!(
                    "Your Moments sign-in code is {code}\n\n\
                     Enter it at {origin}, where you asked for it, and nowhere else. Or open this link, on any device:\n\n\
                     {link}\n\n\
                     The code is valid for {code_minutes} minutes, the link for {link_minutes}. One of them can be used once.",
                    code = code.reveal()
                );
                ("Your Moments sign-in code", how)
            }
            None => {
                let how = format!(
                    "Sign in to Moments with this link, on any device:\n\n\
                     {link}\n\n\
                     It is valid for {link_minutes} minutes and can be used once. This mail has no code, since many wrong \
                     codes were tried for this address: codes only work on devices that you signed in on before."
                );
                ("Your Moments sign-in link", how)
            }
        };
        let text = format!(
            "{how}\n\nNobody of Moments will ever ask you for a code or a link. If you did not ask for this mail, ignore \
             it: nobody can sign in without it.\n"
        );
        self.send(to, subject, &text, None).await
    }

    /// Tells an artist what the operator decided: `what`, as a sentence without its full stop. Answers go to `appeals`. One
    /// SES call.
    pub async fn send_decision(&self, to: &Email, what: &str, reason: Reason, appeals: &str) -> Result<(), MailError> {
        let text = format!(
            "{what}. The reason: {reason}.\n\n\
             If you think that this is wrong, answer this mail, and say why: a person will read it ({appeals}). What is \
             on a chain stays there, and your account, your money and your data are yours: you can sign in, export and \
             withdraw.\n"
        );
        self.send(to, "A decision of the operator about what you published", &text, Some(appeals)).await
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
        self.send(to, what, &text, None).await
    }

    /// Tells that a webhook was switched off. One SES call.
    pub async fn send_webhook_off(&self, to: &Email, url: &WebhookUrl, origin: &str) -> Result<(), MailError> {
        let text = format!(
            "Your webhook at {host} was switched off: no try to deliver an event to it has succeeded for five days.\n\n\
             Once its receiver answers again, switch it on at {origin}/manage. What happened meanwhile is kept at \
             {origin}/events.\n",
            host = url.host()
        );
        self.send(to, "A webhook of yours was switched off", &text, None).await
    }

    async fn send(&self, to: &Email, subject: &str, text: &str, answer_to: Option<&str>) -> Result<(), MailError> {
        let message =
            Message::builder().subject(utf8(subject)?).body(Body::builder().text(utf8(text)?).build()).build();
        let destination = Destination::builder().to_addresses(to.as_str()).build();
        let call = self.client.send_email().source(&self.sender).destination(destination).message(message);
        // Named in each call: an identity of the operator's own has other settings by default, or none.
        let call = call.set_configuration_set_name(self.settings.clone());
        let call = call.set_reply_to_addresses(answer_to.map(|address| vec![address.to_owned()]));
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
