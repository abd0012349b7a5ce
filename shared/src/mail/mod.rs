//! Mails that the service sends through SES.

mod letter;
mod news;

use aws_sdk_ses::{
    Client,
    config::Builder,
    error::{BuildError, ProvideErrorMetadata},
    primitives::Blob,
    types::{Body, Content, Destination, Message, RawMessage},
};
use mail_builder::{MessageBuilder, headers::raw::Raw};

use self::letter::{Letter, Part};
pub use self::news::{GivenCopies, MomentNews, NewsLetter};
use crate::{
    aws::Dispatch,
    config::{self, ConfigError},
    model::{Email, OneTimeCode, ProofAct, Reason, SignInLink, WebhookUrl},
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
    /// The mail couldn't be composed with headers of its own.
    #[error("mail couldn't be composed")]
    Compose(#[from] std::io::Error),
}

impl MailError {
    fn refused(error: impl ProvideErrorMetadata) -> Self {
        Self::Send(error.code().unwrap_or("no answer").to_owned())
    }
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
        let link = Part::Link("Sign in", format!("{origin}/manage#link={}", link.reveal()));
        let link_minutes = SignInLink::LIFETIME.as_secs() / 60;
        let (subject, mut parts) = match code {
            Some(code) => {
                let code_minutes = OneTimeCode::LIFETIME.as_secs() / 60;
                let how = format!(
                    "Enter it at {origin}/manage, where you asked for it, and nowhere else. Or open this link, on any device:"
                );
                let ends = format!(
                    "The code is valid for {code_minutes} minutes, the link for {link_minutes}. One of them can be used once."
                );
                let code = Part::Code("Your Moments sign-in code is", code.reveal());
                ("Your Moments sign-in code", vec![code, Part::Words(how), link, Part::Words(ends)])
            }
            None => {
                let how = "Sign in to Moments with this link, on any device:".to_owned();
                let ends = format!(
                    "It is valid for {link_minutes} minutes and can be used once. This mail has no code, since many wrong \
                     codes were tried for this address: codes only work on devices that you signed in on before."
                );
                ("Your Moments sign-in link", vec![Part::Words(how), link, Part::Words(ends)])
            }
        };
        let warning = "Nobody of Moments will ever ask you for a code or a link. If you did not ask for this mail, ignore it: \
                       nobody can sign in without it.";
        parts.push(Part::Fine(warning.to_owned()));
        self.send(to, &Letter { subject, parts }, None).await
    }

    /// Tells an artist what the operator decided: `what`, as a sentence without its full stop. Answers go to `appeals`. One
    /// SES call.
    pub async fn send_decision(&self, to: &Email, what: &str, reason: Reason, appeals: &str) -> Result<(), MailError> {
        let appeal = format!(
            "If you think that this is wrong, answer this mail, and say why: a person will read it ({appeals}). What is \
             on a chain stays there, and your account, your money and your data are yours: you can sign in, export and \
             withdraw."
        );
        let parts = vec![Part::Words(format!("{what}. The reason: {reason}.")), Part::Words(appeal)];
        let letter = Letter { subject: "A decision of the operator about what you published", parts };
        self.send(to, &letter, Some(appeals)).await
    }

    /// Sends a code that proves an act in an account. One SES call.
    pub async fn send_proof_code(
        &self,
        to: &Email,
        code: &OneTimeCode,
        act: ProofAct,
        origin: &str,
    ) -> Result<(), MailError> {
        let purpose = match act {
            ProofAct::AddPasskey => {
                "adds a passkey, which then signs in without this mailbox, to your account at Moments"
            }
            ProofAct::RemovePasskey => "removes a passkey of your account at Moments",
            ProofAct::KeepPasskey => "keeps a passkey of your account at Moments that is to be removed",
            ProofAct::ConnectWallet => {
                "connects a wallet, which then signs in without this mailbox, to your account at Moments"
            }
            ProofAct::DisconnectWallet => "disconnects a wallet of your account at Moments",
            ProofAct::KeepEmail => "keeps the mail address of your account at Moments",
            ProofAct::ChangeEmail => "lets another mail address take this one's place in your account at Moments",
            ProofAct::NewEmail => "makes this the mail address of an account at Moments",
        };
        let otherwise = match act {
            ProofAct::NewEmail => "ignore this mail: nothing changes without the code",
            _ => "somebody is signed in to your account: sign in, sign out everywhere, and look through its activity",
        };
        let minutes = OneTimeCode::LIFETIME.as_secs() / 60;
        let how = format!(
            "It {purpose}. Enter it at {origin}/manage, where you asked for it, within {minutes} minutes, and nowhere else."
        );
        let fine = format!("Nobody of Moments will ever ask you for a code. If you did not ask for it, {otherwise}.");
        let parts = vec![Part::Code("The code is", code.reveal()), Part::Words(how), Part::Fine(fine)];
        self.send(to, &Letter { subject: "Your Moments code for a change of your account", parts }, None).await
    }

    /// Sends a notice of what happened to an account. One SES call.
    pub async fn send_notice(&self, to: &Email, notice: &Notice<'_>) -> Result<(), MailError> {
        let Notice { what, subject, when, network, origin } = notice;
        let about = if subject.is_empty() { String::new() } else { format!(": {subject}") };
        let advice = "If it was you, there is nothing to do. If it wasn't: sign in, sign out everywhere, revoke the API keys \
                      that you don't know, and look through the wallets, the addresses and the activity there. Then change \
                      the password of this mailbox: whoever reads it can sign in.";
        let parts = vec![
            Part::Words(format!("{what}{about}.")),
            Part::Facts(vec![("When", when), ("From", network), ("At", origin)]),
            Part::Words(advice.to_owned()),
            Part::Link("Look at your account", format!("{origin}/manage")),
            Part::Fine("Nobody of Moments will ever ask you for a code.".to_owned()),
        ];
        self.send(to, &Letter { subject: what, parts }, None).await
    }

    /// Tells that a webhook was switched off. One SES call.
    pub async fn send_webhook_off(
        &self,
        to: &Email,
        url: &WebhookUrl,
        why: &str,
        origin: &str,
    ) -> Result<(), MailError> {
        let words = format!("Your webhook at {host} was switched off: {why}.", host = url.host());
        let advice = format!(
            "Once its receiver answers again, switch it on. What happened meanwhile is kept at {origin}/events."
        );
        let link = Part::Link("See your webhooks", format!("{origin}/manage"));
        let parts = vec![Part::Words(words), Part::Words(advice), link];
        self.send(to, &Letter { subject: "A webhook of yours was switched off", parts }, None).await
    }

    /// Tells an artist what others did with their moments. Mail programs show a button that stops such mails (RFC 8058).
    /// One SES call.
    pub async fn send_news(&self, to: &Email, news: &NewsLetter) -> Result<(), MailError> {
        let message = with_unsubscribe(&self.sender, to, news)?;
        let message = RawMessage::builder().data(Blob::new(message)).build()?;
        let call = self.client.send_raw_email().source(&self.sender).destinations(to.as_str()).raw_message(message);
        let call = call.set_configuration_set_name(self.settings.clone());
        call.dispatch().await.map_err(MailError::refused)?;
        Ok(())
    }

    async fn send(&self, to: &Email, letter: &Letter<'_>, answer_to: Option<&str>) -> Result<(), MailError> {
        let body = Body::builder().text(utf8(&letter.text())?).html(utf8(&letter.html())?).build();
        let message = Message::builder().subject(utf8(letter.subject)?).body(body).build();
        let destination = Destination::builder().to_addresses(to.as_str()).build();
        let call = self.client.send_email().source(&self.sender).destination(destination).message(message);
        // Named in each call: an identity of the operator's own has other settings by default, or none.
        let call = call.set_configuration_set_name(self.settings.clone());
        let call = call.set_reply_to_addresses(answer_to.map(|address| vec![address.to_owned()]));
        call.dispatch().await.map_err(MailError::refused)?;
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

/// A mail with headers of its own, as it is sent.
fn with_unsubscribe(sender: &str, to: &Email, news: &NewsLetter) -> std::io::Result<Vec<u8>> {
    let subject = news.subject();
    let letter = news.letter(&subject);
    MessageBuilder::new()
        .from(sender)
        .to(to.as_str())
        .subject(subject.as_str())
        .header("List-Unsubscribe", Raw::new(format!("<{}>", news.unsubscribe)))
        .header("List-Unsubscribe-Post", Raw::new("List-Unsubscribe=One-Click"))
        .text_body(letter.text())
        .html_body(letter.html())
        .write_to_vec()
}

fn utf8(text: &str) -> Result<Content, BuildError> {
    Content::builder().charset("UTF-8").data(text).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mail_programs_are_told_how_to_unsubscribe_and_a_name_is_no_header() {
        let page = "https://a.example/m/8453/0x1/1".to_owned();
        let name = "Pier\r\nBcc: eve@example.com\r\n\r\nHello".to_owned();
        let news = NewsLetter {
            moments: vec![MomentNews { name, page, copies: Some("2".to_owned()), comments: 0, gift: None }],
            origin: "https://a.example/api".to_owned(),
            unsubscribe: format!("https://a.example/api/mails/unsubscribe?token={}", "x".repeat(73)),
            token: "x".repeat(73),
        };
        let to = "ada@example.com".parse().unwrap();
        let mail = String::from_utf8(with_unsubscribe("mail@a.example", &to, &news).unwrap()).unwrap();
        let (headers, _) = mail.split_once("\r\n\r\n").unwrap();
        let headers = headers.replace("\r\n ", " ").replace("\r\n\t", " ");
        assert!(headers.lines().any(|line| line == format!("List-Unsubscribe: <{}>", news.unsubscribe)), "{headers}");
        assert!(headers.lines().any(|line| line == "List-Unsubscribe-Post: List-Unsubscribe=One-Click"), "{headers}");
        assert!(headers.lines().any(|line| line.starts_with("To: ") && line.contains("ada@example.com")), "{headers}");
        assert!(!headers.lines().any(|line| line.starts_with("Bcc") || line.starts_with("Hello")), "{headers}");
    }
}
