//! The Nouns governor, from its published build.

use alloy::{
    primitives::{Address, U256, address, aliases::U48, uint},
    sol,
    sol_types::SolValue,
};

use super::{LocalGovernor, VOTING_PERIOD, voters};
use crate::{
    contracts::{Artifacts, DEPLOYER, Deployment},
    node::StepError,
};

// Public addresses on Ethereum:
// https://github.com/nounsDAO/nouns-monorepo/blob/master/packages/nouns-sdk/src/contract/addresses.json
const GOVERNOR: Address = address!("6f3E6272A167e8AcCb32072d08E0957F9c79223d");
const EXECUTOR: Address = address!("b1a32FC9F9D8b2cf86C068Cae13108809547ef71");

// Storage slots that are set directly: without their constructors the contracts have no admin, and the shortest voting
// period that the governor accepts is a day.
const ADMIN_SLOT: U256 = uint!(0_U256);
const VOTING_PERIOD_SLOT: U256 = uint!(5_U256);
/// The shortest voting period that the governor accepts, in blocks.
const MIN_VOTING_PERIOD: U256 = uint!(5_760_U256);
/// The shortest delay that the executor's constructor accepts, in seconds. Its storage isn't kept, so there is no
/// delay.
const MIN_DELAY: U256 = uint!(172_800_U256);
/// The smallest quorum that the governor accepts, in hundredths of a percent of all votes.
const QUORUM_BPS: U256 = uint!(200_U256);

sol! {
    interface NounsGovernor {
        function initialize(
            address timelock,
            address nouns,
            address vetoer,
            uint256 votingPeriod,
            uint256 votingDelay,
            uint256 proposalThresholdBPS,
            uint256 quorumVotesBPS
        ) external;
    }

    interface NounsToken {
        function mintSeed(address to, uint48 background, uint48 body, uint48 accessory, uint48 head, uint48 glasses)
            external;
    }
}

pub(super) async fn deploy(rpc_url: &str, artifacts: &Artifacts) -> Result<LocalGovernor, StepError> {
    let mut deployment = Deployment::on(rpc_url, artifacts).await?;
    let token = token(&deployment).await?;

    let contract = "governorExecutor";
    let arguments = (GOVERNOR, MIN_DELAY).abi_encode_params();
    deployment.place(contract, EXECUTOR, &artifacts.compiled(contract, "NounsDAOExecutor")?, &arguments).await?;
    deployment.store(contract, EXECUTOR, ADMIN_SLOT, GOVERNOR.into_word()).await?;

    let contract = "governor";
    deployment.place(contract, GOVERNOR, &artifacts.compiled(contract, "NounsDAOLogicV1")?, &[]).await?;
    deployment.store(contract, GOVERNOR, ADMIN_SLOT, DEPLOYER.into_word()).await?;
    let setup = NounsGovernor::initializeCall {
        timelock: EXECUTOR,
        nouns: token,
        vetoer: Address::ZERO,
        votingPeriod: MIN_VOTING_PERIOD,
        votingDelay: U256::ONE,
        proposalThresholdBPS: U256::ONE,
        quorumVotesBPS: QUORUM_BPS,
    };
    deployment.call(contract, GOVERNOR, &setup).await?;
    deployment.store(contract, GOVERNOR, VOTING_PERIOD_SLOT, U256::from(VOTING_PERIOD).into()).await?;

    Ok(LocalGovernor { governor: GOVERNOR, executor: EXECUTOR, proposer: DEPLOYER })
}

/// Deploys the voting token and mints one per account, without artwork.
async fn token(deployment: &Deployment<'_>) -> Result<Address, StepError> {
    let contract = "governorToken";
    let code = deployment.artifacts.compiled(contract, "NounsTokenHarness")?;
    let (founders, nobody) = (DEPLOYER, Address::ZERO);
    let arguments = (founders, DEPLOYER, nobody, nobody, nobody).abi_encode_params();
    let token = deployment.create(contract, &code, &arguments).await?;
    let plain = U48::ZERO;
    for to in voters(&deployment.node).await? {
        let mint = NounsToken::mintSeedCall {
            to,
            background: plain,
            body: plain,
            accessory: plain,
            head: plain,
            glasses: plain,
        };
        deployment.call(contract, token, &mint).await?;
    }
    Ok(token)
}
