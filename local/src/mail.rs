//! Reads the mails that the emulated SES has sent.

use std::{collections::BTreeMap, time::Duration};

use serde::Deserialize;

use crate::Error;

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
}

#[derive(Deserialize)]
struct SentMails {
    /// Account → mails, newest last.
    messages: BTreeMap<String, Vec<Mail>>,
}

/// Every mail sent to an address, newest last.
pub async fn mails_to(list_url: &str, address: &str) -> Result<Vec<Mail>, Error> {
    let sent: SentMails = reqwest::get(list_url).await?.json().await?;
    let mails = sent.messages.into_values().flatten();
    Ok(mails.filter(|mail| mail.to.iter().any(|to| to.eq_ignore_ascii_case(address))).collect())
}

/// The six-digit code in the newest mail to an address. Waits up to 5 seconds for more than `seen` mails.
pub async fn newest_code(list_url: &str, address: &str, seen: usize) -> Result<String, Error> {
    for _ in 0..100 {
        let mails = mails_to(list_url, address).await?;
        if let Some(mail) = mails.get(seen..).and_then(<[Mail]>::last) {
            let words = mail.body_text.split_once("code is ").map_or("", |(_, rest)| rest);
            let digits = words.split(|c: char| !c.is_ascii_digit()).find(|word| word.len() == 6);
            return digits.map(str::to_owned).ok_or_else(|| "the mail holds no code".into());
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    Err(format!("no mail came for {address}").into())
}
