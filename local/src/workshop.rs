//! The parts that a write to a chain needs, without functions around them: one chain with its contracts, storage, and
//! KMS with the lanes' keys. For tests that drive the engine step by step.

use std::{collections::BTreeMap, fs, time::Duration};

use alloy::{
    primitives::{Address, U256, keccak256, uint},
    providers::{Provider, RootProvider, ext::AnvilApi},
    sol_types::SolCall,
};
use aws_config::SdkConfig;
use shared::{
    chain::{
        Chain,
        account::{EmbeddedWallet, Lanes},
        contracts::{Creator1155, CreatorFactory},
        engine::Engine,
        node::Node,
        permission::Permission,
        policy::Policy,
        signer::{LaneSigner, LaneSigners},
    },
    model::{ArtistId, ChainId},
    store::{Artist, Artists, Table, Transactions},
};
use template::Template;

use crate::{
    Error,
    chains::LocalChain,
    cloud::{self, Endpoints},
    contracts::{self, Artifacts, DEPLOYER},
    database,
    node::transact,
    paths::Paths,
    process::Process,
};

/// The chain that is started.
const CHAIN: ChainId = ChainId(8453);
/// Longest wait for a node's answer.
const NODE_TIMEOUT: Duration = Duration::from_secs(2);
/// What the maker of a collection pays for it with: an ether, in wei.
const MAKER_BALANCE: U256 = uint!(1_000_000_000_000_000_000_U256);

/// The running parts; they end with this value.
pub struct Workshop {
    /// The chain, as the service is configured for it.
    pub chain: Chain,
    /// Where its node is.
    pub rpc_url: String,
    /// For clients of DynamoDB.
    pub dynamodb: SdkConfig,
    /// Where AWS's services are.
    pub endpoints: Endpoints,
    /// What the template's parameters and resources are called here.
    pub names: BTreeMap<String, String>,
    /// The lanes, in the template's order.
    pub signers: LaneSigners,
    /// The lanes with their KMS keys.
    lanes: Vec<(Address, String)>,
    node: LocalChain,
    _aws: Process,
}

impl Workshop {
    /// Starts everything. `name` is the folder of its logs.
    ///
    /// # Errors
    /// When a part can't be started.
    pub async fn start(name: &str) -> Result<Self, Error> {
        let paths = Paths::of_checkout();
        let logs = paths.local("workshops").join(name);
        let template: Template = fs::read_to_string(paths.root().join("template.yaml"))?.parse()?;
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
        Ok(Self {
            chain,
            rpc_url: node.rpc_url.clone(),
            dynamodb: endpoints.sdk_config(&dynamodb).await,
            signers: signers(&lanes, &endpoints).await,
            lanes,
            endpoints,
            names,
            node,
            _aws: aws_process,
        })
    }

    /// The node, for what a test does to the chain itself.
    ///
    /// # Errors
    /// When it can't be reached.
    pub async fn node(&self) -> Result<RootProvider, Error> {
        Ok(RootProvider::connect(&self.rpc_url).await?)
    }

    /// The stored transactions.
    pub fn transactions(&self) -> Transactions {
        Transactions::new(Table::new(&self.dynamodb, "ArtistTable"))
    }

    /// An engine that reaches the chain at `rpc_url`: the node's own, or that of something in front of it.
    ///
    /// # Errors
    /// When the HTTP client can't be made.
    pub fn engine(&self, rpc_url: &str, policy: Policy) -> Result<Engine, Error> {
        self.engine_with(rpc_url, policy, self.signers.clone(), &self.dynamodb)
    }

    /// The same, reaching AWS at `endpoints`.
    ///
    /// # Errors
    /// When the HTTP client can't be made.
    pub async fn engine_at(&self, endpoints: &Endpoints, rpc_url: &str, policy: Policy) -> Result<Engine, Error> {
        let dynamodb = endpoints.sdk_config(&endpoints.dynamodb).await;
        self.engine_with(rpc_url, policy, signers(&self.lanes, endpoints).await, &dynamodb)
    }

