use alloy::primitives::Address;
use shared::{
    chain::{
        Chain, Chains,
        contracts::native::Governor::{proposeCall, timelockCall},
        node::{Node, NodeUrls},
        transaction::{SimulationError, simulate_with_gas},
        wallet::Call,
    },
    config::StartError,
    http::{AllowedChains, ApiError},
    model::{ChainId, Invalid},
};

use crate::proposal::Proposal;

/// Gas limit of one transaction: <https://eips.ethereum.org/EIPS/eip-7825>
const MAX_TRANSACTION_GAS: u64 = 1 << 24;

const MAKING: &str = "Making this proposal";

/// A description that every governor accepts.
const PLAIN_DESCRIPTION: &str = "# Proposal\n\nText.";

/// The configured governor doesn't exist.
#[derive(Debug, thiserror::Error)]
#[error("no governor at {0}")]
struct NoGovernor(Address);

/// Chains with a governor.
pub struct Governances(Vec<Governance>);

pub struct Governance {
    pub chain: Chain,
    pub governor: Address,
    pub node: Node,
}

impl Governances {
    /// Reads `CHAINS`: those with a governor and nodes.
    pub fn from_env(urls: &NodeUrls) -> Result<Self, StartError> {
        let chains = Chains::from_env()?;
        let mut governances = Vec::new();
        for chain in chains.iter().filter(|chain| urls.names(chain.id)) {
            if let Some(governor) = chain.governor {
                let node = Node::for_requests(urls, chain.id)?;
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

impl AllowedChains for Governances {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        match chain {
            ChainId(1 | 11_155_111) => self.get(chain).map(drop),
            _ => Err(Invalid("must be 1 (Ethereum) or 11155111 (Sepolia)")),
        }
    }
}

impl Governance {
    /// Caller of passed proposals: the governor's timelock, or the governor itself without one.
    pub async fn executor(&self) -> Result<Address, ApiError> {
        match self.node.read(self.governor, &timelockCall {}).await? {
            Some(timelock) => Ok(timelock),
            None if self.node.has_code(self.governor).await? => Ok(self.governor),
            None => Err(ApiError::internal(NoGovernor(self.governor))),
        }
    }

    /// Simulates that `account` makes the proposal and `executor` executes it; 422 with the reason if one of them
    /// fails.
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

    /// Ignores errors that any proposal of this account would get (too few votes, another open proposal): they may be
    /// gone when it is made.
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
        SimulationError::Reverts(reason) | SimulationError::Forbidden(reason) | SimulationError::Overtaken(reason) => {
            ApiError::unprocessable(reason)
        }
        SimulationError::CannotPay => ApiError::unprocessable("The governor's executor can't pay for this"),
        SimulationError::Node(error) => error.into(),
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
