//! Deploys every contract that the service uses to an anvil node, at the addresses of the chain's configuration, so
//! that the service runs with its real address table.

mod artifacts;
mod splits;
mod timed_sale;

use std::collections::BTreeMap;

use alloy::{
    hex,
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, U256, address, b256, keccak256},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::TransactionRequest,
    sol,
    sol_types::{SolCall, SolValue},
};
use shared::chain::{Chain, ChainAddresses, PROTOCOL_REWARDS, node::MULTICALL, wallet};

pub use self::artifacts::Artifacts;
use self::artifacts::creation_code;
use crate::node::{StepError, during, transact};

/// Anvil's first account: deploys and owns the contracts, and receives the protocol's fees.
pub const DEPLOYER: Address = address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266");

// A public address, the same on every chain:
// https://github.com/ourzora/zora-protocol/tree/main/packages/protocol-deployments
const UPGRADE_GATE: Address = address!("bC50029836A59A4E5e1Bb8988272F46ebA0F9900");

/// Deploys by CREATE2, so the address depends only on the code: <https://github.com/safe-global/safe-singleton-factory>
pub const SINGLETON_FACTORY: Address = address!("914d7Fec6aaC8cd542e72Bca78B30650d45643d7");
/// A contract with the same code, which every anvil node has from the start.
const DETERMINISTIC_DEPLOYER: Address = address!("4e59b44847b379578588920cA78FbF26c0B4956C");
/// Storage slot of a proxy's implementation: <https://eips.ethereum.org/EIPS/eip-1967>
const IMPLEMENTATION_SLOT: B256 = b256!("360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc");
/// The compiler's placeholder for the address of the library `DelegatedTokenCreation`.
const LIBRARY_PLACEHOLDER: &str = "__$043acd83f10da8891b44992e6ee2cc1d8e$__";

/// The protocol's share of an ERC-20 price, in percent.
const ERC20_REWARD_PERCENT: u64 = 5;
/// Fee for collecting in an ERC-20 currency, besides the price: 0.000111 ether, in wei.
const ERC20_ETH_REWARD: u64 = 111_000_000_000_000;

sol! {
    interface Owned {
        function initialize(address owner) external;
    }

    interface Erc20MinterSetup {
        function initialize(address rewardRecipient, address owner, uint256 rewardPercent, uint256 ethReward) external;
    }
}

/// Deploys everything to a fresh anvil node, which must run with `--disable-code-size-limit`, since the collections'
/// code is an unoptimised build. Returns the addresses by name in lower camel case. After an error the node is
/// unusable.
pub async fn deploy(
    rpc_url: &str,
    chain: &Chain,
    artifacts: &Artifacts,
) -> Result<BTreeMap<&'static str, Address>, StepError> {
    let mut deployment = Deployment::on(rpc_url, artifacts).await?;
    deployment.accounts().await?;
    deployment.multicall().await?;
    deployment.sales(&chain.addresses).await?;
    deployment.timed_sale(&chain.addresses).await?;
    deployment.factory(&chain.addresses).await?;
    deployment.comments_and_currency(&chain.addresses).await?;
    deployment.splits(&chain.addresses).await?;
    deployment.other_protocols(&chain.addresses).await?;
    Ok(deployment.addresses)
}

/// A deployment in progress.
pub(crate) struct Deployment<'a> {
    pub(crate) node: RootProvider,
    pub(crate) artifacts: &'a Artifacts,
    addresses: BTreeMap<&'static str, Address>,
}

impl<'a> Deployment<'a> {
    pub(crate) async fn on(rpc_url: &str, artifacts: &'a Artifacts) -> Result<Self, StepError> {
        let node = RootProvider::connect(rpc_url).await.map_err(during("connecting"))?;
        Ok(Self { node, artifacts, addresses: BTreeMap::new() })
    }

    /// The contracts of Safe accounts, deployed as on public chains.
    async fn accounts(&mut self) -> Result<(), StepError> {
        let step = "singletonFactory";
        let code = self.node.get_code_at(DETERMINISTIC_DEPLOYER).await.map_err(during(step))?;
        self.node.anvil_set_code(SINGLETON_FACTORY, code).await.map_err(during(step))?;

        let folder = "@safe-global/safe-contracts/build/artifacts/contracts";
        for (contract, expected, subfolder, name) in [
            ("safeProxyFactory", wallet::PROXY_FACTORY, "proxies/", "SafeProxyFactory"),
            ("safeSingleton", wallet::SINGLETON, "", "SafeL2"),
            ("operatorSingleton", wallet::OPERATOR_SINGLETON, "", "Safe"),
            ("safeFallbackHandler", wallet::FALLBACK_HANDLER, "handler/", "CompatibilityFallbackHandler"),
            ("multiSendCallOnly", wallet::MULTI_SEND_CALL_ONLY, "libraries/", "MultiSendCallOnly"),
        ] {
            let code = self.artifacts.packaged(contract, &format!("{folder}/{subfolder}{name}.sol/{name}.json"))?;
            let address = self.create(contract, &code, &[]).await?;
            if address != expected {
                return Err(during(contract)(format!("deployed at {address} instead of {expected}")));
            }
            self.addresses.insert(contract, address);
        }
        Ok(())
    }

