//! A chain with the real contracts: an operator's Safe with lanes, guardian and guard, accounts, and the utility Safe.

use std::{fs, path::PathBuf};

use alloy::{
    hex,
    network::TransactionBuilder,
    primitives::{Address, B256, U256, address, b256, keccak256},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::{TransactionReceipt, TransactionRequest},
    sol_types::SolCall,
};
use local::{chains::LocalChain, paths::Paths, workshop};
use serde_json::Value;
use shared::model::ChainId;

use super::encoding::{Exec, ProxyFactory, Safe, arguments, setup};

pub type Error = local::Error;

/// Anvil's accounts, in their order.
const DEPLOYER: Address = address!("f39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
pub const LANES: [Address; 3] = [
    address!("70997970C51812dc3A010C7d01b50e0d17dc79C8"),
    address!("3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"),
    address!("90F79bf6EB2c4f870365E785982E1f101E93b906"),
];
/// The lane whose key is stolen, and that key.
pub const STOLEN: Address = LANES[2];
pub const STOLEN_KEY: B256 = b256!("7c852118294e51e653712a81e05800f419141751be58f605c371e15141b007a6");
pub const GUARDIAN: Address = address!("15d34AAf54267DB7D7c367839AAf71A00a2C6A65");
pub const THIEF: Address = address!("a0Ee7A142d267C1f36714E4a8F75612F20a79720");

/// Counts the calls of each caller, in the slot of the caller's address.
pub const TARGET: Address = address!("00000000000000000000000000000000000c0de1");
const TARGET_CODE: &str = "33546001013355";
/// Writes the thief's address to slot 0, which in a Safe is the singleton's: run by delegatecall, it takes the Safe over.
pub const HOSTILE: Address = address!("00000000000000000000000000000000000c0de2");

const SINGLETON_FACTORY: Address = address!("914d7Fec6aaC8cd542e72Bca78B30650d45643d7");
const DETERMINISTIC_DEPLOYER: Address = address!("4e59b44847b379578588920cA78FbF26c0B4956C");

pub const ETHER: U256 = U256::from_limbs([1_000_000_000_000_000_000, 0, 0, 0]);
const GAS: u64 = 8_000_000;

/// Slots that make a Safe what it is: singleton, first module and owner, number of owners, threshold, guard, handler.
fn slots() -> [U256; 7] {
    let first = |mapping: u8| {
        U256::from_be_bytes(keccak256([B256::with_last_byte(1), B256::with_last_byte(mapping)].concat()).0)
    };
    let guard = b256!("4a204f620c8c5ccdca3fd54d003badd85ba500436a431f0cbda4f558c93c34c8");
    let handler = b256!("6c9a6c4a39284e37ed1cf53d337577d14212a4870fb976a4366c693b939918d5");
    [U256::ZERO, first(1), first(2), U256::from(3), U256::from(4), guard.into(), handler.into()]
}

pub struct Setting {
    pub node: RootProvider,
    pub multi_send: Address,
    pub factory: Address,
    pub singleton: Address,
    pub handler: Address,
    pub operator: Address,
    pub utility: Address,
    /// Artists' accounts.
    pub accounts: Vec<Address>,
    _chain: LocalChain,
}

impl Setting {
    /// `name` is the folder of the chain's log.
    pub async fn start(name: &str, is_guarded: bool) -> Result<Self, Error> {
        let paths = Paths::of_checkout();
        let chain = LocalChain::start(&paths, &paths.local("guard").join(name), ChainId(8453)).await?;
        let node: RootProvider = RootProvider::connect(&chain.rpc_url).await?;
        let deployer = node.get_code_at(DETERMINISTIC_DEPLOYER).await?;
        node.anvil_set_code(SINGLETON_FACTORY, deployer).await?;
        node.anvil_set_code(TARGET, hex::decode(TARGET_CODE)?.into()).await?;
        node.anvil_set_code(HOSTILE, hex::decode(format!("73{}600055", hex::encode(THIEF)))?.into()).await?;
        let mut setting = Self {
            node,
            multi_send: Address::ZERO,
            factory: Address::ZERO,
            singleton: Address::ZERO,
            handler: Address::ZERO,
            operator: Address::ZERO,
            utility: Address::ZERO,
            accounts: Vec::new(),
            _chain: chain,
        };
        setting.multi_send = setting.deploy("libraries/", "MultiSendCallOnly").await?;
        setting.factory = setting.deploy("proxies/", "SafeProxyFactory").await?;
        setting.singleton = setting.deploy("", "SafeL2").await?;
        setting.handler = setting.deploy("handler/", "CompatibilityFallbackHandler").await?;
        let plain = setting.deploy("", "Safe").await?;
        setting.operator = setting.new_safe(plain, setup(GUARDIAN, Address::ZERO), 0).await?;
        let utility = setup(setting.operator, Address::ZERO);
        setting.utility = setting.new_safe(plain, utility, 1).await?;
        for number in 0..20 {
            let account = setting.account_setup();
            let account = setting.new_safe(setting.singleton, account, number).await?;
            setting.accounts.push(account);
        }
        for rich in [setting.operator, setting.account()] {
            setting.node.anvil_set_balance(rich, ETHER).await?;
        }
        setting.hand_over(is_guarded).await?;
        Ok(setting)
    }

    /// What the guardian does at first: makes itself a module, the lanes owners, sets the guard, and is no owner.
    async fn hand_over(&self, is_guarded: bool) -> Result<(), Error> {
        let module = Safe::enableModuleCall { module: GUARDIAN }.abi_encode();
        let by_owner = Exec::call(GUARDIAN, self.operator, module).encode();
        assert!(self.send(GUARDIAN, self.operator, by_owner).await?.status());
        for owner in LANES {
            self.by_guardian(Safe::addOwnerWithThresholdCall { owner, threshold: U256::ONE }.abi_encode()).await?;
        }
        let remove = Safe::removeOwnerCall { previous: LANES[0], owner: GUARDIAN, threshold: U256::ONE };
        self.by_guardian(remove.abi_encode()).await?;
        if is_guarded {
            let guard = self.new_guard().await?;
            self.by_guardian(Safe::setGuardCall { guard }.abi_encode()).await?;
        }
        Ok(())
    }

    /// A change of the operator's Safe by its module, the guardian.
    pub async fn by_guardian(&self, data: Vec<u8>) -> Result<(), Error> {
        let call = Safe::execTransactionFromModuleCall {
            to: self.operator,
            value: U256::ZERO,
            data: data.into(),
            operation: 0,
        };
        let before = self.state().await?;
        let receipt = self.send(GUARDIAN, self.operator, call.abi_encode()).await?;
        assert!(receipt.status() && self.state().await? != before, "the guardian's change fails");
        Ok(())
    }

    async fn new_guard(&self) -> Result<Address, Error> {
        let artifact: Value =
            serde_json::from_slice(&fs::read(Paths::of_checkout().root().join("contracts/LaneGuard.json"))?)?;
        let mut code = hex::decode(artifact["bytecode"].as_str().unwrap_or_default())?;
        code.extend(arguments([self.multi_send, self.factory, self.utility]));
        let creation = TransactionRequest::default().with_from(DEPLOYER).with_deploy_code(code).with_gas_limit(GAS);
        let receipt = self.node.eth_send_transaction_sync(creation).await?;
        Ok(receipt.contract_address.ok_or("no guard")?)
    }

    /// Deploys a contract of the npm package as on public chains.
    async fn deploy(&self, folder: &str, name: &str) -> Result<Address, Error> {
        let package = "@safe-global/safe-contracts/build/artifacts/contracts";
        let file: PathBuf =
            Paths::of_checkout().node_modules().join(package).join(format!("{folder}{name}.sol/{name}.json"));
        let artifact: Value = serde_json::from_slice(&fs::read(&file)?)?;
        let code = hex::decode(artifact["bytecode"].as_str().unwrap_or_default())?;
        let receipt = self.send(DEPLOYER, SINGLETON_FACTORY, [B256::ZERO.as_slice(), &code].concat()).await?;
        assert!(receipt.status(), "{name} isn't deployed");
        Ok(SINGLETON_FACTORY.create2(B256::ZERO, keccak256(&code)))
    }

    /// `setup` of an artist's account.
    pub fn account_setup(&self) -> Vec<u8> {
        setup(self.operator, self.handler)
    }

    /// Creation of a Safe by the factory.
    pub fn creation(singleton: Address, initializer: Vec<u8>, number: u64) -> Vec<u8> {
        let salt = U256::from(number);
        ProxyFactory::createProxyWithNonceCall { singleton, initializer: initializer.into(), saltNonce: salt }
            .abi_encode()
    }

    async fn new_safe(&self, singleton: Address, initializer: Vec<u8>, number: u64) -> Result<Address, Error> {
        let creation = Self::creation(singleton, initializer, number);
        let address = self.creates(&creation).await?;
        assert!(self.send(DEPLOYER, self.factory, creation).await?.status());
        Ok(address)
    }

    /// The address at which a creation makes a Safe.
    pub async fn creates(&self, creation: &[u8]) -> Result<Address, Error> {
        let request = TransactionRequest::default().with_from(DEPLOYER).with_to(self.factory);
        let answer = self.node.call(request.with_input(creation.to_vec())).await?;
        Ok(ProxyFactory::createProxyWithNonceCall::abi_decode_returns(&answer)?)
    }

    /// Hash that a Safe's owners sign for a transaction, at the Safe's next nonce.
    pub async fn hash(&self, safe: Address, exec: &Exec) -> Result<B256, Error> {
        let view = |input: Vec<u8>| TransactionRequest::default().with_to(safe).with_input(input);
        let nonce = self.node.call(view(Safe::nonceCall {}.abi_encode())).await?;
        let call = Safe::getTransactionHashCall {
            to: exec.to,
            value: exec.value,
            data: exec.data.clone().into(),
            operation: exec.operation,
            safeTxGas: U256::from(exec.safe_gas),
            baseGas: U256::from(exec.base_gas),
            gasPrice: U256::from(exec.gas_price),
            gasToken: exec.gas_token,
            refundReceiver: exec.refund_receiver,
            nonce: U256::from_be_slice(&nonce),
        };
        let hash = self.node.call(view(call.abi_encode())).await?;
        Ok(Safe::getTransactionHashCall::abi_decode_returns(&hash)?)
    }

    /// An artist's account, which has one ether.
    pub fn account(&self) -> Address {
        self.accounts[0]
    }

    /// What an attack would change: the Safes' make-up, and their money.
    pub async fn state(&self) -> Result<Vec<U256>, Error> {
        let mut state = Vec::new();
        for safe in [self.operator, self.utility].into_iter().chain(self.accounts.first().copied()) {
            for slot in slots() {
                state.push(self.node.get_storage_at(safe, slot).await?);
            }
            state.push(self.node.get_balance(safe).await?);
        }
        Ok(state)
    }

    /// How often a caller has called the target.
    pub async fn calls_of(&self, caller: Address) -> Result<u64, Error> {
        let slot = U256::from_be_bytes(caller.into_word().0);
        Ok(self.node.get_storage_at(TARGET, slot).await?.to())
    }

    /// Sends a transaction, which may revert.
    pub async fn send(&self, from: Address, to: Address, input: Vec<u8>) -> Result<TransactionReceipt, Error> {
        let request = TransactionRequest::default().with_from(from).with_to(to).with_input(input);
        Ok(self.node.eth_send_transaction_sync(request.with_gas_limit(GAS)).await?)
    }

    /// Whether a call works; if not, the name of the guard's error, or what else there is.
    pub async fn try_call(&self, from: Address, to: Address, input: &[u8]) -> Result<Result<(), String>, Error> {
        let request = TransactionRequest::default().with_from(from).with_to(to).with_input(input.to_vec());
        let Err(error) = self.node.call(request.with_gas_limit(GAS)).await else { return Ok(Ok(())) };
        let answer = error.as_error_resp().ok_or("the node doesn't answer")?;
        let data = answer.as_revert_data().unwrap_or_default();
        let name = ERRORS.iter().find(|error| data.starts_with(&keccak256(error)[..4]));
        let name = name.map(|error| error.split('(').next().unwrap_or_default().to_owned());
        Ok(Err(name.unwrap_or_else(|| if data.is_empty() { "out of bounds".to_owned() } else { data.to_string() })))
    }

    pub async fn snapshot(&self) -> Result<U256, Error> {
        Ok(self.node.anvil_snapshot().await?)
    }

    pub async fn restore(&self, snapshot: U256) -> Result<(), Error> {
        workshop::revert(&self.node, snapshot).await
    }
}

const ERRORS: [&str; 8] = [
    "NotABatch()",
    "NotCanonical()",
    "OperatorPays()",
    "ForbiddenCall(address)",
    "ForbiddenTarget(address)",
    "ForeignDelegatecall(address)",
    "ForbiddenRefund()",
    "Panic(uint256)",
];
