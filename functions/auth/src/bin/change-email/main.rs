//! `POST /artists/email`: has a new mail address take the place of the artist's, after seven days.

use std::time::Duration;

use auth::change_email::{ChangeEmailRequest, ChangeEmailResponse};
use shared::{
    api::{activity::ActivityLog, error::no_artist, notice::NoticeMailer},
    auth::{client_limit::ClientLimit, session::SessionAuthenticator, sign_in_code::SignInCodes},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    kms::MacKeys,
    model::{ActivityKind, ArtistId, Email, OneTimeCode},
    store::{
        artist::{ArtistTable, Artists, ContactRefusal},
        secret::{CodeHolder, Codes, SecretTable, StoredCode},
    },
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<ChangeEmail>().await
}

struct ChangeEmail {
    sessions: SessionAuthenticator,
    attempts: ClientLimit,
    artists: Artists,
    codes: SignInCodes,
    activity: ActivityLog,
    notices: NoticeMailer,
}

impl Endpoint for ChangeEmail {
    /// Reads `SIGN_INS_PER_CLIENT_HOURLY` (600) besides what its parts read.
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let (aws, most) = (config::aws().await, config::parsed(config::variables::SIGN_INS_PER_CLIENT_HOURLY)?);
        let secrets = SecretTable::from_env(&aws)?;
        let keys = MacKeys::from_env(&aws, config::variables::CODE_KEY_IDS)?;
        Ok(Self {
            sessions: SessionAuthenticator::from_env(secrets.clone())?,
            attempts: ClientLimit::new(secrets.clone(), "change-email", most, HOUR),
            artists: Artists::new(ArtistTable::from_env(&aws)?),
            codes: SignInCodes::new(Codes::new(secrets.clone()), keys),
            activity: ActivityLog::from_env(&aws)?,
            notices: NoticeMailer::from_env(&aws, secrets)?,
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let now = clock::now()?;
        let token = self.sessions.authenticate_freshly(request, now).await?;
        let ChangeEmailRequest { email, code, current_code } = request.json()?.read()?;
        self.attempts.admit(request, now).await?;
        let artist = self.artists.profile(token.artist).await?.ok_or_else(no_artist)?.artist;
        let contact = self.artists.contact(token.artist, now.as_secs()).await?;
        let of_present = match &contact.email {
            Some(present) if !token.is_by_passkey => {
                let code = current_code.ok_or_else(|| {
                    ApiError::invalid_field("currentCode", "is required: it was mailed to your present address")
                })?;
                Some((present, self.check(present, &code, token.artist, "currentCode", now).await?))
            }
            _ => None,
        };
        let of_new = self.check(&email, &code, token.artist, "code", now).await?;
        let changed = self.artists.change_email(artist, &contact, &email, now.as_secs()).await?.map_err(|refusal| {
            ApiError::conflict(match refusal {
                ContactRefusal::Taken => {
                    "This address is that of another account: delete that one first, or use another"
                }
                ContactRefusal::Changing => "Your address is to change already: stop that first, DELETE /artists/email",
            })
        })?;
        // Used up last: an earlier failure costs an attempt, not the codes.
        self.codes.use_code(&email, &of_new).await?;
        if let Some((present, code)) = of_present {
            self.codes.use_code(present, &code).await?;
        }
        let kind = ActivityKind::EmailChanging;
        self.activity.note(request, token.artist, kind, "").await;
        self.notices.send(request, &email, token.artist, kind, "").await;
        Response::json(&ChangeEmailResponse { success: true, changes_at: clock::iso_8601(changed.from)? })
    }
}

impl ChangeEmail {
    async fn check(
        &self,
        email: &Email,
        code: &OneTimeCode,
        artist: ArtistId,
        field: &str,
        now: Duration,
    ) -> Result<StoredCode, ApiError> {
        let checked = self.codes.check(email, code, &CodeHolder::Change(artist), now).await?;
        checked.matching.ok_or_else(|| ApiError::invalid_field(field, "is wrong or no longer valid: ask for new codes"))
    }
}
