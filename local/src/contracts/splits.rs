//! The contracts of revenue splits.

use alloy::sol_types::SolValue;
use shared::chain::ChainAddresses;

use super::Deployment;
use crate::node::StepError;

impl Deployment<'_> {
    /// The factory of splits, and their implementation contract.
    pub(super) async fn splits(&mut self, addresses: &ChainAddresses) -> Result<(), StepError> {
        let contract = "splitFactory";
        let split = self.create(contract, &self.artifacts.compiled(contract, "PushSplit")?, &[]).await?;
        let factory = self.artifacts.compiled(contract, "PushSplitFactory")?;
        self.place(contract, addresses.split_factory, &factory, &split.abi_encode()).await
    }
}

#[cfg(test)]
mod tests {
    use alloy::{
        hex,
        primitives::{Address, B256, Bytes, U256, address},
        providers::{Provider, RootProvider, ext::AnvilApi},
        rpc::types::TransactionReceipt,
        sol,
        sol_types::{SolCall, SolEvent},
    };
    use shared::{
        chain::{Chain, Chains},
        model::ChainId,
    };

    use super::*;
    use crate::{
        Error,
        chains::LocalChain,
        contracts::DEPLOYER,
        node::{testing::start_with_contracts, transact},
    };

    sol! {
        #[derive(Debug)]
        #[sol(rpc)]
        interface SplitFactory {
            struct Split {
                address[] recipients;
                uint256[] allocations;
                uint256 totalAllocation;
                uint16 distributionIncentive;
            }

            event SplitCreated(address indexed split, Split splitParams, address owner, address creator, bytes32 salt);

            function createSplit(Split split, address owner, address creator) external returns (address);
            function createSplitDeterministic(Split split, address owner, address creator, bytes32 salt)
                external returns (address);
            function predictDeterministicAddress(Split split, address owner, bytes32 salt)
                external view returns (address);
            function predictDeterministicAddress(Split split, address owner) external view returns (address);
            function isDeployed(Split split, address owner, bytes32 salt) external view returns (address, bool);
        }

        #[derive(Debug)]
        #[sol(rpc)]
        interface PushSplit {
            event SplitDistributed(address indexed token, address indexed distributor, uint256 amount);

            error InvalidSplit();
            error InvalidSplit_LengthMismatch();
            error InvalidSplit_TotalAllocationMismatch();

            function distribute(SplitFactory.Split split, address token, address distributor) external;
        }

        #[sol(rpc)]
        interface Currency {
            function mint(address account, uint256 amount) external;
            function balanceOf(address account) external view returns (uint256);
        }
    }

    const NATIVE_TOKEN: Address = address!("EeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE");
    const OWNER: Address = Address::repeat_byte(0x01);
    const CREATOR: Address = Address::repeat_byte(0x02);
    const DISTRIBUTOR: Address = Address::repeat_byte(0x03);
    const ADA: Address = Address::repeat_byte(0xa0);
    const BO: Address = Address::repeat_byte(0xb0);
    const SALT: B256 = B256::repeat_byte(0x5a);

    fn two_to_one() -> SplitFactory::Split {
        SplitFactory::Split {
            recipients: vec![ADA, BO],
            allocations: vec![U256::from(666_667), U256::from(333_333)],
            totalAllocation: U256::from(1_000_000),
            distributionIncentive: 0,
        }
    }

    async fn started() -> Result<(LocalChain, RootProvider, Chain), Error> {
        let chain = r#"[{"id": 1}]"#.parse::<Chains>()?.get(ChainId(1))?.clone();
        let anvil = start_with_contracts(&chain).await?;
        let node = RootProvider::connect(&anvil.rpc_url).await?;
        Ok((anvil, node, chain))
    }

    async fn send(node: &RootProvider, to: Address, call: &Bytes) -> Result<TransactionReceipt, StepError> {
        transact(node, "split", DEPLOYER, to, U256::ZERO, call.to_vec()).await
    }

    /// Selectors and topics as in <https://github.com/0xSplits/splits-contracts-monorepo>, `packages/splits-v2`.
    #[test]
    fn selectors_match_the_public_factory() {
        assert_eq!(SplitFactory::createSplitCall::SELECTOR, hex!("2556fa39"));
        assert_eq!(SplitFactory::createSplitDeterministicCall::SELECTOR, hex!("f79918b0"));
        assert_eq!(SplitFactory::predictDeterministicAddress_0Call::SELECTOR, hex!("e9889edd"));
        assert_eq!(SplitFactory::predictDeterministicAddress_1Call::SELECTOR, hex!("80ebf0ab"));
        assert_eq!(SplitFactory::isDeployedCall::SELECTOR, hex!("cd6bc121"));
        assert_eq!(PushSplit::distributeCall::SELECTOR, hex!("2d3f5537"));
        assert_eq!(SplitFactory::SplitCreated::SIGNATURE_HASH[..4], hex!("c4cec5a1"));
        assert_eq!(PushSplit::SplitDistributed::SIGNATURE_HASH[..4], hex!("562c19c0"));
    }

