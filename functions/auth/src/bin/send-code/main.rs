//! `POST /oauth/code`: mails a sign-in code and a link.

use std::time::Duration;

use auth::{
    mailbox_budget::MailboxBudget,
    send_code::{SendCodeRequest, SendCodeResponse},
};
use shared::{
    auth::{
        mail_budget::{MailBudget, NetworkMails, Room},
        service_address::ServiceAddress,
        sign_in_code::{SignInCodes, holder},
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    kms::MacKeys,
    mail::Mailer,
    model::{DeviceId, DeviceToken, Email, Nonce},
    store::secret::{CodeHolder, Codes, FailedCodes, SecretTable},
    telemetry::{self, Metric},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<SendCode>().await
}

struct SendCode {
    networks: NetworkMails,
    mailboxes: MailboxBudget,
    total: MailBudget,
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
            networks: NetworkMails::from_env(table.clone())?,
            mailboxes: MailboxBudget::new(table.clone()),
            total: MailBudget::from_env(table.clone())?,
            failed_codes: FailedCodes::new(table.clone()),
            codes: SignInCodes::new(Codes::new(table), MacKeys::from_env(&aws, config::variables::CODE_KEY_IDS)?),
            mailer: Mailer::from_env(&aws)?,
            address: ServiceAddress::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let SendCodeRequest { email, nonce, device_token } = request.json()?.read()?;
        let now = clock::now()?;
        let device = device_token.as_ref().map(DeviceToken::id);
        let sent = self.send(&email, nonce.as_ref(), device, request, now).await;
        telemetry::count(if sent.is_ok() { Metric::CodesSent } else { Metric::CodesRefused });
        sent?;
        Response::json(&SendCodeResponse { success: true })
    }
}

impl SendCode {
    async fn send(
        &self,
        email: &Email,
        nonce: Option<&Nonce>,
        device: Option<DeviceId>,
        request: &Request,
        now: Duration,
    ) -> Result<(), ApiError> {
        let history = self.failed_codes.history(email, device.as_ref(), now.as_secs()).await?;
        let known_device = device.filter(|_| history.is_known_device);
        if known_device.is_none() {
            // Only the network's limit is shown: the mailbox's would reveal sign-ins of its owner.
            request.note_limits(&[self.networks.admit(request, now).await?]);
        }
        let client = request.client_hash();
        self.mailboxes.admit(email, known_device.as_ref(), &client, now).await?;
        if history.is_stopped {
            return Err(ApiError::unprocessable(
                "Mails to this address came back or were called spam, so none is sent for 30 days: use another address, \
                 or ask whoever runs the service",
            ));
        }
        let room = self.total.admit_sign_in(history.is_known_mailbox, now).await?;
        let holder = history.takes_codes().then(|| holder(nonce, known_device.as_ref(), &client));
        self.mail(email, holder, request, now).await?;
        match room {
            Room::Kept(answer) if !history.is_known_device => Err(answer),
            Room::Kept(_) | Room::Open => Ok(()),
        }
    }

    async fn mail(
        &self,
        email: &Email,
        holder: Option<CodeHolder>,
        request: &Request,
        now: Duration,
    ) -> Result<(), ApiError> {
        let issued = self.codes.issue(email, holder, now).await?;
        let origin = self.address.of(request)?;
        let origin = origin.as_str().trim_end_matches('/');
        if let Err(error) = self.mailer.send_sign_in(email, &issued.link, issued.code.as_ref(), origin).await {
            // An unsent code must not stay open to guesses.
            self.codes.withdraw(&issued).await?;
            return Err(ApiError::bad_gateway("The mail could not be sent: try again in a moment", error));
        }
        Ok(())
    }
}
