//! Both kinds of governors execute the proposals unchanged, with the requested result.

use alloy::{
    primitives::{Address, B256, Bytes, U256},
    providers::{Provider, RootProvider},
    rpc::types::TransactionReceipt,
};
use local::{
    governor::{LocalGovernor, Proposal},
    workshop,
};
use serde_json::{Value, json};
use shared::chain::contracts::native::{
    Creator1155, CreatorFactory::SetupNewContract, Erc20Minter, FixedPriceMinter, SplitFactory, TimedMinter,
};
use tests::{Published, Sandbox, Stack};

use super::{CHAIN, new_address, proposal, sale};

const ADMIN: u8 = 2;
const MINTER: u8 = 4;
/// An existing collection already has token 1.
const FIRST_IN_EXISTING: u64 = 2;
const STRATEGIES: [&str; 3] = ["fixedPrice", "erc20Mint", "PartnerTimedSaleStrategy"];

/// Cases whose proposals are passed in one vote.
const TOGETHER: usize = 3;

/// A governor, and the function that builds proposals for it.
struct GovernorFixture {
    stack: Stack,
    governor: LocalGovernor,
    /// Of each case that is passed together with others.
    proposers: [Address; TOGETHER],
    function: Sandbox,
    /// IP address of the requests. Requests of one network share a limit and wait for each other.
    client: &'static str,
}

/// A kind of request.
struct WriteCase {
    is_new: bool,
    strategies: Vec<&'static str>,
    is_split: bool,
}

impl GovernorFixture {
    async fn nouns() -> Self {
        Self::of("governor", "governorExecutor", [2, 4, 5], "192.0.2.77").await
    }

    async fn bravo() -> Self {
        Self::of("bravoGovernor", "bravoExecutor", [6, 7, 8], "192.0.2.78").await
    }

    /// The proposers are accounts of the node, which have votes, and none of which publishes in another test.
    async fn of(governor: &str, executor: &str, proposers: [usize; TOGETHER], client: &'static str) -> Self {
        let stack = Stack::connect();
        let accounts = stack.node_of(CHAIN).get_accounts().await.expect("accounts");
        let proposers = proposers.map(|index| accounts[index]);
        let (governor, executor) = (stack.contract_on(CHAIN, governor), stack.contract_on(CHAIN, executor));
        let chains = json!([{"id": 1, "governor": governor}]).to_string();
        let function = Sandbox::with_variables(&stack, "build-proposal", &[("CHAINS", &chains)]).await;
        let governor = LocalGovernor { governor, executor, proposer: proposers[0] };
        Self { stack, governor, proposers, function, client }
    }

    fn node(&self) -> RootProvider {
        self.stack.node_of(CHAIN)
    }

    fn contract(&self, name: &str) -> Address {
        self.stack.contract_on(CHAIN, name)
    }

    async fn build(&self, body: &Value) -> (u16, Value) {
        self.function.post(self.client, body).await
    }

    /// Builds a proposal, and checks the answer's form.
    async fn proposal(&self, body: &Value) -> Proposal {
        let (status, answer) = self.build(body).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(answer["governor"], format!("{:#x}", self.governor.governor));
        assert_eq!(answer["value"], "0");
        let (title, text) = (&body["proposal"]["title"], &body["proposal"]["description"]);
        assert_eq!(answer["args"][4], format!("# {}\n\n{}", title.as_str().expect("one"), text.as_str().expect("one")));
        arguments(&answer["args"])
    }

    /// Builds the proposals, and passes them in one vote.
    async fn pass(&self, bodies: &[&Value]) -> Vec<TransactionReceipt> {
        let mut proposals = Vec::new();
        for body in bodies {
            proposals.push((account_of(body), self.proposal(body).await));
        }
        let proposals: Vec<_> = proposals.iter().map(|(proposer, proposal)| (*proposer, proposal)).collect();
        let passed = self.governor.pass_together(&self.stack.map.rpc[CHAIN], &proposals).await;
        passed.expect("the proposals pass")
    }

    /// Builds and passes the cases' proposals.
    async fn check(&self, cases: &[WriteCase]) {
        let mut bodies = Vec::new();
        for (case, proposer) in cases.iter().zip(self.proposers) {
            bodies.push(self.body(case, proposer).await);
        }
        let receipts = self.pass(&bodies.iter().collect::<Vec<_>>()).await;
        assert_eq!(receipts.len(), cases.len());
        for ((case, body), receipt) in cases.iter().zip(&bodies).zip(&receipts) {
            self.check_result(case, body, receipt).await;
        }
    }

