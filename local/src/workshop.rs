//! The parts that a write to a chain needs, without functions: a chain with its contracts, DynamoDB, and KMS with the
//! lanes' keys. For tests that drive the relay.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use alloy::{
    consensus::{SignableTransaction, TxEip1559},
    eips::eip2718::Encodable2718,
    network::TxSigner,
    primitives::{Address, B256, TxKind, U256, keccak256, uint},
    providers::{Provider, RootProvider, ext::AnvilApi},
    rpc::types::anvil::ReorgOptions,
    sol_types::SolCall,
};
use aws_config::{SdkConfig, retry::RetryConfig};
use serde_json::Value;
use shared::{
    chain::{
        Chain,
        contracts::{
            native::{Creator1155, CreatorFactory},
            safe::Safe,
        },
        node::Node,
        protocol::{permission::Permission, provenance::Provenance},
        transaction::Power,
        wallet::{Call, CallKind, EmbeddedWallet, LaneSigner, LaneSigners, Lanes, OperatorAccount, execution},
    },
    clock,
    model::{self, Amount, ArtistId, ChainId, NewMoment, NewTokens, Plan, RoyaltyBps, Sale, SaleTerms, TransactionId},
    store::{
        artist::{
            Admission, Admitted, Artist, ArtistTable, Artists, NewTransaction, PayoutAddresses, Pool, PoolLimit,
            Transactions,
        },
        chain::ChainTable,
    },
};
use uuid::Uuid;

use crate::{
    Error,
    chains::LocalChain,
    cloud::{self, Endpoints},
    contracts::{self, Artifacts, DEPLOYER},
    database,
    node::transact,
    paths::Paths,
    patience::{PATIENCE, eventually},
    process::Process,
};

const CHAIN: ChainId = ChainId(8453);
/// Enough for every budget, in wei.
const PLENTY: u64 = 1_000_000_000_000_000_000;
/// Balance of a collection's creator: one ether, in wei.
const CREATOR_BALANCE: U256 = uint!(1_000_000_000_000_000_000_U256);

/// Waits until a node's pool is empty. Anvil tells of a block before it takes what the block has out of the pool, by sender
/// and nonce: if the block is gone by then, the next transaction with the same ones is taken out, too, and never mined.
async fn until_pool_is_empty(node: &RootProvider) -> Result<(), Error> {
    eventually("the node's pool is empty", async || {
        let status: Value = node.raw_request("txpool_status".into(), ()).await?;
        Ok((status["pending"] == "0x0").then_some(()))
    })
    .await
}

/// Replaces a node's newest blocks by empty ones, once its pool is empty.
pub async fn reorganise(node: &RootProvider, depth: u64) -> Result<(), Error> {
    until_pool_is_empty(node).await?;
    Ok(node.anvil_reorg(ReorgOptions { depth, tx_block_pairs: Vec::new() }).await?)
}

/// Drops a node's newest blocks, once its pool is empty.
pub async fn roll_back(node: &RootProvider, depth: u64) -> Result<(), Error> {
    until_pool_is_empty(node).await?;
    Ok(node.anvil_rollback(Some(depth)).await?)
}

/// Goes back to a node's snapshot, once its pool is empty.
pub async fn revert(node: &RootProvider, snapshot: U256) -> Result<(), Error> {
    until_pool_is_empty(node).await?;
    if node.anvil_revert(snapshot).await? { Ok(()) } else { Err(format!("no snapshot {snapshot}").into()) }
}

/// The running parts; dropping it stops them.
pub struct Workshop {
    /// The chain's configuration.
    pub chain: Chain,
    /// URL of its node.
    pub rpc_url: String,
    /// SDK configuration for DynamoDB.
    pub dynamodb: SdkConfig,
    /// URLs of the emulated AWS services.
    pub endpoints: Endpoints,
    /// Values of the template's parameters and resources, by name.
    pub names: BTreeMap<String, String>,
    /// The lanes' signers, in the template's order.
    pub signers: LaneSigners,
    /// The operator's accounts, which all lanes own.
    pub operator: OperatorAccount,
    /// The lanes' addresses and KMS key ids.
    lanes: Vec<(Address, String)>,
    node: LocalChain,
    _aws: Process,
}

