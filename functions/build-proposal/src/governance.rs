use alloy::primitives::Address;
use shared::{
    chain::{
        Chain, Chains,
        account::Call,
        contracts::Governor::{proposeCall, timelockCall},
        node::{Node, NodeUrls},
        simulate::{SimulationError, simulate_with_gas},
    },
    http::{ApiError, StartError},
    model::{ChainId, Invalid},
    writing::answer_node_error,
};

use crate::proposal::Proposal;

/// Most gas that one transaction may use: <https://eips.ethereum.org/EIPS/eip-7825>
const MAX_TRANSACTION_GAS: u64 = 1 << 24;

/// What takes gas, as the client is told.
const MAKING: &str = "Making this proposal";

/// A text that no governor has anything against.
const PLAIN_DESCRIPTION: &str = "# Proposal\n\nText.";

/// The configuration names a governor that isn't there.
#[derive(Debug, thiserror::Error)]
#[error("no governor at {0}")]
struct NoGovernor(Address);

/// The chains that proposals can be made for.
pub struct Governances(Vec<Governance>);

/// A chain and the governor that decides what is published there.
pub struct Governance {
    pub chain: Chain,
    pub governor: Address,
    pub node: Node,
}

impl Governances {
    /// Reads `CHAINS` and `RPC_URLS`: the chains with a governor and nodes.
    pub fn from_env() -> Result<Self, StartError> {
        let (chains, urls) = (Chains::from_env()?, NodeUrls::from_env()?);
        let mut governances = Vec::new();
        for chain in chains.iter().filter(|chain| urls.names(chain.id)) {
            if let Some(governor) = chain.governor {
                let node = Node::for_requests(&urls, chain.id)?;
                governances.push(Governance { chain: chain.clone(), governor, node });
            }
        }
        Ok(Self(governances))
    }

    pub fn get(&self, chain: ChainId) -> Result<&Governance, Invalid> {
        let governance = self.0.iter().find(|governance| governance.chain.id == chain);
        governance.ok_or(Invalid("is not a chain that this service builds proposals for"))
    }
}

impl Governance {
    /// Where what has passed is called from: the governor's timelock, or the governor itself where it has none.
    pub async fn executor(&self) -> Result<Address, ApiError> {
        match self.node.read(self.governor, &timelockCall {}).await.map_err(answer_node_error)? {
            Some(timelock) => Ok(timelock),
            None if self.node.has_code(self.governor).await.map_err(answer_node_error)? => Ok(self.governor),
            None => Err(NoGovernor(self.governor).into()),
        }
    }

    /// Makes sure that the proposal can be made by `account` and executed by `executor`, as things are now.
    ///
    /// # Errors
    /// 422 with the reason why not; 502 or 503 when no node answers.
    pub async fn admit(&self, executor: Address, account: Address, proposal: &Proposal) -> Result<(), ApiError> {
        admit_gas(MAKING, proposal.storage_gas())?;
        let (executed, made) =
            tokio::join!(self.try_execution(executor, proposal), self.try_proposing(account, proposal));
        executed.and(made)
    }

    async fn try_execution(&self, executor: Address, proposal: &Proposal) -> Result<(), ApiError> {
        let gas = simulate_with_gas(&self.node, executor, &proposal.calls()).await.map_err(answer_simulation_error)?;
        admit_gas("Executing this proposal", gas.unwrap_or_default())
    }

    /// What the governor would refuse of any proposal of this account (too few votes, another one that is open) may have
    /// changed when it is made, and is not this one's fault.
    async fn try_proposing(&self, account: Address, proposal: &Proposal) -> Result<(), ApiError> {
        let call = proposal.propose();
        let refusal = match self.try_call(account, &call).await {
            Ok(gas) => return admit_gas(MAKING, gas.unwrap_or_default()),
            Err(SimulationError::Reverts(reason)) => reason,
            Err(error) => return Err(answer_simulation_error(error)),
        };
        let plain = proposeCall { description: PLAIN_DESCRIPTION.to_owned(), ..call };
        match self.try_call(account, &plain).await {
            Err(SimulationError::Reverts(reason)) if reason == refusal => Ok(()),
            Ok(_) | Err(SimulationError::Reverts(_)) => Err(ApiError::unprocessable(refusal)),
            Err(error) => Err(answer_simulation_error(error)),
        }
    }

    async fn try_call(&self, account: Address, call: &proposeCall) -> Result<Option<u64>, SimulationError> {
        simulate_with_gas(&self.node, account, &[Call::new(self.governor, call)]).await
    }
}

fn answer_simulation_error(error: SimulationError) -> ApiError {
    match error {
        SimulationError::Reverts(reason) | SimulationError::Forbidden(reason) => ApiError::unprocessable(reason),
        SimulationError::CannotPay => ApiError::unprocessable("The governor's executor can't pay for this"),
        SimulationError::Node(error) => answer_node_error(error),
    }
}

fn admit_gas(what: &str, gas: u64) -> Result<(), ApiError> {
    if gas <= MAX_TRANSACTION_GAS {
        return Ok(());
    }
    Err(ApiError::unprocessable(format!(
        "{what} takes {gas} gas, more than the {MAX_TRANSACTION_GAS} that one transaction may use: ask for fewer tokens"
    )))
}