    /// Checks on the chain what a proposal of the case did.
    async fn check_result(&self, case: &WriteCase, body: &Value, receipt: &TransactionReceipt) {
        let (collection, first) = match case.is_new {
            true => {
                let created = receipt.decoded_log::<SetupNewContract>().expect("a collection");
                assert_eq!((created.creator, created.defaultAdmin), (self.governor.executor, account_of(body)));
                (created.newContract, 1)
            }
            false => (body["contract"]["address"].as_str().expect("one").parse().expect("one"), FIRST_IN_EXISTING),
        };
        if case.is_new {
            self.check_collection(collection, body).await;
            let (status, again) = self.build(body).await;
            assert_eq!(status, 422, "{again}");
            assert!(again["message"].as_str().is_some_and(|message| message.contains("there already")), "{again}");
        }
        self.check_tokens(collection, first, body).await;
        if !case.is_new && case.strategies.len() > 1 {
            self.pass(&[body]).await;
            let next = first + u64::try_from(case.strategies.len()).expect("few");
            self.check_tokens(collection, next, body).await;
        }
    }

    async fn body(&self, case: &WriteCase, proposer: Address) -> Value {
        let mut body = proposal(proposer);
        let name = format!("House of {}", new_address());
        body["contract"] = match case.is_new {
            true => json!({"name": name, "uri": "ar://house"}),
            false => {
                let (rpc, factory) = (&self.stack.map.rpc[CHAIN], self.contract("factory"));
                let admins = [self.governor.executor];
                json!({"address": workshop::publish(rpc, factory, &admins, Vec::new()).await.expect("a collection")})
            }
        };
        body["tokens"] =
            case.strategies.iter().enumerate().map(|(index, strategy)| self.token(index, strategy)).collect();
        if case.is_split {
            body["splits"] = json!([
                {"address": new_address(), "percentAllocation": 33.3333},
                {"address": new_address(), "percentAllocation": "66.6667"},
            ]);
        }
        body["proposal"] = json!({"title": name, "description": "For the arts.\n\n- one\n- two\n"});
        body
    }

    fn token(&self, index: usize, strategy: &str) -> Value {
        let mut sale =
            sale(strategy, ["5000", "10000", "0"][STRATEGIES.iter().position(|s| *s == strategy).expect("one")]);
        if strategy == "erc20Mint" {
            sale["currency"] = json!(self.contract("usdc"));
        }
        let mut token = json!({
            "tokenMetadataURI": format!("ipfs://house/{index}.json"),
            "createReferral": new_address(),
            "salesConfig": sale,
            "mintToCreatorCount": index,
        });
        if index == 1 {
            token["payoutRecipient"] = json!(new_address());
            token["maxSupply"] = json!("25");
        }
        token
    }

    async fn check_collection(&self, collection: Address, body: &Value) {
        let (creator, published) = (Creator1155::new(collection, self.node()), Published::new(collection, self.node()));
        assert_eq!(creator.name().call().await.expect("a name"), body["contract"]["name"].as_str().expect("one"));
        assert_eq!(published.contractURI().call().await.expect("a URI"), "ar://house");
        assert_eq!(published.owner().call().await.expect("an owner"), account_of(body));
        let rights = |account| async move { self.permissions(collection, 0, account).await };
        assert_eq!(rights(account_of(body)).await, ADMIN);
        assert_eq!(rights(self.contract("factory")).await, 0);
        let count = body["tokens"].as_array().expect("tokens").len();
        assert_eq!(creator.nextTokenId().call().await.expect("a number"), U256::from(count + 1));
    }

    async fn check_tokens(&self, collection: Address, first: u64, body: &Value) {
        for (id, token) in (first..).zip(body["tokens"].as_array().expect("tokens")) {
            let recipient = match (body["splits"].as_array(), token["payoutRecipient"].as_str()) {
                (Some(recipients), _) => self.split(recipients).await,
                (None, Some(payee)) => payee.parse().expect("an address"),
                (None, None) => account_of(body),
            };
            self.check_token(collection, id, token, account_of(body), recipient).await;
            let name = Creator1155::new(collection, self.node()).name().call().await.expect("a name");
            self.check_sale(collection, id, &token["salesConfig"], recipient, &name).await;
        }
    }

    async fn check_token(&self, collection: Address, id: u64, token: &Value, account: Address, recipient: Address) {
        let (creator, published) = (Creator1155::new(collection, self.node()), Published::new(collection, self.node()));
        let number = U256::from(id);
        let minted: U256 = U256::from(token["mintToCreatorCount"].as_u64().expect("a number"));
        let max_supply = token["maxSupply"].as_str().map_or(u64::MAX, |digits| digits.parse().expect("a number"));
        let info = creator.getTokenInfo(number).call().await.expect("a token");
        assert_eq!(info.uri, token["tokenMetadataURI"].as_str().expect("one"));
        assert_eq!((info.maxSupply, info.totalMinted), (U256::from(max_supply), minted));
        assert_eq!(creator.balanceOf(account, number).call().await.expect("a balance"), minted);
        let referral = published.createReferrals(number).call().await.expect("a referral");
        assert_eq!(json!(referral), token["createReferral"]);
        let royalties = published.getRoyalties(number).call().await.expect("royalties");
        assert_eq!((royalties.schedule, royalties.bps, royalties.recipient), (0, 1000, recipient));
        assert_eq!(self.permissions(collection, id, account).await, ADMIN, "the creator is no admin");
    }

