//! How many sign-in mails one mailbox gets.

use std::time::Duration;

use shared::{
    auth::rate_limit::{self, Limit},
    http::ApiError,
    model::{DeviceId, Email, SignInLink},
    store::secret::{RateWindows, SecretTable},
};

/// Strangers share a budget; a known device has one of its own. Over either, a mail is still sent once the last link is
/// about to expire: whoever reads the mailbox can always sign in, however often strangers ask for mails to it.
pub struct MailboxBudget(RateWindows);

impl MailboxBudget {
    /// Counts in the secret table.
    pub fn new(secrets: SecretTable) -> Self {
        Self(RateWindows::new(secrets))
    }

    /// Counts a mail; 429 if there is no room. A read and a transaction, over the budget twice.
    pub async fn admit(
        &self,
        email: &Email,
        known_device: Option<&DeviceId>,
        client: &str,
        now: Duration,
    ) -> Result<(), ApiError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let mailbox = email.mailbox();
        let limit = |subject: String, max: u32, window: Duration| Limit {
            subject: format!("code#{subject}"),
            max,
            window,
            message: "Mails were sent to this address: open the link in the newest one, or wait for another",
        };
        let often = |who: String| [limit(format!("10m#{who}"), 3, HOUR / 6), limit(format!("1d#{who}"), 10, 24 * HOUR)];
        let mut limits = match known_device {
            Some(device) => Vec::from(often(format!("{mailbox}#{device}"))),
            None => {
                let mut limits = Vec::from(often(format!("{mailbox}#{client}")));
                limits.push(limit(format!("mailbox#{mailbox}"), 20, 24 * HOUR));
                limits
            }
        };
        // A minute shorter than links live, so that one is alive when a mail is refused.
        let newest = |max: u32| limit(format!("newest#{mailbox}"), max, SignInLink::LIFETIME - HOUR / 60);
        limits.push(newest(u32::MAX));
        let Err(refused) = rate_limit::try_admit(&self.0, &limits, now).await? else { return Ok(()) };
        match rate_limit::try_admit(&self.0, &[newest(1)], now).await? {
            Ok(_) => Ok(()),
            Err(newest) => Err(if newest.wait < refused.wait { newest.into() } else { refused.into() }),
        }
    }
}
