//! A governor built from OpenZeppelin's contracts, with a timelock as its executor.

use alloy::{
    primitives::{Address, B256, U256, keccak256},
    sol,
    sol_types::SolValue,
};

use super::{LocalGovernor, VOTING_PERIOD, voters};
use crate::{
    contracts::{Artifacts, DEPLOYER, Deployment},
    node::StepError,
};

sol! {
    interface Timelock {
        function grantRole(bytes32 role, address account) external;
    }
}

pub(super) async fn deploy(rpc_url: &str, artifacts: &Artifacts) -> Result<LocalGovernor, StepError> {
    let deployment = Deployment::on(rpc_url, artifacts).await?;
    let contract = "bravoToken";
    let arguments = voters(&deployment.node).await?.abi_encode();
    let token = deployment.create(contract, &artifacts.compiled(contract, "VotesToken")?, &arguments).await?;

    let contract = "bravoExecutor";
    let code = artifacts.packaged(contract, "@openzeppelin/contracts/build/contracts/TimelockController.json")?;
    let (delay, nobody, anyone) = (U256::ZERO, Vec::<Address>::new(), vec![Address::ZERO]);
    let arguments = (delay, nobody, anyone, DEPLOYER).abi_encode_params();
    let executor = deployment.create(contract, &code, &arguments).await?;

    let contract = "bravoGovernor";
    let arguments = (token, executor, U256::from(VOTING_PERIOD)).abi_encode_params();
    let governor = deployment.create(contract, &artifacts.compiled(contract, "BravoGovernor")?, &arguments).await?;
    // The governor's constructor takes the executor, so the role can only be granted afterwards.
    let proposer_role: B256 = keccak256("PROPOSER_ROLE");
    let permission = Timelock::grantRoleCall { role: proposer_role, account: governor };
    deployment.call(contract, executor, &permission).await?;

    Ok(LocalGovernor { governor, executor, proposer: DEPLOYER })
}
