use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
};

use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, U256},
    providers::{Provider, ProviderBuilder, RootProvider, ext::AnvilApi},
    rpc::types::{TransactionReceipt, TransactionRequest},
    sol_types::{SolCall, SolValue},
};
use aws_sdk_dynamodb::types::AttributeValue;
use aws_sdk_kms::types::{KeySpec, KeyUsageType};
use local::{cloud::Endpoints, functions::Invocation, lock::lock, mail, paths::Paths, patience, stack_map::StackMap};
use serde_json::Value;
use shared::chain::contracts::native::Creator1155;
use tokio::sync::OnceCell;

use crate::{Answer, eventually, sandbox::event_of};

fn read_map(file: &Path) -> StackMap {
    let map = fs::read_to_string(file).expect("the stack's file");
    serde_json::from_str(&map).expect("stack.json can be read")
}

/// The running stack: that of `make test`, or else that of `make run`.
pub struct Stack {
    pub map: StackMap,
    pub http: reqwest::Client,
    /// Where `map` comes from.
    pub file: PathBuf,
    pub clients: Clients,
}

/// Clients of the stack's AWS services, made when they are first asked for.
#[derive(Default)]
pub struct Clients {
    dynamodb: OnceCell<aws_sdk_dynamodb::Client>,
    kms: OnceCell<aws_sdk_kms::Client>,
}

impl Stack {
    /// Connects. Each test needs its own, since a client can't outlive the test's runtime.
    pub fn connect() -> Self {
        let file = env::var_os("MOMENTS_STACK").map_or_else(|| Paths::of_checkout().local("stack.json"), PathBuf::from);
        let file =
            file.canonicalize().expect("no stack is running: use `make test`, or `make run` in another terminal");
        Self { map: read_map(&file), http: reqwest::Client::new(), file, clients: Clients::default() }
    }

    /// The same stack as another map tells of it.
    pub fn with(&self, map: StackMap) -> Self {
        Self { map, http: self.http.clone(), file: self.file.clone(), clients: Clients::default() }
    }

    /// Runs one of the stack's scheduled workers. It has one process, so no two runs take the same work at once: neither
    /// the schedule's nor another test's.
    pub async fn work(&self, binary: &str) {
        let done = Invocation::of(&self.map.lambda, binary).send(&event_of(binary)).await;
        assert_eq!(done.expect("the worker returns"), Value::Null);
    }

    /// The ids of the functions' processes now.
    pub fn processes(&self) -> BTreeMap<String, Vec<u32>> {
        read_map(&self.file).processes
    }

    /// A function's log so far.
    pub fn log_of(&self, function: &str) -> String {
        fs::read_to_string(self.logs().join(format!("{function}.log"))).unwrap_or_default()
    }

    /// The folder of the functions' logs.
    pub fn logs(&self) -> PathBuf {
        self.file.with_file_name("logs")
    }

    pub fn get(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.get(format!("{}{path}", self.map.api))
    }

    pub fn post(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.post(format!("{}{path}", self.map.api))
    }

    pub fn put(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.put(format!("{}{path}", self.map.api))
    }

    pub fn patch(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.patch(format!("{}{path}", self.map.api))
    }

    pub fn delete(&self, path: &str) -> reqwest::RequestBuilder {
        self.http.delete(format!("{}{path}", self.map.api))
    }

    pub async fn post_json(&self, path: &str, body: &Value) -> Answer {
        Answer::of(self.post(path).json(body)).await
    }

    /// The mails sent to an address.
    pub async fn mails_to(&self, address: &str) -> Vec<mail::Mail> {
        mail::mails_to(&self.map.mail, address).await.expect("the mails are listed")
    }

    pub fn endpoints(&self) -> Endpoints {
        self.map.endpoints()
    }

    pub async fn dynamodb(&self) -> aws_sdk_dynamodb::Client {
        let make = || async { aws_sdk_dynamodb::Client::new(&self.endpoints().sdk_config(&self.map.dynamodb).await) };
        self.clients.dynamodb.get_or_init(make).await.clone()
    }

    pub async fn kms(&self) -> aws_sdk_kms::Client {
        let make = || async { aws_sdk_kms::Client::new(&self.endpoints().sdk_config(&self.map.aws).await) };
        self.clients.kms.get_or_init(make).await.clone()
    }

    /// Id of a new key that authenticates.
    pub async fn new_mac_key(&self) -> String {
        let call = self.kms().await.create_key().key_spec(KeySpec::Hmac256).key_usage(KeyUsageType::GenerateVerifyMac);
        call.send().await.expect("a key").key_metadata.expect("its metadata").key_id
    }

    /// Reads a row by its key.
    pub async fn row(
        &self,
        table: &str,
        pk: &str,
        sk: &str,
    ) -> Option<std::collections::HashMap<String, AttributeValue>> {
        let key = |value: &str| AttributeValue::S(value.to_owned());
        let call = self.dynamodb().await.get_item().table_name(table).key("pk", key(pk)).key("sk", key(sk));
        call.consistent_read(true).send().await.expect("the row can be read").item
    }

