//! A chain with the operator's accounts, artists' accounts and a hostile contract.

use std::path::Path;

use alloy::{
    hex,
    network::TransactionBuilder,
    primitives::{Address, U256},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::{TransactionReceipt, TransactionRequest},
    sol,
};
use local::{
    Error,
    chains::LocalChain,
    contracts::{self, Artifacts},
    operator::{Guard, Plan, Setup, State},
    paths::Paths,
};
use shared::{
    chain::{
        Chain, Chains,
        node::Node,
        transaction::{Execution, Operation, attribute, pack},
        wallet::{Call, EmbeddedWallet, OperatorAccount},
    },
    model::{ArtistId, ChainId},
};

const GUARDIAN: Address = Address::repeat_byte(0x6a);
const ETHER: u64 = 1_000_000_000_000_000_000;

sol! {
    #[sol(rpc)]
    #[derive(Debug)]
    interface Hostile {
        event Wrote(address indexed by, uint256 seed);
        event Reentered(bool succeeded, bytes answer);

        function write(uint256 seed, uint256 count) external payable;
        function fail(uint256 code) external view;
        function failSilently() external pure;
        function setLeft(uint256 count) external;
        function take() external;
        function burn() external payable;
        function loop() external;
        function bomb(uint256 size, bool succeeds) external pure;
        function reenter(address to, bytes calldata data) external payable;
        function forge(bytes32 hash) external;
        function spite(uint256 threshold) external view;
        function demand(uint256 least) external;
    }
}

pub struct Site {
    pub node: RootProvider,
    pub asked: Node,
    pub chain: Chain,
    pub account: OperatorAccount,
    pub lanes: Vec<Address>,
    pub hostile: Address,
    pub is_guarded: bool,
    anvil: LocalChain,
}

/// What a batch did.
pub struct Sent {
    pub receipt: TransactionReceipt,
    pub executions: Vec<Execution>,
    pub gas_limit: u64,
}

impl Site {
    pub async fn new(name: &str) -> Result<Self, Error> {
        let paths = Paths::of_checkout();
        let chains: Chains = r#"[{"id": 8453}]"#.parse()?;
        let chain = chains.get(ChainId::DEFAULT)?.clone();
        let logs = paths.workshop(name);
        let anvil = LocalChain::start(&paths, Path::new(&logs), chain.id).await?;
        let artifacts = Artifacts::compile(&paths).await?;
        contracts::deploy(&anvil.rpc_url, &chain, &artifacts).await?;
        let node: RootProvider = RootProvider::connect(&anvil.rpc_url).await?;
        let accounts = node.get_accounts().await?;

        let code = hex::decode(artifacts.compiled("hostile", "Hostile")?)?;
        let creation = TransactionRequest::default().with_from(accounts[9]).with_deploy_code(code);
        let hostile = node.eth_send_transaction_sync(creation).await?.contract_address.ok_or("no contract")?;

        let account = OperatorAccount::born_of(GUARDIAN);
        let guard = Guard::of_checkout(&paths, &account)?;
        let is_guarded = guard.is_some();
        let lanes = accounts[1..4].to_vec();
        let setup = Setup { account, guardian: GUARDIAN, lanes: lanes.clone(), guard, low_lane_balance: 0 };
        node.anvil_impersonate_account(GUARDIAN).await?;
        node.anvil_set_balance(GUARDIAN, U256::from(ETHER)).await?;
        for step in Plan::new(&setup, &State::read(&node, &setup).await?)?.steps {
            let transaction = TransactionRequest::default().from(GUARDIAN).to(step.call.target);
            node.eth_send_transaction_sync(transaction.input(step.call.data.into())).await?;
        }
        let urls = serde_json::json!({ chain.id.to_string(): [&anvil.rpc_url] }).to_string().parse()?;
        let asked = Node::new(&urls, chain.id)?;
        Ok(Self { node, asked, chain, account, lanes, hostile, is_guarded, anvil })
    }

    /// Artists' accounts, deployed, each with an ether and one transaction behind it.
    pub async fn artists(&self, count: usize) -> Result<Vec<EmbeddedWallet>, Error> {
        let artists: Vec<_> = (0..count).map(|_| self.new_artist()).collect();
        for some in artists.chunks(20) {
            let mut operations = Vec::new();
            for artist in some {
                self.node.anvil_set_balance(artist.address(), U256::from(ETHER)).await?;
                operations.push(Operation::deployment(&self.account, artist));
                let nothing = Call::payment(self.lanes[0], U256::ZERO);
                operations.push(Operation::new(artist.address(), &[nothing], 30_000, true));
            }
            let sent = self.send(self.lanes[0], &operations).await?;
            assert_eq!(sent.succeeded(), vec![true; operations.len()]);
        }
        Ok(artists)
    }

    pub fn rpc_url(&self) -> &str {
        &self.anvil.rpc_url
    }

    pub fn new_artist(&self) -> EmbeddedWallet {
        EmbeddedWallet::new(self.account.safe, ArtistId::random())
    }

    /// Sends a batch with its own gas limit. An error if all of it reverts.
    pub async fn send(&self, lane: Address, operations: &[Operation]) -> Result<Sent, Error> {
        let packed = pack(self.account.safe, lane, operations);
        let transaction = TransactionRequest::default().from(lane).to(packed.to).input(packed.data.into());
        let receipt = self.node.eth_send_transaction_sync(transaction.gas_limit(packed.gas_limit)).await?;
        if !receipt.status() {
            return Err(format!("the batch reverted: {} of {} gas", receipt.gas_used, packed.gas_limit).into());
        }
        let executions = attribute(receipt.logs(), operations);
        Ok(Sent { receipt, executions, gas_limit: packed.gas_limit })
    }

    pub fn call(&self, function: &impl alloy::sol_types::SolCall) -> Call {
        Call::new(self.hostile, function)
    }

    /// A write that behaves: it sets three new slots, for 72,000 gas.
    pub fn write(&self, artist: &EmbeddedWallet, seed: u64) -> Operation {
        let call = self.call(&Hostile::writeCall { seed: U256::from(seed), count: U256::from(3) });
        Operation::new(artist.address(), &[call], 120_000, false)
    }
}

impl Sent {
    /// Per operation whether its call succeeded; an absent one didn't.
    pub fn succeeded(&self) -> Vec<bool> {
        self.executions.iter().map(|it| matches!(it, Execution::Executed { succeeded: true, .. })).collect()
    }

    /// Gas of the call of an operation that was run.
    pub fn gas(&self, index: usize) -> u64 {
        match &self.executions[index] {
            Execution::Executed { gas, .. } => *gas,
            Execution::Absent => 0,
        }
    }
}