    /// The contract that makes many reads in one call.
    async fn multicall(&mut self) -> Result<(), StepError> {
        let contract = "multicall";
        let code = self.artifacts.compiled(contract, "Multicall3")?;
        self.place(contract, MULTICALL, &code, &[]).await
    }

    /// The sale strategies, and the contracts that they share with collections.
    async fn sales(&mut self, addresses: &ChainAddresses) -> Result<(), StepError> {
        for (contract, address, name) in [
            ("protocolRewards", PROTOCOL_REWARDS, "ProtocolRewards"),
            ("upgradeGate", UPGRADE_GATE, "UpgradeGate"),
            ("fixedPriceMinter", addresses.fixed_price_minter, "ZoraCreatorFixedPriceSaleStrategy"),
            ("erc20Minter", addresses.erc20_minter, "ERC20Minter"),
        ] {
            self.place(contract, address, &self.protocol_bytecode(contract, name, name)?, &[]).await?;
        }
        if let Some(address) = addresses.merkle_minter {
            let (contract, name) = ("merkleMinter", "ZoraCreatorMerkleMinterStrategy");
            self.place(contract, address, &self.protocol_bytecode(contract, name, name)?, &[]).await?;
        }
        let gate_setup = Owned::initializeCall { owner: DEPLOYER };
        self.call("upgradeGate", UPGRADE_GATE, &gate_setup).await?;
        let minter_setup = Erc20MinterSetup::initializeCall {
            rewardRecipient: DEPLOYER,
            owner: DEPLOYER,
            rewardPercent: U256::from(ERC20_REWARD_PERCENT),
            ethReward: U256::from(ERC20_ETH_REWARD),
        };
        self.call("erc20Minter", addresses.erc20_minter, &minter_setup).await
    }

    /// The factory, and the implementation contract of its collections.
    async fn factory(&mut self, addresses: &ChainAddresses) -> Result<(), StepError> {
        let contract = "creator1155Implementation";
        let code = self.protocol_bytecode(contract, "ZoraCreator1155Attribution", "DelegatedTokenCreation")?;
        let library = self.create(contract, &code, &[]).await?;
        let code = self.protocol_bytecode(contract, "ZoraCreator1155Impl", "ZoraCreator1155Impl")?;
        let linked = code.replace(LIBRARY_PLACEHOLDER, &hex::encode(library));
        let fee_recipient = DEPLOYER;
        let arguments = (fee_recipient, UPGRADE_GATE, PROTOCOL_REWARDS, addresses.timed_minter).abi_encode_params();
        let collection = self.create(contract, &linked, &arguments).await?;
        self.addresses.insert(contract, collection);

        let contract = "factory";
        let code = self.protocol_bytecode(contract, "ZoraCreator1155FactoryImpl", "ZoraCreator1155FactoryImpl")?;
        let (merkle_minter, redeem_minter_factory) = (Address::ZERO, Address::ZERO);
        let arguments = (collection, merkle_minter, addresses.fixed_price_minter, redeem_minter_factory);
        let implementation = self.create(contract, &code, &arguments.abi_encode_params()).await?;
        let proxy = self.protocol_bytecode(contract, "Zora1155Factory", "Zora1155Factory")?;
        let arguments = (implementation, Bytes::new()).abi_encode_params();
        self.place(contract, addresses.factory, &proxy, &arguments).await?;
        self.store(contract, addresses.factory, IMPLEMENTATION_SLOT.into(), implementation.into_word()).await?;
        self.call(contract, addresses.factory, &Owned::initializeCall { owner: DEPLOYER }).await
    }

    async fn comments_and_currency(&mut self, addresses: &ChainAddresses) -> Result<(), StepError> {
        for (contract, address, name) in
            [("comments", addresses.comments, "Comments"), ("usdc", addresses.usdc, "TestCurrency")]
        {
            self.place(contract, address, &self.artifacts.compiled(contract, name)?, &[]).await?;
        }
        self.call("comments", addresses.comments, &Owned::initializeCall { owner: DEPLOYER }).await
    }

    /// The other protocols that the service indexes, on chains that have them.
    async fn other_protocols(&mut self, addresses: &ChainAddresses) -> Result<(), StepError> {
        let mut places = Vec::new();
        if let Some(registry) = addresses.registry {
            let (currency, controller) = (addresses.usdc.abi_encode(), registry.controller.abi_encode());
            places.push(("releaseController", registry.controller, "ReleaseController", currency));
            places.push(("releaseFactory", registry.factory, "ReleaseFactory", controller));
        }
        if let Some(editions) = addresses.editions {
            places.push(("editionMetadata", editions.metadata, "EditionMetadata", Vec::new()));
            places.push(("editionCreator", editions.creator, "EditionCreator", editions.metadata.abi_encode()));
        }
        for (contract, address, name, arguments) in places {
            self.place(contract, address, &self.artifacts.compiled(contract, name)?, &arguments).await?;
        }
        Ok(())
    }