impl Workshop {
    /// Starts all parts. `name` is the folder of its logs.
    pub async fn start(name: &str) -> Result<Self, Error> {
        let paths = Paths::of_checkout();
        let logs = paths.workshop(name);
        let template = paths.template()?;
        let (chains_json, chains) = cloud::local_chains(&[CHAIN.0])?;
        let chain = chains.get(CHAIN)?.clone();
        let (node, aws, dynamodb, artifacts) = tokio::try_join!(
            LocalChain::start(&paths, &logs, CHAIN),
            cloud::start(&paths, &logs),
            database::start(),
            Artifacts::compile(&paths)
        )?;
        let (aws, aws_process) = aws;
        contracts::deploy(&node.rpc_url, &chain, &artifacts).await?;
        let endpoints = Endpoints { aws: aws.clone(), dynamodb: dynamodb.clone() };
        let overrides = [("MailSender", "moments@example.com".to_owned()), ("Chains", chains_json)];
        let names = endpoints.provision(&template, overrides.into()).await?;
        let parameter = |name: &str| names.get(name).cloned().unwrap_or_default();
        let lanes: Lanes = parameter("OperatorLanes").parse()?;
        node.fund(lanes.iter()).await?;
        let lanes: Vec<_> = lanes.iter().zip(parameter("OperatorLaneKeys").split(',').map(str::to_owned)).collect();
        let operator = OperatorAccount::born_of(DEPLOYER);
        let deployer = RootProvider::connect(&node.rpc_url).await?;
        for call in OperatorAccount::creation(DEPLOYER) {
            transact(&deployer, "operator", DEPLOYER, call.target, call.value, call.data.into()).await?;
        }
        own(&deployer, &operator, &lanes).await?;
        Ok(Self {
            chain,
            rpc_url: node.rpc_url.clone(),
            dynamodb: endpoints.sdk_config(&dynamodb).await,
            signers: signers(&lanes, &endpoints.sdk_config(&endpoints.aws).await),
            operator,
            lanes,
            endpoints,
            names,
            node,
            _aws: aws_process,
        })
    }

    /// A client of the node.
    pub async fn node(&self) -> Result<RootProvider, Error> {
        Ok(RootProvider::connect(&self.rpc_url).await?)
    }

    /// The store of transactions.
    pub fn transactions(&self) -> Transactions {
        Transactions::new(ArtistTable::new(&self.dynamodb, "ArtistTable"))
    }

    /// The store of payout addresses.
    pub fn artists(&self) -> Artists {
        Artists::new(ArtistTable::new(&self.dynamodb, "ArtistTable"))
    }

    /// Where artists' money may go.
    pub fn payouts(&self) -> PayoutAddresses {
        PayoutAddresses::new(ArtistTable::new(&self.dynamodb, "ArtistTable"))
    }

    /// Which collections a known factory made; nothing is indexed.
    pub fn provenance(&self) -> Provenance {
        let (index, artists) =
            (ChainTable::new(&self.dynamodb, "ChainTable"), ArtistTable::new(&self.dynamodb, "ArtistTable"));
        Provenance::new(index, artists)
    }

    /// The chain's node as it is reached at `rpc_url`: the node's URL or a proxy's. It is waited for.
    pub fn node_at(&self, rpc_url: &str) -> Result<Node, Error> {
        let urls = serde_json::json!({ self.chain.id.to_string(): [rpc_url] }).to_string().parse()?;
        // A node that is slow isn't one that fails.
        Ok(Node::with_timeout(&urls, self.chain.id, PATIENCE)?)
    }

    /// The store as it is reached at `dynamodb`: the database's URL or a proxy's.
    pub async fn transactions_at(&self, dynamodb: &str) -> Transactions {
        Transactions::new(ArtistTable::new(&self.impatient(dynamodb).await, "ArtistTable"))
    }

    /// The lanes' signers as KMS is reached at `kms`: its URL or a proxy's.
    pub async fn signers_at(&self, kms: &str) -> LaneSigners {
        signers(&self.lanes, &self.impatient(kms).await)
    }

    /// Configuration for a service that is reached by a proxy, which fails on purpose: it is asked again at once.
    async fn impatient(&self, endpoint: &str) -> SdkConfig {
        let retries = RetryConfig::standard().with_initial_backoff(Duration::from_millis(10));
        self.endpoints.sdk_config(endpoint).await.into_builder().retry_config(retries).build()
    }

    /// The lanes' addresses and the ids of their keys.
    pub fn lanes(&self) -> &[(Address, String)] {
        &self.lanes
    }

