//! `PATCH /moment`: moves a moment to another collection.

use moments::move_moment::MoveMomentRequest;
use shared::{
    api::{activity::ActivityLog, transact::TransactionService},
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::Scope,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<MoveMoment>().await
}

struct MoveMoment {
    service: TransactionService,
    activity: ActivityLog,
}

impl Endpoint for MoveMoment {
    async fn from_env() -> Result<Self, StartError> {
        let activity = ActivityLog::from_env(&config::aws().await)?;
        Ok(Self { service: TransactionService::from_env().await?, activity })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let caller = self.service.authenticate(request, Scope::Admin).await?;
        let body: MoveMomentRequest = request.json()?.read_for(&self.service)?;
        self.service.move_moment(request, caller, &self.activity, body.into()).await
    }
}
