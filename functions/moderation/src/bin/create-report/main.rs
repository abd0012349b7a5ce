//! `POST /reports`: tells the operator of something that shouldn't be shown.

use std::time::Duration;

use moderation::create_report::{CreateReportRequest, CreateReportResponse, ReportedSubject};
use shared::{
    api::read::{MomentList, Reader},
    auth::{client_limit::ClientLimit, service_address::ServiceAddress},
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Input, Request, Response, serve},
    model::{Page, Subject},
    store::{
        artist::{ArtistTable, Artists, Media, Moderation, Report},
        chain::{ChainTable, Comments, Scope},
        secret::SecretTable,
    },
};
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateReport>().await
}

struct CreateReport {
    reader: Reader,
    artists: Artists,
    comments: Comments,
    media: Media,
    moderation: Moderation,
    clients: ClientLimit,
    /// Of one subject, so that nobody fills the room of its reports alone.
    repeats: ClientLimit,
    address: ServiceAddress,
}

impl CreateReport {
    /// What a page's form sent, without a script. Other sites' forms are refused: they would have their visitors report.
    fn form(&self, request: &Request) -> Result<Input, ApiError> {
        let own = self.address.of(request).map_err(ApiError::internal)?.origin().ascii_serialization();
        if request.header("origin").is_some_and(|origin| origin != own) {
            return Err(ApiError::forbidden("This form is sent from pages of this service alone"));
        }
        request.form()
    }

    /// The subject as decisions name it, an artist by the embedded wallet; 404 if there is no such thing. A few reads.
    async fn existing(&self, subject: Subject) -> Result<Subject, ApiError> {
        let is_there = match subject {
            Subject::Moment(place) => self.reader.moment(&place).await?.is_some(),
            Subject::Collection(chain, address) => self.reader.collection(chain, address).await?.is_some(),
            Subject::Comment(chain, comment) => self.comments.find(chain, comment).await?.is_some(),
            Subject::File(cid) => self.media.stored(cid).await?.is_some(),
            Subject::Artist(account) => {
                if let Some(profile) = self.artists.profile_of(account).await? {
                    return Ok(Subject::Artist(profile.artist.embedded_wallet));
                }
                let made = MomentList::of_accounts(&self.reader.chains(None), &[account], Scope::Of);
                self.reader.page_of(&made, Page::FIRST).await?.total > 0
            }
        };
        if is_there { Ok(subject) } else { Err(ApiError::not_found("Nothing here is what this report names")) }
    }
}

impl Endpoint for CreateReport {
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let aws = config::aws().await;
        let most: u32 = config::parsed(config::variables::REPORTS_PER_CLIENT_HOURLY)?;
        let (secrets, of_one) = (SecretTable::from_env(&aws)?, (most / 4).max(1));
        let (artists, chain) = (ArtistTable::from_env(&aws)?, ChainTable::from_env(&aws)?);
        Ok(Self {
            reader: Reader::from_env(chain.clone(), artists.clone())?,
            artists: Artists::new(artists.clone()),
            comments: Comments::new(chain),
            media: Media::new(artists.clone()),
            moderation: Moderation::new(artists),
            clients: ClientLimit::new(secrets.clone(), "report", most, HOUR),
            repeats: ClientLimit::new(secrets, "repeated-report", of_one, 24 * HOUR),
            address: ServiceAddress::from_env(),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let input = if request.is_form() { self.form(request)? } else { request.json()? };
        let asked: CreateReportRequest = input.read_for(&self.reader)?;
        let CreateReportRequest { subject: ReportedSubject(subject), reason, text, email } = asked;
        let now = clock::now()?;
        request.note_limits(&[self.clients.admit(request, now).await?]);
        let subject = self.existing(subject).await?;
        self.repeats.admit_about(request, subject, now).await?;
        let report = Report { id: Uuid::now_v7(), subject, reason, statement: text, email, at: now.as_secs() };
        if !self.moderation.report(&report).await? {
            return Err(ApiError::conflict(
                "The operator has so many reports of this to look at that further ones aren't taken: try again later",
            ));
        }
        if request.is_form() {
            return Response::notice("Thank you", "The operator of this site will look at it.").with_status(202);
        }
        Response::json(&CreateReportResponse { report_id: report.id })?.with_status(202)
    }
}
