//! `POST /governance`: arguments of a governor's `propose` for a proposal that publishes moments. They are simulated
//! onchain first; nothing is sent, and only the client's rate limit is stored.

mod governor;
mod proposal;

use std::time::Duration;

use governance::build_proposal::{BuildProposalRequest, BuildProposalResponse};
use shared::{
    api::publish::locate_split,
    auth::client_limit::ClientLimit,
    chain::{
        node::NodeUrls,
        protocol::{destination::Destination, publishing::Publisher},
    },
    clock,
    config::{self, StartError},
    http::{ApiError, Endpoint, Request, Response, serve},
    model::CheckedAddress,
    store::secret::SecretTable,
};

use self::{
    governor::{Governance, Governances},
    proposal::Proposal,
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), StartError> {
    serve::<BuildProposal>().await
}

struct BuildProposal {
    governances: Governances,
    clients: ClientLimit,
}

impl Endpoint for BuildProposal {
    /// Reads `CHAINS`, `RPC_URLS`, `SECRET_TABLE` and `PROPOSALS_PER_CLIENT_HOURLY` (60).
    async fn from_env() -> Result<Self, StartError> {
        const HOUR: Duration = Duration::from_secs(60 * 60);
        let most = config::parsed(config::variables::PROPOSALS_PER_CLIENT_HOURLY)?;
        let aws = config::aws().await;
        let governances = Governances::from_env(&NodeUrls::from_env(&aws).await?)?;
        let secrets = SecretTable::from_env(&aws)?;
        Ok(Self { governances, clients: ClientLimit::new(secrets, "proposal", most, HOUR) })
    }

    async fn handle(&self, request: &Request) -> Result<Response, ApiError> {
        let asked: BuildProposalRequest = request.large_json()?.read_for(&self.governances)?;
        let governance = self.governances.get(asked.chain_id).map_err(ApiError::internal)?;
        request.note_limits(&[self.clients.admit(request, clock::now()?).await?]);
        let (Governance { chain, governor, node }, CheckedAddress(account)) = (governance, asked.account);
        let (executor, split, destination) = tokio::join!(
            governance.executor(),
            locate_split(chain, node, asked.splits.0.as_ref(), account),
            Destination::find(node, &asked.contract)
        );
        let (executor, split, destination) = (executor?, split?, destination?);
        let account = account.into();
        let publisher = Publisher {
            addresses: &chain.addresses,
            account,
            operator: account,
            split: split.as_ref().map(|split| split.address),
        };
        let creation = split.and_then(|split| split.creation);
        let proposal =
            Proposal::new(&publisher, creation.as_ref(), destination, &asked.tokens, asked.proposal.markdown());
        governance.admit(executor, account, &proposal).await?;
        Response::json(&BuildProposalResponse { governor: (*governor).into(), args: proposal.arguments(), value: "0" })
    }
}