    async fn check_sale(&self, collection: Address, id: u64, sale: &Value, recipient: Address, name: &str) {
        let (node, number) = (self.node(), U256::from(id));
        let price = sale["pricePerToken"].as_str().expect("a price");
        let minter = match sale["type"].as_str().expect("a strategy") {
            "fixedPrice" => {
                let minter = self.contract("fixedPriceMinter");
                let set = FixedPriceMinter::new(minter, node).sale(collection, number).call().await.expect("a sale");
                assert_eq!((set.saleStart, set.saleEnd, set.maxTokensPerAddress), (7, u64::MAX, 0));
                assert_eq!((set.pricePerToken.to_string().as_str(), set.fundsRecipient), (price, recipient));
                minter
            }
            "erc20Mint" => {
                let minter = self.contract("erc20Minter");
                let set = Erc20Minter::new(minter, node).sale(collection, number).call().await.expect("a sale");
                assert_eq!((set.saleStart, set.saleEnd, set.maxTokensPerAddress), (7, u64::MAX, 0));
                assert_eq!((set.pricePerToken.to_string().as_str(), set.fundsRecipient), (price, recipient));
                assert_eq!(set.currency, self.contract("usdc"));
                minter
            }
            _ => {
                let minter = self.contract("timedMinter");
                let set = TimedMinter::new(minter, node).saleV2(collection, number).call().await.expect("a sale");
                assert_eq!((set.saleStart, set.marketCountdown, set.name.as_str()), (7, 86_400, name));
                minter
            }
        };
        assert_eq!(self.permissions(collection, id, minter).await, MINTER);
    }

    /// The address of these recipients' split. Asserts that it has code.
    async fn split(&self, recipients: &[Value]) -> Address {
        let mut shares: Vec<(Address, U256)> = recipients
            .iter()
            .zip([333_333, 666_667])
            .map(|(entry, share)| (entry["address"].as_str().expect("one").parse().expect("one"), U256::from(share)))
            .collect();
        shares.sort_unstable();
        let split = SplitFactory::SplitParams {
            recipients: shares.iter().map(|(address, _)| *address).collect(),
            allocations: shares.iter().map(|(_, share)| *share).collect(),
            totalAllocation: U256::from(1_000_000),
            distributionIncentive: 0,
        };
        let factory = SplitFactory::new(self.contract("splitFactory"), self.node());
        let place = factory.isDeployed(split, Address::ZERO, B256::ZERO).call().await.expect("a place");
        assert!(place._1, "the split isn't there");
        place._0
    }

    async fn permissions(&self, collection: Address, id: u64, account: Address) -> u8 {
        let creator = Creator1155::new(collection, self.node());
        creator.permissions(U256::from(id), account).call().await.expect("permissions").to()
    }
}

/// The account that a request is of, which proposes.
fn account_of(body: &Value) -> Address {
    body["account"].as_str().expect("one").parse().expect("an address")
}

/// The answer's `args`, parsed.
fn arguments(args: &Value) -> Proposal {
    let list = |index: usize| args[index].as_array().into_iter().flatten().filter_map(Value::as_str);
    let proposal = Proposal {
        targets: list(0).map(|text| text.parse().expect("an address")).collect(),
        values: list(1).map(|text| text.parse().expect("a number")).collect(),
        signatures: list(2).map(str::to_owned).collect(),
        calldatas: list(3).map(|text| text.parse::<Bytes>().expect("bytes")).collect(),
        description: args[4].as_str().expect("a description").to_owned(),
    };
    assert!(proposal.values.iter().all(U256::is_zero), "{args}");
    assert!(proposal.signatures.iter().all(|signature| signature.ends_with(')') && !signature.contains(' ')), "{args}");
    proposal
}

/// For each kind of collection, with and without a split: each strategy alone, and all three together.
async fn check_every_case(fixture: &GovernorFixture) {
    let mut cases = Vec::new();
    for (is_new, is_split) in [(true, false), (true, true), (false, false), (false, true)] {
        let [one, other, third] = STRATEGIES.map(|strategy| vec![strategy]);
        let strategies = [one, other, third, STRATEGIES.to_vec()];
        cases.extend(strategies.map(|strategies| WriteCase { is_new, strategies, is_split }));
    }
    for together in cases.chunks(TOGETHER) {
        fixture.check(together).await;
    }
}

#[tokio::test]
async fn nouns_governor_executes_every_kind_of_proposal() {
    check_every_case(&GovernorFixture::nouns().await).await;
}

#[tokio::test]
async fn bravo_governor_executes_every_kind_of_proposal() {
    check_every_case(&GovernorFixture::bravo().await).await;
}
