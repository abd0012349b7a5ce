//! `POST /oauth/code`: mails a sign-in code.

use std::{iter, time::Duration};

use auth::send_code::{SendCodeRequest, SendCodeResponse};
use shared::{
    auth::{
        rate_limit::{self, Limit},
        service_address::ServiceAddress,
        sign_in_code::{SignInCodes, holder},
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, RateLimit, Request, Response, serve},
    kms::MacKey,
    mail::Mailer,
    model::{Email, Nonce},
    store::secret::{Codes, FailedCodes, RateWindows, SecretTable, SignInHistory},
    telemetry::{self, Metric},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<SendCode>().await
}

struct SendCode {
    limits: CodeLimits,
    windows: RateWindows,
    codes: SignInCodes,
    failed_codes: FailedCodes,
    mailer: Mailer,
    address: ServiceAddress,
}

impl Endpoint for SendCode {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = SecretTable::from_env(&aws)?;
        Ok(Self {
            limits: CodeLimits::from_env()?,
            windows: RateWindows::new(table.clone()),
            failed_codes: FailedCodes::new(table.clone()),
            codes: SignInCodes::new(Codes::new(table), MacKey::from_env(&aws, "CODE_KEY_ID")?),
            mailer: Mailer::from_env(&aws)?,
            address: ServiceAddress::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SendCodeRequest { email, nonce } = request.json()?.read()?;
        let sent = self.send(&email, nonce.as_ref(), request).await;
        telemetry::count(if sent.is_ok() { Metric::CodesSent } else { Metric::CodesRefused });
        sent?;
        Response::json(&SendCodeResponse { success: true })
    }
}

impl SendCode {
    async fn send(&self, email: &Email, nonce: Option<&Nonce>, request: &Request) -> Result<(), ApiError> {
        let now = clock::now()?;
        let (mailbox, client) = (email.mailbox(), request.client_hash());
        let history = self.failed_codes.history(&mailbox, &client, now.as_secs()).await?;
        let limits = self.limits.of_request(&mailbox, &client, history, request);
        // Only the client's limit: the address's would reveal sign-ins of its owner.
        request.note_limits(limits.admit(&self.windows, now).await?.as_slice());
        let (code, issued) = self.codes.issue(email, holder(nonce, &client), now).await?;
        let origin = self.address.of(request)?;
        if let Err(error) = self.mailer.send_code(email, &code, origin.as_str().trim_end_matches('/')).await {
            // An unsent code must not stay open to guesses.
            self.codes.withdraw(&issued).await?;
            return Err(ApiError::bad_gateway("The mail could not be sent: try again in a moment", error));
        }
        Ok(())
    }
}

/// Configured limits on codes.
struct CodeLimits {
    per_client_hourly: u32,
    total_hourly: u32,
}

/// Limits on one request for a code.
struct RequestLimits {
    client: Limit,
    /// Per mailbox and client, in total, and per mailbox.
    others: Vec<Limit>,
}

impl CodeLimits {
    /// Reads `CODES_PER_CLIENT_HOURLY` (30) and `CODES_TOTAL_HOURLY` (3000).
    fn from_env() -> Result<Self, StartError> {
        Ok(Self {
            per_client_hourly: config::parsed_or("CODES_PER_CLIENT_HOURLY", "30")?,
            total_hourly: config::parsed_or("CODES_TOTAL_HOURLY", "3000")?,
        })
    }

    /// Strangers' requests for a mailbox don't hold up a client that it signed in from, and requests for new mailboxes
    /// don't hold up mailboxes that signed in before.
    fn of_request(&self, mailbox: &str, client: &str, history: SignInHistory, request: &Request) -> RequestLimits {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let often = "Too many codes were asked for: use the newest one, or wait";
        let pool = if history.is_known_mailbox { "known" } else { "new" };
        let client_limit = Limit {
            subject: format!("code#client#{}", request.client_network()),
            max: self.per_client_hourly,
            window: HOUR,
            message: "Too many codes were asked for from your network: wait",
        };
        let mut others = vec![
            Limit { subject: format!("code#10m#{mailbox}#{client}"), max: 3, window: HOUR / 6, message: often },
            Limit { subject: format!("code#1d#{mailbox}#{client}"), max: 10, window: 24 * HOUR, message: often },
            Limit {
                subject: format!("code#all#{pool}"),
                max: self.total_hourly,
                window: HOUR,
                message: "The service sends no more codes for now: wait",
            },
        ];
        if !history.is_known_client {
            others.push(Limit {
                subject: format!("code#mailbox#{mailbox}"),
                max: 20,
                window: 24 * HOUR,
                message: often,
            });
        }
        RequestLimits { client: client_limit, others }
    }
}

impl RequestLimits {
    /// Counts the request against all limits, or none if one is used up (429). The state of the client's.
    async fn admit(self, windows: &RateWindows, now: Duration) -> Result<Option<RateLimit>, ApiError> {
        let limits: Vec<_> = iter::once(self.client).chain(self.others).collect();
        Ok(rate_limit::admit(windows, &limits, now).await?.into_iter().next())
    }
}
