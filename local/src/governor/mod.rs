//! Governors on a local chain that proposals can be passed through. Votes last a hundred blocks instead of days and
//! execution has no delay, so that the chain's clock stays in step with the machine's.

#![expect(clippy::too_many_arguments, reason = "the governor's event has nine fields")]

mod bravo;
mod nouns;

use std::collections::BTreeMap;

use alloy::{
    primitives::{Address, U256},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::TransactionReceipt,
    sol,
    sol_types::SolCall,
};
use shared::{chain::contracts::native::Governor::proposeCall, model::ChainId};

use self::Governor::{ProposalCreated, castVoteCall, executeCall, queueCall};
use crate::{
    contracts::Artifacts,
    lock::lock,
    node::{StepError, during, transact},
    paths::Paths,
};

/// The chain that has governors.
pub const CHAIN: ChainId = ChainId(1);

/// Blocks that a vote is open. Every transaction on the chain counts, since each is a block.
const VOTING_PERIOD: u64 = 100;
/// Value of a vote for a proposal.
const IN_FAVOUR: u8 = 1;

sol! {
    /// The functions that all governors share besides `propose`.
    #[sol(rpc)]
    interface Governor {
        event ProposalCreated(
            uint256 id,
            address proposer,
            address[] targets,
            uint256[] values,
            string[] signatures,
            bytes[] calldatas,
            uint256 startBlock,
            uint256 endBlock,
            string description
        );

        function castVote(uint256 id, uint8 support) external;
        function queue(uint256 id) external;
        function execute(uint256 id) external payable;
        function votingDelay() external view returns (uint256);
        function votingPeriod() external view returns (uint256);
    }
}

/// A proposal: the arguments of a governor's `propose`.
pub type Proposal = proposeCall;

/// A governor on a local chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalGovernor {
    /// Contract that takes proposals.
    pub governor: Address,
    /// Contract that executes passed proposals.
    pub executor: Address,
    /// Account that proposes and votes, unlocked at the node. Nouns allows one open proposal per account.
    pub proposer: Address,
}

impl LocalGovernor {
    /// Deploys a Nouns governor (version 1) at its public addresses. Works once per node.
    pub async fn deploy_nouns(rpc_url: &str, artifacts: &Artifacts) -> Result<Self, StepError> {
        nouns::deploy(rpc_url, artifacts).await
    }

    /// Deploys an OpenZeppelin governor compatible with Governor Bravo. Works once per node.
    pub async fn deploy_bravo(rpc_url: &str, artifacts: &Artifacts) -> Result<Self, StepError> {
        bravo::deploy(rpc_url, artifacts).await
    }

    /// Proposes, votes, queues and executes, which mines over a hundred blocks. Returns the execution's receipt, or an
    /// error if one of the proposal's actions fails.
    pub async fn pass(&self, rpc_url: &str, proposal: &Proposal) -> Result<TransactionReceipt, StepError> {
        let mut executed = self.pass_together(rpc_url, &[(self.proposer, proposal)]).await?;
        executed.pop().ok_or("no proposal").map_err(during("executing"))
    }

    /// The same with proposals of several proposers, in one vote: far fewer than it has blocks. Returns the receipts in the
    /// proposals' order.
    pub async fn pass_together(
        &self,
        rpc_url: &str,
        proposals: &[(Address, &Proposal)],
    ) -> Result<Vec<TransactionReceipt>, StepError> {
        // The blocks mined to end one vote would also end another, of another process perhaps.
        let _passing =
            lock(&Paths::of_checkout().local("governor.lock")).await.map_err(during("waiting for the vote before"))?;

        let node = RootProvider::connect(rpc_url).await.map_err(during("connecting"))?;
        let governor = Governor::new(self.governor, &node);
        let delay = governor.votingDelay().call().await.map_err(during("reading when votes begin"))?;
        let period = governor.votingPeriod().call().await.map_err(during("reading how long votes last"))?;

        let (step, mut open) = ("proposing", Vec::new());
        for (proposer, proposal) in proposals {
            let by = Self { proposer: *proposer, ..*self };
            let proposed = by.send(&node, step, *proposal).await?;
            open.push((by, proposed.decoded_log::<ProposalCreated>().ok_or("no proposal").map_err(during(step))?.id));
        }
        mine(&node, delay + U256::ONE).await?;
        for (by, id) in &open {
            by.send(&node, "voting", &castVoteCall { id: *id, support: IN_FAVOUR }).await?;
        }
        mine(&node, period).await?;
        let mut executed = Vec::new();
        for (by, id) in &open {
            by.send(&node, "queueing", &queueCall { id: *id }).await?;
            executed.push(by.send(&node, "executing", &executeCall { id: *id }).await?);
        }
        Ok(executed)
    }

    async fn send(
        &self,
        node: &RootProvider,
        step: &'static str,
        call: &impl SolCall,
    ) -> Result<TransactionReceipt, StepError> {
        transact(node, step, self.proposer, self.governor, U256::ZERO, call.abi_encode()).await
    }
}

