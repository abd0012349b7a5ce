//! `POST /oauth/code`: mails a sign-in code.

#[cfg(test)]
mod description;

use std::time::Duration;

use serde::Serialize;
use shared::{
    auth::{
        rate_limit::{self, Limit},
        service_address::ServiceAddress,
        sign_in_code::{SignInCodes, holder},
    },
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    kms::MacKey,
    mail::Mailer,
    model::{Email, Nonce},
    store::secret::{Codes, FailedCodes, RateWindows, SecretTable, SignInHistory},
    telemetry::{self, Metric},
};
use utoipa::ToSchema;

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

/// The recipient.
#[derive(FromFields, ToSchema)]
struct SendCodeRequest {
    /// Address of the mail.
    email: Email,
    /// Any random text. Send it to `POST /oauth/login`, too: without it nobody can use the code or its tries.
    nonce: Option<Nonce>,
}

/// The code is on its way.
#[derive(Serialize, ToSchema)]
struct SendCodeResponse {
    /// The mail was sent. The answer is the same for unknown addresses.
    success: bool,
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
        let standing = self.failed_codes.standing(&mailbox, &client, now.as_secs()).await?;
        let limits = self.limits.of(&mailbox, &client, standing, request);
        let limits = rate_limit::admit(&self.windows, &limits, now).await?;
        // Only the client's limit: the address's would reveal sign-ins of its owner.
        request.note_limits(limits.get(CodeLimits::CLIENT).map_or(&[], std::slice::from_ref));
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

/// Limits on codes: per mailbox and client, per client, in total, and per mailbox.
struct CodeLimits {
    per_client_hourly: u32,
    total_hourly: u32,
}

impl CodeLimits {
    /// Index of the client's limit.
    const CLIENT: usize = 2;

    /// Reads `CODES_PER_CLIENT_HOURLY` (30) and `CODES_TOTAL_HOURLY` (3000).
    fn from_env() -> Result<Self, StartError> {
        Ok(Self {
            per_client_hourly: config::parsed_or("CODES_PER_CLIENT_HOURLY", "30")?,
            total_hourly: config::parsed_or("CODES_TOTAL_HOURLY", "3000")?,
        })
    }

    /// A client that the mailbox signed in from isn't held up by what strangers ask for it, and mailboxes that signed in
    /// before not by those that never did.
    fn of(&self, mailbox: &str, client: &str, standing: SignInHistory, request: &Request) -> Vec<Limit> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let often = "Too many codes were asked for: use the newest one, or wait";
        let pool = if standing.is_known_mailbox { "known" } else { "new" };
        let mut limits = vec![
            Limit { subject: format!("code#10m#{mailbox}#{client}"), max: 3, window: HOUR / 6, message: often },
            Limit { subject: format!("code#1d#{mailbox}#{client}"), max: 10, window: 24 * HOUR, message: often },
            Limit {
                subject: format!("code#client#{}", request.client_network()),
                max: self.per_client_hourly,
                window: HOUR,
                message: "Too many codes were asked for from your network: wait",
            },
            Limit {
                subject: format!("code#all#{pool}"),
                max: self.total_hourly,
                window: HOUR,
                message: "The service sends no more codes for now: wait",
            },
        ];
        if !standing.is_known_client {
            limits.push(Limit {
                subject: format!("code#mailbox#{mailbox}"),
                max: 20,
                window: 24 * HOUR,
                message: often,
            });
        }
        limits
    }
}