    fn protocol_bytecode(&self, contract: &'static str, source: &str, name: &str) -> Result<String, StepError> {
        self.artifacts.packaged(contract, &format!("@zoralabs/zora-1155-contracts/out/{source}.sol/{name}.json"))
    }

    /// Deploys a contract by CREATE2.
    pub(crate) async fn create(
        &self,
        contract: &'static str,
        code: &str,
        arguments: &[u8],
    ) -> Result<Address, StepError> {
        let creation = creation_code(contract, code, arguments)?;
        let salt = B256::ZERO;
        let input = [salt.as_slice(), &creation].concat();
        transact(&self.node, contract, DEPLOYER, SINGLETON_FACTORY, U256::ZERO, input).await?;
        Ok(SINGLETON_FACTORY.create2(salt, keccak256(&creation)))
    }

    /// Sets the code that a contract's constructor returns at a chosen address; its storage stays empty.
    pub(crate) async fn place(
        &mut self,
        contract: &'static str,
        address: Address,
        code: &str,
        arguments: &[u8],
    ) -> Result<(), StepError> {
        let creation = creation_code(contract, code, arguments)?;
        let construction = TransactionRequest::default().with_from(DEPLOYER).with_deploy_code(creation);
        let code = self.node.call(construction).await.map_err(during(contract))?;
        self.node.anvil_set_code(address, code).await.map_err(during(contract))?;
        self.addresses.insert(contract, address);
        Ok(())
    }

    /// Sets a slot of a contract's storage.
    pub(crate) async fn store(
        &self,
        contract: &'static str,
        address: Address,
        slot: U256,
        value: B256,
    ) -> Result<(), StepError> {
        self.node.anvil_set_storage_at(address, slot, value).await.map(drop).map_err(during(contract))
    }

    pub(crate) async fn call(
        &self,
        contract: &'static str,
        address: Address,
        call: &impl SolCall,
    ) -> Result<(), StepError> {
        transact(&self.node, contract, DEPLOYER, address, U256::ZERO, call.abi_encode()).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use shared::chain::{
        Chains,
        contracts::safe::{Safe, SafeProxyFactory},
        wallet::EmbeddedWallet,
    };

    use super::*;
    use crate::{Error, node::testing::start, paths::Paths};

    #[tokio::test]
    async fn contracts_are_at_the_configured_addresses() -> Result<(), Error> {
        let artifacts = Artifacts::compile(&Paths::of_checkout()).await?;
        for chain in r#"[{"id": 8453}, {"id": 1}]"#.parse::<Chains>()?.iter() {
            let anvil = start(chain).await?;
            let deployed = deploy(&anvil.rpc_url, chain, &artifacts).await?;

            let node = RootProvider::connect(&anvil.rpc_url).await?;
            assert_eq!(deployed.len(), if chain.addresses.registry.is_some() { 21 } else { 17 });
            for (name, address) in &deployed {
                assert!(!node.get_code_at(*address).await?.is_empty(), "no code of {name} at {address}");
            }
            for (name, address) in [
                ("factory", chain.addresses.factory),
                ("fixedPriceMinter", chain.addresses.fixed_price_minter),
                ("erc20Minter", chain.addresses.erc20_minter),
                ("timedMinter", chain.addresses.timed_minter),
                ("comments", chain.addresses.comments),
                ("splitFactory", chain.addresses.split_factory),
                ("usdc", chain.addresses.usdc),
            ] {
                assert_eq!(deployed.get(name), Some(&address));
            }
            accounts_are_at_the_computed_address(&node).await?;
        }
        Ok(())
    }

    async fn accounts_are_at_the_computed_address(node: &RootProvider) -> Result<(), Error> {
        let wallet = EmbeddedWallet::new(DEPLOYER, "018f4d2e-7c1a-4b7e-9a53-0c7d0f5f1e21".parse()?);
        let deployment = wallet.deployment();
        let salt = keccak256((keccak256(&deployment.initializer), deployment.saltNonce).abi_encode_packed());
        let proxy = SafeProxyFactory::new(wallet::PROXY_FACTORY, node).proxyCreationCode().call().await?;
        let creation = [proxy.as_ref(), wallet::SINGLETON.into_word().as_slice()].concat();
        assert_eq!(wallet.address(), wallet::PROXY_FACTORY.create2(salt, keccak256(creation)));

        transact(node, "account", DEPLOYER, wallet::PROXY_FACTORY, U256::ZERO, deployment.abi_encode()).await?;
        assert_eq!(Safe::new(wallet.address(), node).getOwners().call().await?, [DEPLOYER]);
        Ok(())
    }
}