/// Deploys both governors, and returns the addresses by name in lower camel case.
pub async fn deploy(rpc_url: &str, artifacts: &Artifacts) -> Result<BTreeMap<&'static str, Address>, StepError> {
    let nouns = LocalGovernor::deploy_nouns(rpc_url, artifacts).await?;
    let bravo = LocalGovernor::deploy_bravo(rpc_url, artifacts).await?;
    Ok(BTreeMap::from([
        ("governor", nouns.governor),
        ("governorExecutor", nouns.executor),
        ("bravoGovernor", bravo.governor),
        ("bravoExecutor", bravo.executor),
    ]))
}

async fn mine(node: &RootProvider, blocks: U256) -> Result<(), StepError> {
    let blocks = blocks.try_into().map_err(during("counting blocks"))?;
    node.anvil_mine(Some(blocks), None).await.map_err(during("mining blocks"))
}

/// The accounts with voting power: all that the node has unlocked.
async fn voters(node: &RootProvider) -> Result<Vec<Address>, StepError> {
    node.get_accounts().await.map_err(during("finding voters"))
}

#[cfg(test)]
mod tests {
    use alloy::{primitives::address, sol_types::SolValue};
    use shared::chain::{Chain, Chains};

    use super::*;
    use crate::{Error, chains::LocalChain, node::testing::start_with_contracts};

    sol! {
        #[sol(rpc)]
        interface Currency {
            function transfer(address to, uint256 amount) external returns (bool);
            function balanceOf(address account) external view returns (uint256);
        }
    }

    const FRIEND: Address = Address::repeat_byte(0xf0);

    #[tokio::test]
    async fn nouns_governor_executes_a_proposal() -> Result<(), Error> {
        let (anvil, chain) = started().await?;
        let governor =
            LocalGovernor::deploy_nouns(&anvil.rpc_url, &Artifacts::compile(&Paths::of_checkout()).await?).await?;
        assert_eq!(governor.governor, address!("6f3E6272A167e8AcCb32072d08E0957F9c79223d"));
        proposals_pass(&anvil, &chain, governor).await
    }

    #[tokio::test]
    async fn bravo_governor_executes_a_proposal() -> Result<(), Error> {
        let (anvil, chain) = started().await?;
        let governor =
            LocalGovernor::deploy_bravo(&anvil.rpc_url, &Artifacts::compile(&Paths::of_checkout()).await?).await?;
        proposals_pass(&anvil, &chain, governor).await
    }

    async fn started() -> Result<(LocalChain, Chain), Error> {
        let chain = r#"[{"id": 1}]"#.parse::<Chains>()?.get(CHAIN)?.clone();
        Ok((start_with_contracts(&chain).await?, chain))
    }

    /// The executor mints 5 and transfers 3, once for each of two proposers.
    async fn proposals_pass(anvil: &LocalChain, chain: &Chain, governor: LocalGovernor) -> Result<(), Error> {
        let node: RootProvider = RootProvider::connect(&anvil.rpc_url).await?;
        let currency = Currency::new(chain.addresses.usdc, &node);
        let transfer = Currency::transferCall { to: FRIEND, amount: U256::from(3) };
        let proposal = Proposal {
            targets: vec![*currency.address(); 2],
            values: vec![U256::ZERO; 2],
            signatures: vec!["mint(address,uint256)".to_owned(), String::new()],
            calldatas: vec![
                (governor.executor, U256::from(5)).abi_encode_params().into(),
                transfer.abi_encode().into(),
            ],
            description: "# Currency\n\nFor a friend.".to_owned(),
        };
        let accounts = node.get_accounts().await?;
        for (proposer, rounds) in accounts.iter().zip(1..=2) {
            // The governor refuses an identical proposal.
            let proposal = Proposal { description: format!("{} {rounds}", proposal.description), ..proposal.clone() };
            let governor = LocalGovernor { proposer: *proposer, ..governor };
            governor.pass(&anvil.rpc_url, &proposal).await?;
            assert_eq!(currency.balanceOf(governor.executor).call().await?, U256::from(2 * rounds));
            assert_eq!(currency.balanceOf(FRIEND).call().await?, U256::from(3 * rounds));
        }
        Ok(())
    }

    #[tokio::test]
    async fn failing_action_fails_the_execution() -> Result<(), Error> {
        let (anvil, chain) = started().await?;
        let artifacts = Artifacts::compile(&Paths::of_checkout()).await?;
        for governor in [
            LocalGovernor::deploy_nouns(&anvil.rpc_url, &artifacts).await?,
            LocalGovernor::deploy_bravo(&anvil.rpc_url, &artifacts).await?,
        ] {
            let proposal = Proposal {
                targets: vec![chain.addresses.usdc],
                values: vec![U256::ZERO],
                signatures: vec!["transfer(address,uint256)".to_owned()],
                calldatas: vec![(FRIEND, U256::ONE).abi_encode_params().into()],
                description: "# Currency\n\nThat the executor doesn't have.".to_owned(),
            };
            let error = governor.pass(&anvil.rpc_url, &proposal).await.err().ok_or("the proposal passed")?;
            assert!(error.to_string().starts_with("executing: "), "{error}");
        }
        Ok(())
    }
}
