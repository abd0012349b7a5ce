//! `POST /reports`: tells the operator of something that shouldn't be shown.

use std::time::Duration;

use moderation::create_report::{CreateReportRequest, CreateReportResponse, ReportedSubject};
use shared::{
    auth::client_limit::ClientLimit,
    chain::Chains,
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    store::{
        artist::{ArtistTable, Moderation, Report},
        secret::SecretTable,
    },
};
use uuid::Uuid;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<CreateReport>().await
}

struct CreateReport {
    chains: Chains,
    moderation: Moderation,
    clients: ClientLimit,
}

impl Endpoint for CreateReport {
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let aws = config::aws().await;
        let most = config::parsed(config::variables::REPORTS_PER_CLIENT_HOURLY)?;
        Ok(Self {
            chains: Chains::from_env()?,
            moderation: Moderation::new(ArtistTable::from_env(&aws)?),
            clients: ClientLimit::new(SecretTable::from_env(&aws)?, "report", most, HOUR),
        })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let asked: CreateReportRequest = request.json()?.read_for(&self.chains)?;
        let CreateReportRequest { subject: ReportedSubject(subject), reason, text, email } = asked;
        let now = clock::now()?;
        request.note_limits(&[self.clients.admit(request, now).await?]);
        let report = Report { id: Uuid::now_v7(), subject, reason, statement: text, email, at: now.as_secs() };
        self.moderation.report(&report).await?;
        Response::json(&CreateReportResponse { report_id: report.id })?.with_status(202)
    }
}