    /// Sets one field of a row.
    pub async fn set(&self, table: &str, pk: &str, sk: &str, field: &str, value: AttributeValue) {
        let key = |value: &str| AttributeValue::S(value.to_owned());
        let call = self.dynamodb().await.update_item().table_name(table).key("pk", key(pk)).key("sk", key(sk));
        let call = call.update_expression("SET #field = :value").expression_attribute_names("#field", field);
        call.expression_attribute_values(":value", value).send().await.expect("the row can be written");
    }

    /// A client of the default chain's node.
    pub fn chain(&self) -> RootProvider {
        self.node_of("8453")
    }

    /// A client of a chain's node.
    pub fn node_of(&self, chain: &str) -> RootProvider {
        ProviderBuilder::default().connect_reqwest(self.http.clone(), self.map.rpc[chain].parse().expect("a URL"))
    }

    /// The host, whose root shows the pages.
    pub fn site(&self) -> &str {
        self.map.api.strip_suffix("/api").expect("the API's path")
    }

    /// Address of a contract on the default chain.
    pub fn contract(&self, name: &str) -> Address {
        self.contract_on("8453", name)
    }

    /// Address of a contract on a chain.
    pub fn contract_on(&self, chain: &str, name: &str) -> Address {
        self.map.contracts[chain][name].parse().expect("an address")
    }

    /// A collection of the demo content.
    pub fn demo_collection(&self, index: usize) -> Address {
        self.map.demo["collections"][index]["address"].as_str().and_then(|text| text.parse().ok()).expect("an address")
    }

    /// The id of a comment of the demo content.
    pub fn demo_comment(&self, name: &str) -> B256 {
        self.map.demo["comments"][name].as_str().and_then(|text| text.parse().ok()).expect("a comment id")
    }

    /// Sends a transaction from an unlocked account and waits until it is mined.
    pub async fn transact(&self, from: Address, to: Address, value: U256, call: impl SolCall) -> TransactionReceipt {
        self.submit(
            TransactionRequest::default().with_from(from).with_to(to).with_value(value).with_input(call.abi_encode()),
        )
        .await
    }

    /// [`Stack::transact`] with an encoded call and no value.
    pub async fn send(&self, from: Address, to: Address, call: Vec<u8>) -> TransactionReceipt {
        self.submit(TransactionRequest::default().with_from(from).with_to(to).with_input(call)).await
    }

    /// Sends prepared calls from anybody's wallet, in their order.
    pub async fn send_calls(&self, wallet: Address, calls: &Value) {
        self.chain().anvil_impersonate_account(wallet).await.expect("the node");
        for call in calls.as_array().expect("calls") {
            let part = |name: &str| call[name].as_str().expect("a part");
            let request = TransactionRequest::default()
                .with_from(wallet)
                .with_to(part("to").parse().expect("an address"))
                .with_value(part("value").parse().expect("a number"))
                .with_input(alloy::hex::decode(part("data")).expect("hexadecimal digits"));
            self.submit(request).await;
        }
    }

    /// One transaction of an account at a time, whichever test sends it: the node would give two the same nonce.
    async fn submit(&self, request: TransactionRequest) -> TransactionReceipt {
        let sender = request.from.expect("a sender");
        let _sending = lock(&self.file.with_file_name(format!("{sender:#x}.lock"))).await.expect("the sender's lock");
        let pending = self.chain().send_transaction(request).await.expect("the node takes the transaction");
        let receipt = pending.get_receipt().await.expect("the transaction is mined");
        assert!(receipt.status(), "the transaction reverted");
        receipt
    }

    /// Collects token 1 of a collection for the mint fee alone.
    pub async fn collect(&self, collection: Address, collector: Address, comment: &str) -> TransactionReceipt {
        let fee = Creator1155::new(collection, self.chain()).mintFee().call().await.expect("the mint fee");
        let mint = Creator1155::mintCall {
            minter: self.contract("fixedPriceMinter"),
            tokenId: U256::ONE,
            quantity: U256::ONE,
            rewardsRecipients: Vec::new(),
            minterArguments: (collector, comment.to_owned()).abi_encode_params().into(),
        };
        self.transact(collector, collection, fee, mint).await
    }

    /// Polls `path` until its body fulfils the condition, and returns the body.
    pub async fn wait_until(&self, path: &str, is_so: impl Fn(&Value) -> bool) -> Value {
        let mut last = None;
        let met = patience::eventually(format!("{path} as awaited"), async || {
            let answer = last.insert(Answer::of(self.get(path)).await);
            Ok((answer.status == 200 && is_so(&answer.body)).then(|| answer.body.take()))
        })
        .await;
        met.unwrap_or_else(|error| panic!("{error}: {last:?}"))
    }

    /// Polls the comments at `path` until one matches, and returns it.
    pub async fn wait_for_comment(&self, path: &str, is_meant: impl Fn(&Value) -> bool) -> Value {
        eventually(format!("the comment at {path}"), async || {
            let page = Answer::of(self.get(path)).await.expect_success();
            let comments = page.body["comments"].as_array().expect("comments");
            comments.iter().find(|comment| is_meant(comment)).cloned()
        })
        .await
    }
}
