//! `POST /artists/email/challenge`: mails the codes that prove a new mail address and the present one.

use std::time::Duration;

use auth::{
    challenge_email::{ChallengeEmailRequest, ChallengeEmailResponse},
    mailbox_budget::MailboxBudget,
};
use shared::{
    auth::{
        mail_budget::{MailBudget, NetworkMails, Room},
        service_address::ServiceAddress,
        session::SessionAuthenticator,
        sign_in_code::SignInCodes,
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    kms::MacKeys,
    mail::{Mailbox, Mailer},
    model::{ArtistId, Email},
    store::{
        artist::{ArtistTable, Artists},
        secret::{Codes, FailedCodes, SecretTable},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ChallengeEmail>().await
}

struct ChallengeEmail {
    sessions: SessionAuthenticator,
    artists: Artists,
    networks: NetworkMails,
    mailboxes: MailboxBudget,
    total: MailBudget,
    failed_codes: FailedCodes,
    codes: SignInCodes,
    mailer: Mailer,
    address: ServiceAddress,
}

impl Endpoint for ChallengeEmail {
    async fn from_env() -> Result<Self, StartError> {
        let aws = config::aws().await;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            networks: NetworkMails::from_env(secrets.clone())?,
            mailboxes: MailboxBudget::new(secrets.clone()),
            total: MailBudget::from_env(secrets.clone())?,
            failed_codes: FailedCodes::new(secrets.clone()),
            codes: SignInCodes::new(Codes::new(secrets), MacKeys::from_env(&aws, config::variables::CODE_KEY_IDS)?),
            mailer: Mailer::from_env(&aws)?,
            address: ServiceAddress::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let token = self.sessions.authenticate_freshly(request, now).await?;
        let ChallengeEmailRequest { email } = request.json()?.read()?;
        request.note_limits(&[self.networks.admit(request, now).await?]);
        let present = self.artists.contact(token.artist, now.as_secs()).await?.email;
        if present.as_ref() == Some(&email) {
            return Err(ApiError::invalid_field("email", "is your mail address already"));
        }
        let present = present.filter(|_| !token.is_by_passkey);
        // The new one last: it is mailed nothing if the present one can't be.
        if let Some(present) = &present {
            self.mail(request, token.artist, present, Mailbox::Present, now).await?;
        }
        self.mail(request, token.artist, &email, Mailbox::New, now).await?;
        Response::json(&ChallengeEmailResponse { success: true, needs_current_code: present.is_some() })
    }
}

impl ChallengeEmail {
    async fn mail(
        &self,
        request: &Request,
        artist: ArtistId,
        to: &Email,
        mailbox: Mailbox,
        now: Duration,
    ) -> Result<(), ApiError> {
        self.mailboxes.admit(to, None, &request.client_hash(), now).await?;
        let history = self.failed_codes.history(to, None, now.as_secs()).await?;
        if history.is_stopped {
            return Err(ApiError::unprocessable(match mailbox {
                Mailbox::New => "Mails to the new address came back or were called spam: use another one",
                Mailbox::Present => {
                    "Mails to your present address came back or were called spam: sign in with a passkey to change it \
                     without them"
                }
            }));
        }
        if let Room::Kept(refusal) = self.total.admit_sign_in(history.is_known_mailbox, now).await?
            && mailbox == Mailbox::New
        {
            return Err(refusal);
        }
        let code = self.codes.issue_for_change(to, artist, now).await?;
        let origin = self.address.of(request)?;
        let sent = self.mailer.send_change_code(to, &code, mailbox, origin.as_str().trim_end_matches('/')).await;
        sent.map_err(|error| ApiError::bad_gateway("The mail could not be sent: try again in a moment", error))
    }
}
