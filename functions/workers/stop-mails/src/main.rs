//! Remembers addresses whose mails came back for good or were called spam: SES pauses an account that goes on writing to
//! them, and then nobody could sign in.
//! <https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html>

use lambda_runtime::LambdaEvent;
use serde::Deserialize;
use shared::{
    clock,
    config::{self, StartError},
    model::Email,
    store::secret::{SecretTable, StoppedMails},
    telemetry::{self, trace},
};

/// An event of SES, through EventBridge.
#[derive(Debug, Deserialize)]
struct MailEvent {
    detail: Detail,
}

#[derive(Debug, Deserialize)]
struct Detail {
    bounce: Option<Bounce>,
    complaint: Option<Complaint>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bounce {
    bounce_type: String,
    bounced_recipients: Vec<Recipient>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complaint {
    complained_recipients: Vec<Recipient>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Recipient {
    email_address: String,
}

impl Detail {
    /// Whom nothing is to be mailed. A full mailbox comes back, too, but not for good.
    fn stopped(self) -> Vec<Email> {
        let bounced = self.bounce.filter(|bounce| bounce.bounce_type == "Permanent");
        let bounced = bounced.map(|bounce| bounce.bounced_recipients);
        let complained = self.complaint.map(|complaint| complaint.complained_recipients);
        let recipients = bounced.into_iter().chain(complained).flatten();
        // Text that is no address was never mailed.
        recipients.filter_map(|recipient| recipient.email_address.parse().ok()).collect()
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    let stopped = &StoppedMails::new(SecretTable::from_env(&config::aws().await)?);
    trace::run(move |event: LambdaEvent<MailEvent>| stop(stopped, event.payload)).await
}

async fn stop(stopped: &StoppedMails, event: MailEvent) -> Result<(), StartError> {
    let now = clock::now()?.as_secs();
    for email in event.detail.stopped() {
        stopped.stop(&email, now).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn stopped(detail: serde_json::Value) -> Vec<String> {
        let event: MailEvent = serde_json::from_value(json!({"detail": detail})).unwrap();
        event.detail.stopped().iter().map(|email| email.as_str().to_owned()).collect()
    }

    #[test]
    fn permanent_bounces_and_complaints_stop_an_address_and_full_mailboxes_do_not() {
        let recipients = json!([{"emailAddress": "ada@example.com", "status": "5.1.1"}]);
        let bounce = |kind: &str| json!({"bounce": {"bounceType": kind, "bouncedRecipients": recipients}});
        assert_eq!(stopped(bounce("Permanent")), ["ada@example.com"]);
        assert!(stopped(bounce("Transient")).is_empty() && stopped(bounce("Undetermined")).is_empty());
        let complaint = json!({"complaint": {"complainedRecipients": [{"emailAddress": "Bob@Example.com"}]}});
        assert_eq!(stopped(complaint), ["bob@example.com"]);
        assert!(stopped(json!({"delivery": {}})).is_empty());
    }
}