    /// Deploys a contract of `local/contracts` whose constructor has no parameters.
    pub async fn deploy(&self, name: &'static str) -> Result<Address, Error> {
        let artifacts = Artifacts::compile(&Paths::of_checkout()).await?;
        let code = alloy::hex::decode(artifacts.compiled(name, name)?)?;
        let creation = alloy::rpc::types::TransactionRequest::default().from(DEPLOYER);
        let creation = alloy::network::TransactionBuilder::with_deploy_code(creation, code);
        let receipt = self.node().await?.eth_send_transaction_sync(creation).await?;
        Ok(receipt.contract_address.ok_or("nothing was deployed")?)
    }

    /// Adds lanes until there are `count`, each with its own key, and funds them.
    pub async fn add_lanes(&mut self, count: usize) -> Result<(), Error> {
        let before = self.lanes.len();
        while self.lanes.len() < count {
            self.lanes.push(self.endpoints.create_lane().await?);
        }
        own(&self.node().await?, &self.operator, &self.lanes[before.min(self.lanes.len())..]).await?;
        self.node.fund(self.lanes.iter().map(|(address, _)| *address)).await?;
        self.signers = signers(&self.lanes, &self.endpoints.sdk_config(&self.endpoints.aws).await);
        Ok(())
    }

    /// Sends a transaction that does nothing with a lane's key, past the relay. Returns its hash; it may not be in a block
    /// yet.
    pub async fn use_lane(&self, lane: Address) -> Result<B256, Error> {
        let node = self.node().await?;
        let signer = self.signers.iter().find(|signer| signer.address() == lane).ok_or("no such lane")?;
        let mut request = TxEip1559 {
            chain_id: self.chain.id.0,
            nonce: node.get_transaction_count(lane).pending().await?,
            gas_limit: 21_000,
            max_fee_per_gas: 20_000_000_000,
            max_priority_fee_per_gas: 2_000_000_000,
            to: TxKind::Call(Address::repeat_byte(9)),
            ..TxEip1559::default()
        };
        let signature = signer.sign_transaction(&mut request).await?;
        let signed = request.into_signed(signature).encoded_2718();
        Ok(*node.send_raw_transaction(&signed).await?.tx_hash())
    }

    /// Creates an artist whose account isn't deployed.
    pub async fn artist(&self) -> Result<Artist, Error> {
        let artist_id = ArtistId::random();
        let wallet = EmbeddedWallet::new(self.operator.safe, artist_id);
        let artist = Artist { artist_id, embedded_wallet: wallet.address().into() };
        let email = format!("{artist_id}@example.com").parse()?;
        self.artists().create(&email, &artist, 0).await?;
        Ok(artist)
    }

    /// Creates a collection with one moment, token 1; `admins` are admins of both.
    pub async fn collection(&self, admins: &[Artist]) -> Result<Address, Error> {
        let admins: Vec<_> = admins.iter().map(|artist| artist.embedded_wallet.into()).collect();
        publish(&self.rpc_url, self.chain.addresses.factory, &admins, Vec::new()).await
    }

    /// Transactions of one request, which no limit refuses.
    pub async fn admission(&self, artist: &Artist, transactions: Vec<NewTransaction>) -> Result<Admission, Error> {
        Ok(Admission {
            artist: artist.artist_id,
            key: None,
            outlay: None,
            chain: self.chain.id,
            wallet: artist.embedded_wallet,
            account: self.transactions().account(artist.artist_id, self.chain.id).await?,
            transactions: transactions.into_iter().map(|new| self.of_its_kind(artist, new)).collect(),
            replay: None,
            claim: None,
            activity: None,
            artist_limit: PLENTY,
            pool: PoolLimit { pool: Pool::Established, wei: PLENTY, assured: 0 },
        })
    }

    /// Queues transactions of one request.
    pub async fn queue(&self, artist: &Artist, transactions: Vec<NewTransaction>) -> Result<Vec<TransactionId>, Error> {
        self.admit(&self.admission(artist, transactions).await?).await
    }

    /// Queues the transactions of an admission.
    pub async fn admit(&self, admission: &Admission) -> Result<Vec<TransactionId>, Error> {
        match self.transactions().admit(admission, clock::now()?).await? {
            Admitted::Queued(queued) => Ok(queued.into_iter().map(|transaction| transaction.id).collect()),
            Admitted::Refused(refusal) => Err(format!("{refusal:?}").into()),
        }
    }

