//! Reads the mails that the emulated SES has sent.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::{Error, http, patience::eventually};

/// A mail.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct Mail {
    /// Recipients' addresses.
    pub to: Vec<String>,
    /// Sender's address.
    pub source: String,
    /// Subject line.
    pub subject: String,
    /// Plain-text body.
    pub body_text: String,
    /// HTML body; empty without one.
    #[serde(default)]
    pub body_html: String,
}

#[derive(Deserialize)]
struct SentMails {
    /// Account → mails, newest last.
    messages: BTreeMap<String, Vec<Mail>>,
}

/// Every sent mail, newest last.
pub async fn all(list_url: &str) -> Result<Vec<Mail>, Error> {
    let sent: SentMails = http::client().get(list_url).send().await?.json().await?;
    Ok(sent.messages.into_values().flatten().collect())
}

/// Every mail sent to an address, newest last.
pub async fn mails_to(list_url: &str, address: &str) -> Result<Vec<Mail>, Error> {
    let mut mails = all(list_url).await?;
    mails.retain(|mail| mail.to.iter().any(|to| to.eq_ignore_ascii_case(address)));
    Ok(mails)
}

/// The six-digit code in a mail.
pub fn code_in(mail: &Mail) -> Option<&str> {
    let (_, rest) = mail.body_text.split_once("code is ")?;
    rest.split(|c: char| !c.is_ascii_digit()).find(|word| word.len() == 6)
}

/// The secret of the sign-in link in a mail.
pub fn link_in(mail: &Mail) -> Option<&str> {
    let (_, rest) = mail.body_text.split_once("/manage#link=")?;
    rest.split_whitespace().next()
}

/// The newest six-digit code that an address was mailed. Waits for one after the first `seen` mails: news and gifts are
/// mailed at any time.
pub async fn newest_code(list_url: &str, address: &str, seen: usize) -> Result<String, Error> {
    let code = eventually(format!("a code after {seen} mails to {address}"), async || {
        let mails = mails_to(list_url, address).await?;
        Ok(mails.iter().skip(seen).rev().find_map(code_in).map(str::to_owned))
    });
    code.await
}