    fn engine_with(
        &self,
        rpc_url: &str,
        policy: Policy,
        signers: LaneSigners,
        dynamodb: &SdkConfig,
    ) -> Result<Engine, Error> {
        let urls = serde_json::json!({ self.chain.id.to_string(): [rpc_url] }).to_string().parse()?;
        let node = Node::with_timeout(&urls, self.chain.id, NODE_TIMEOUT)?;
        let transactions = Transactions::new(Table::new(dynamodb, "ArtistTable"));
        Ok(Engine::new(self.chain.clone(), node, signers, policy, transactions))
    }

    /// Adds lanes until there are `count`, each with a key of its own and something to pay with.
    ///
    /// # Errors
    /// When KMS or the node refuses.
    pub async fn add_lanes(&mut self, count: usize) -> Result<(), Error> {
        while self.lanes.len() < count {
            self.lanes.push(self.endpoints.create_lane().await?);
        }
        self.node.fund(self.lanes.iter().map(|(address, _)| *address)).await?;
        self.signers = signers(&self.lanes, &self.endpoints).await;
        Ok(())
    }

    /// A new artist on one of the lanes, whose account isn't deployed.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn artist(&self, lane: usize) -> Result<Artist, Error> {
        let signer = self.signers.iter().nth(lane).ok_or("no such lane")?;
        let artist_id = ArtistId::random();
        let wallet = EmbeddedWallet::new(signer.address(), artist_id);
        let artist = Artist { artist_id, embedded_wallet: wallet.address().into(), lane: signer.address().into() };
        let email = format!("{artist_id}@example.com").parse()?;
        Artists::new(Table::new(&self.dynamodb, "ArtistTable")).create(&email, &artist, 0).await?;
        Ok(artist)
    }

    /// A collection with one moment, token 1, of both of which these accounts are admins.
    ///
    /// # Errors
    /// When the chain refuses it.
    pub async fn collection(&self, admins: &[Artist]) -> Result<Address, Error> {
        let admins: Vec<_> = admins.iter().map(|artist| artist.embedded_wallet.into()).collect();
        publish(&self.rpc_url, self.chain.addresses.factory, &admins, Vec::new()).await
    }

    /// What the chain says of token 1.
    ///
    /// # Errors
    /// When the node can't be reached.
    pub async fn uri_of(&self, collection: Address) -> Result<String, Error> {
        let call = alloy::rpc::types::TransactionRequest::default().to(collection);
        let call = call.input(uriCall { id: U256::ONE }.abi_encode().into());
        Ok(uriCall::abi_decode_returns(&self.node().await?.call(call).await?)?)
    }
}

async fn signers(lanes: &[(Address, String)], endpoints: &Endpoints) -> LaneSigners {
    let kms = aws_sdk_kms::Client::new(&endpoints.sdk_config(&endpoints.aws).await);
    LaneSigners::new(lanes.iter().map(|(address, key)| LaneSigner::new(kms.clone(), key.clone(), *address)).collect())
}

/// Makes a collection with one moment, token 1, whose URI is `ar://first`. `admins` are admins of both, and `actions` are
/// done with the new collection by its factory.
///
/// # Errors
/// When the chain refuses it.
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
    // Whoever publishes at the same time must not take the same nonces: each collection has a maker of its own.
    let maker = Address::from_word(keccak256(creation.abi_encode()));
    node.anvil_impersonate_account(maker).await?;
    node.anvil_set_balance(maker, MAKER_BALANCE).await?;
    let receipt = transact(&node, "collection", maker, factory, U256::ZERO, creation.abi_encode()).await?;
    let mut created = receipt.logs().iter().filter_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
    Ok(created.next().ok_or("the factory announced no collection")?.inner.data.newContract)
}

alloy::sol! {
    function uri(uint256 id) external view returns (string memory);
}