    #[tokio::test]
    async fn split_is_deployed_once_at_the_predicted_address() -> Result<(), Error> {
        let (_anvil, node, chain) = started().await?;
        let factory = SplitFactory::new(chain.addresses.split_factory, &node);
        let predicted = factory.predictDeterministicAddress_0(two_to_one(), OWNER, SALT).call().await?;
        let is_deployed = async || factory.isDeployed(two_to_one(), OWNER, SALT).call().await;
        assert_eq!((is_deployed().await?._0, is_deployed().await?._1), (predicted, false));

        let creation = factory.createSplitDeterministic(two_to_one(), OWNER, CREATOR, SALT);
        let created = send(&node, *factory.address(), creation.calldata()).await?;
        let event = created.decoded_log::<SplitFactory::SplitCreated>().ok_or("no event")?;
        assert_eq!((event.split, event.owner, event.creator, event.salt), (predicted, OWNER, CREATOR, SALT));
        assert!(is_deployed().await?._1);

        let again = factory.createSplitDeterministic(two_to_one(), OWNER, CREATOR, SALT);
        assert_eq!(again.call().await?, predicted);
        assert!(send(&node, *factory.address(), again.calldata()).await?.logs().is_empty());

        let next = factory.predictDeterministicAddress_1(two_to_one(), OWNER).call().await?;
        send(&node, *factory.address(), factory.createSplit(two_to_one(), OWNER, CREATOR).calldata()).await?;
        assert!(!node.get_code_at(next).await?.is_empty());
        assert_ne!(factory.predictDeterministicAddress_1(two_to_one(), OWNER).call().await?, next);
        Ok(())
    }

    #[tokio::test]
    async fn split_with_unequal_lists_or_a_wrong_sum_is_refused() -> Result<(), Error> {
        let (_anvil, node, chain) = started().await?;
        let factory = SplitFactory::new(chain.addresses.split_factory, &node);
        let refusal = async |split| {
            let error = factory.createSplit(split, OWNER, CREATOR).call().await.err()?;
            error.as_decoded_interface_error::<PushSplit::PushSplitErrors>()
        };
        let unequal = SplitFactory::Split { recipients: vec![ADA], ..two_to_one() };
        let too_much = SplitFactory::Split { totalAllocation: U256::from(999_999), ..two_to_one() };
        assert!(matches!(refusal(unequal).await, Some(PushSplit::PushSplitErrors::InvalidSplit_LengthMismatch(_))));
        assert!(matches!(
            refusal(too_much).await,
            Some(PushSplit::PushSplitErrors::InvalidSplit_TotalAllocationMismatch(_))
        ));
        Ok(())
    }

    #[tokio::test]
    async fn distribution_pays_each_recipient_their_share() -> Result<(), Error> {
        let (_anvil, node, chain) = started().await?;
        let factory = SplitFactory::new(chain.addresses.split_factory, &node);
        let address = factory.predictDeterministicAddress_0(two_to_one(), OWNER, SALT).call().await?;
        let creation = factory.createSplitDeterministic(two_to_one(), OWNER, CREATOR, SALT);
        send(&node, *factory.address(), creation.calldata()).await?;
        let split = PushSplit::new(address, &node);

        transact(&node, "ether for the split", DEPLOYER, address, U256::from(3_000_000), vec![]).await?;
        send(&node, address, split.distribute(two_to_one(), NATIVE_TOKEN, DISTRIBUTOR).calldata()).await?;
        assert_eq!(node.get_balance(ADA).await?, U256::from(2_000_001));
        assert_eq!(node.get_balance(BO).await?, U256::from(999_999));

        let currency = Currency::new(chain.addresses.usdc, &node);
        send(&node, *currency.address(), currency.mint(address, U256::from(1_000_001)).calldata()).await?;
        send(&node, address, split.distribute(two_to_one(), *currency.address(), DISTRIBUTOR).calldata()).await?;
        for (account, balance) in [(ADA, 666_667), (BO, 333_333), (address, 1), (DISTRIBUTOR, 0)] {
            assert_eq!(currency.balanceOf(account).call().await?, U256::from(balance), "{account}");
        }

        let others = SplitFactory::Split { recipients: vec![BO, ADA], ..two_to_one() };
        let refused = split.distribute(others, NATIVE_TOKEN, DISTRIBUTOR).call().await.err().ok_or("not refused")?;
        assert!(refused.as_decoded_error::<PushSplit::InvalidSplit>().is_some());
        Ok(())
    }

    #[tokio::test]
    async fn distributor_receives_the_incentive() -> Result<(), Error> {
        let (_anvil, node, chain) = started().await?;
        let factory = SplitFactory::new(chain.addresses.split_factory, &node);
        let with_incentive = SplitFactory::Split { distributionIncentive: 10_000, ..two_to_one() };
        let address = factory.predictDeterministicAddress_1(with_incentive.clone(), OWNER).call().await?;
        let creation = factory.createSplit(with_incentive.clone(), OWNER, CREATOR);
        send(&node, *factory.address(), creation.calldata()).await?;

        node.anvil_set_balance(address, U256::from(1_000_000)).await?;
        let distribution =
            PushSplit::distributeCall { split: with_incentive, token: NATIVE_TOKEN, distributor: DISTRIBUTOR };
        send(&node, address, &distribution.abi_encode().into()).await?;
        for (account, balance) in [(ADA, 660_000), (BO, 329_999), (DISTRIBUTOR, 10_000), (address, 1)] {
            assert_eq!(node.get_balance(account).await?, U256::from(balance), "{account}");
        }
        Ok(())
    }
}
