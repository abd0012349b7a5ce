//! `POST /oauth/code`: mails a sign-in code.

#[cfg(test)]
mod description;

use std::time::Duration;

use serde::Serialize;
use shared::{
    auth::{
        rate_limit::{self, Limit},
        service_address::ServiceAddress,
        sign_in_code::SignInCodes,
    },
    clock, config,
    http::{ApiError, Endpoint, FromFields, Request, Response, StartError, serve},
    kms::MacKey,
    mail::Mailer,
    model::Email,
    store::{Codes, RateWindows, Table},
    telemetry::{self, Metric},
};
use utoipa::ToSchema;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(SendCode::from_env().await?).await
}

struct SendCode {
    limits: CodeLimits,
    windows: RateWindows,
    codes: SignInCodes,
    mailer: Mailer,
    address: ServiceAddress,
}

/// The recipient.
#[derive(FromFields, ToSchema)]
struct SendCodeRequest {
    /// Address of the mail.
    email: Email,
}

/// The code is on its way.
#[derive(Serialize, ToSchema)]
struct SendCodeResponse {
    /// The mail was sent. The answer is the same for unknown addresses.
    success: bool,
}

impl SendCode {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let table = Table::secrets(&aws)?;
        Ok(Self {
            limits: CodeLimits::from_env()?,
            windows: RateWindows::new(table.clone()),
            codes: SignInCodes::new(Codes::new(table), MacKey::from_env(&aws, "CODE_KEY_ID")?),
            mailer: Mailer::from_env(&aws)?,
            address: ServiceAddress::from_env(),
        })
    }
}

impl Endpoint for SendCode {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SendCodeRequest { email } = request.json()?.read()?;
        let sent = self.send(&email, request).await;
        telemetry::count(if sent.is_ok() { Metric::CodesSent } else { Metric::CodesRefused });
        sent?;
        Response::json(&SendCodeResponse { success: true })
    }
}

impl SendCode {
    async fn send(&self, email: &Email, request: &Request) -> Result<(), ApiError> {
        let now = clock::now()?;
        let limits = rate_limit::admit(&self.windows, &self.limits.of(email, request), now).await?;
        // Only the client's limit: the address's would reveal sign-ins of its owner.
        request.note_limits(limits.get(CodeLimits::CLIENT).map_or(&[], std::slice::from_ref));
        let (code, issued) = self.codes.issue(email, now).await?;
        let origin = self.address.of(request)?;
        if let Err(error) = self.mailer.send_code(email, &code, origin.as_str().trim_end_matches('/')).await {
            // An unsent code must not stay open to guesses.
            self.codes.withdraw(&issued).await?;
            return Err(ApiError::bad_gateway("The mail could not be sent: try again in a moment", error));
        }
        Ok(())
    }
}

/// Limits on codes: per address, per client and in total.
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

    fn of(&self, email: &Email, request: &Request) -> [Limit; 4] {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let address = email.fingerprint();
        let often = "Too many codes were asked for: use the newest one, or wait";
        [
            Limit { subject: format!("code#10m#{address}"), max: 3, window: HOUR / 6, message: often },
            Limit { subject: format!("code#1d#{address}"), max: 10, window: 24 * HOUR, message: often },
            Limit {
                subject: format!("code#client#{}", request.client_network()),
                max: self.per_client_hourly,
                window: HOUR,
                message: "Too many codes were asked for from your network: wait",
            },
            Limit {
                subject: "code#all".to_owned(),
                max: self.total_hourly,
                window: HOUR,
                message: "The service sends no more codes for now: wait",
            },
        ]
    }
}