    /// The transaction with the kind that its calls have for an artist without connected wallets.
    fn of_its_kind(&self, artist: &Artist, new: NewTransaction) -> NewTransaction {
        let calls = new.plan.outline(&self.chain.addresses);
        let power = Power::of(&self.chain, artist.embedded_wallet.into(), &calls);
        NewTransaction { kind: power.kind(&BTreeSet::new()).unwrap_or(new.kind), ..new }
    }

    /// Metadata URI of token 1.
    pub async fn uri_of(&self, collection: Address) -> Result<String, Error> {
        let call = alloy::rpc::types::TransactionRequest::default().to(collection);
        let call = call.input(uriCall { id: U256::ONE }.abi_encode().into());
        Ok(uriCall::abi_decode_returns(&self.node().await?.call(call).await?)?)
    }
}

/// A moment whose id is known only when its transaction is signed.
pub fn moment_plan(artist: &Artist, collection: Address, uri: &str) -> Result<Plan, Error> {
    let terms = SaleTerms { start: 0, end: u64::MAX, max_per_address: 0 };
    let moment = NewMoment {
        uri: uri.parse()?,
        max_supply: 10,
        create_referral: model::Address::ZERO,
        sale: Sale::FixedPrice { terms, price: Amount::default() },
        payout_recipient: None,
        mint_to_creator: 1,
        royalty: RoyaltyBps::default(),
    };
    Ok(Plan::Tokens(NewTokens {
        collection: collection.into(),
        collection_name: "Workshop".to_owned(),
        account: artist.embedded_wallet,
        operator: artist.embedded_wallet,
        split: None,
        before: Vec::new(),
        moments: vec![moment],
    }))
}

/// Makes lanes owners of the operator Safe.
async fn own(node: &RootProvider, operator: &OperatorAccount, lanes: &[(Address, String)]) -> Result<(), Error> {
    for (lane, _) in lanes {
        let add = Safe::addOwnerWithThresholdCall { owner: *lane, _threshold: U256::ONE };
        let call = execution(&Call::new(operator.safe, &add), CallKind::Call, DEPLOYER);
        transact(node, "lane", DEPLOYER, operator.safe, U256::ZERO, call.abi_encode()).await?;
    }
    Ok(())
}

fn signers(lanes: &[(Address, String)], kms: &SdkConfig) -> LaneSigners {
    let kms = aws_sdk_kms::Client::new(kms);
    LaneSigners::new(lanes.iter().map(|(address, key)| LaneSigner::new(kms.clone(), key.clone(), *address)).collect())
}

/// Creates a collection with one moment, token 1, whose URI is `ar://first`. `admins` are admins of both; the factory
/// runs `actions` on the new collection.
pub async fn publish(
    rpc_url: &str,
    factory: Address,
    admins: &[Address],
    actions: Vec<Vec<u8>>,
) -> Result<Address, Error> {
    let mut all = vec![
        Creator1155::setupNewTokenCall { newURI: "ar://first".to_owned(), maxSupply: U256::from(u64::MAX) }
            .abi_encode(),
    ];
    for &user in admins {
        for token in [U256::ZERO, U256::ONE] {
            all.push(
                Creator1155::addPermissionCall {
                    tokenId: token,
                    user,
                    permissionBits: U256::from(Permission::Admin as u8),
                }
                .abi_encode(),
            );
        }
    }
    all.extend(actions);
    let royalty =
        CreatorFactory::RoyaltyConfiguration { royaltyMintSchedule: 0, royaltyBPS: 1_000, royaltyRecipient: DEPLOYER };
    let creation = CreatorFactory::createContractCall {
        newContractURI: "ar://collection".to_owned(),
        name: "Workshop".to_owned(),
        defaultRoyaltyConfiguration: royalty,
        defaultAdmin: DEPLOYER,
        setupActions: all.into_iter().map(Into::into).collect(),
    };
    let node: RootProvider = RootProvider::connect(rpc_url).await?;
    // Each collection has its own creator, so that concurrent calls don't compete for nonces.
    let creator = Address::from_word(keccak256(Uuid::new_v4()));
    node.anvil_impersonate_account(creator).await?;
    node.anvil_set_balance(creator, CREATOR_BALANCE).await?;
    let receipt = transact(&node, "collection", creator, factory, U256::ZERO, creation.abi_encode()).await?;
    let mut created = receipt.logs().iter().filter_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
    Ok(created.next().ok_or("the factory announced no collection")?.inner.data.newContract)
}

alloy::sol! {
    function uri(uint256 id) external view returns (string memory);
}
