//! `POST /governance`: the arguments of a governor's function `propose`, for a proposal that publishes moments. They are
//! tried on the chain before they are answered; nothing is sent, and nothing is kept but the count of the client's limit.

#[cfg(test)]
mod description;
mod governance;
mod proposal;
mod request;

use std::time::Duration;

use serde::Serialize;
use shared::{
    auth::rate_limit::{self, Limit},
    chain::publishing::Publisher,
    clock, config,
    http::{ApiError, Endpoint, Request, Response, StartError, serve},
    model::Address,
    publication::{find_destination, locate_split},
    store::{RateWindows, Table},
    telemetry,
};
use utoipa::ToSchema;

use self::{
    governance::{Governance, Governances},
    proposal::{Proposal, ProposeArguments},
    request::BuildProposalRequest,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    telemetry::init()?;
    serve(BuildProposal::from_env().await?).await
}

struct BuildProposal {
    governances: Governances,
    windows: RateWindows,
    /// Most proposals that are built for one client's network within an hour.
    per_client_hourly: u32,
}

#[derive(Serialize, ToSchema)]
struct BuildProposalResponse<'a> {
    /// The contract to call `propose` on.
    governor: Address,
    /// The arguments of that call.
    #[schema(value_type = Vec<Value>, min_items = 5, max_items = 5)]
    args: ProposeArguments<'a>,
    /// Wei to send along, in decimal: none.
    value: &'static str,
}

impl BuildProposal {
    /// Reads `CHAINS`, `RPC_URLS`, `SECRET_TABLE` and `PROPOSALS_PER_CLIENT_HOURLY` (60).
    async fn from_env() -> Result<Self, StartError> {
        Ok(Self {
            governances: Governances::from_env()?,
            windows: RateWindows::new(Table::secrets(&config::aws().await)?),
            per_client_hourly: config::parsed_or("PROPOSALS_PER_CLIENT_HOURLY", "60")?,
        })
    }

    fn limit(&self, request: &Request) -> Limit {
        Limit {
            subject: format!("proposal#client#{}", request.client_network()),
            max: self.per_client_hourly,
            window: Duration::from_secs(60 * 60),
            message: "Too many proposals were built for your network: wait",
        }
    }
}

impl Endpoint for BuildProposal {
    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let asked = BuildProposalRequest::parse(request, &self.governances)?;
        request.note_limits(&rate_limit::admit(&self.windows, &[self.limit(request)], clock::now()?).await?);
        let Governance { chain, governor, node } = asked.governance;
        let (executor, split, destination) = tokio::join!(
            asked.governance.executor(),
            locate_split(chain, node, asked.split.as_ref(), asked.account),
            find_destination(node, &asked.target)
        );
        let (executor, split, destination) = (executor?, split?, destination?);
        let account = asked.account.into();
        let publisher = Publisher {
            addresses: &chain.addresses,
            account,
            operator: account,
            split: split.as_ref().map(|split| split.address),
        };
        let creation = split.and_then(|split| split.creation);
        let proposal = Proposal::new(&publisher, creation.as_ref(), destination, &asked.moments, asked.description);
        asked.governance.admit(executor, account, &proposal).await?;
        Response::json(&BuildProposalResponse { governor: (*governor).into(), args: proposal.arguments(), value: "0" })
    }
}
