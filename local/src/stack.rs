//! Starts all parts of the stack in the order of their dependencies.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    net::SocketAddr,
    path::PathBuf,
};

use alloy::providers::RootProvider;
use local_lambda::Rate;
use serde_json::{Value, json};
use shared::{
    chain::{
        Chains,
        wallet::{EmbeddedWallet, Lanes, OperatorAccount},
    },
    model::{Address, ChainId},
};
use template::{Function, Template};
use tokio::{task::JoinHandle, time::Instant};
use url::Url;

use crate::{
    Error,
    api_gateway::ApiGateway,
    artists::SignedIn,
    chains::{CHAINS, LocalChain, NodeSettings},
    cloud::{self, Endpoints},
    contracts::{self, Artifacts},
    database::LocalDatabase,
    demo::{self, Demo},
    desk::{Desk, DeskPage, LOCAL_OPERATOR},
    edge::Edge,
    files_host::{self, FilesHost},
    functions::{Emulator, environment},
    governor, http, ipfs_gateway,
    lock::try_lock,
    operator::{self, Guard, Guardian, Plan, Setup, State},
    paths::Paths,
    patience::eventually,
    pinning_service::{self, PinningService},
    process::{Process, requested_port},
    recorder::{Need, Recorder},
    stack_map::StackMap,
    traces::Traces,
};

/// Most processes of each unscheduled function, which is how many requests it answers at a time.
const INSTANCES: usize = 128;

/// How many times shorter the pauses between scheduled runs are than the periods in an account, so that nothing waits for
/// a minute. The indexer's runs are as long as there, and look for new blocks as often.
const SCHEDULE_FACTOR: u32 = 30;

/// Factor on production's limits per client, per route and in total, so that tests don't reach them.
pub const LIMIT_FACTOR: u32 = 100;

/// The parameters that the factor raises.
const SCALED_LIMITS: [&str; 9] = [
    "CodesPerClientHourly",
    "CodesTotalHourly",
    "SignInsPerClientHourly",
    "ChallengesPerClientHourly",
    "ProposalsPerClientHourly",
    "ReportsPerClientHourly",
    "RefreshesPerClientHourly",
    "WritesPerClientMinutely",
    "WalletReadsPerClientMinutely",
];

/// The one limit of all clients together, which an operator raises with their number: it is never production's.
const TOTAL_LIMIT: &str = "CodesTotalHourly";

/// A running stack; dropping it stops every part.
pub struct Stack {
    /// Addresses of its parts.
    pub map: StackMap,
    /// The demo artists.
    pub artists: [SignedIn; 2],
    _aws: Process,
    _chains: Vec<LocalChain>,
    _functions: Emulator,
    _traces: Traces,
    recorders: Vec<Recorder>,
    _gateway: ApiGateway,
    _edge: Option<Edge>,
    _files: FilesHost,
    _desk: DeskPage,
    _lock: File,
    writer: JoinHandle<()>,
}

impl Drop for Stack {
    fn drop(&mut self) {
        self.writer.abort();
    }
}

/// Options of [`Stack::start`].
pub struct Options {
    /// Folder under `.local` for the map and the logs.
    pub folder: PathBuf,
    /// Port of the API; `None` picks a free one.
    pub port: Option<u16>,
    /// Whether to record the functions' AWS calls.
    pub is_recorded: bool,
    /// Whether scheduled functions run as in an account, and not more often.
    pub keeps_schedule: bool,
    /// Ports of the chains' nodes, and URLs that functions call instead.
    pub nodes: NodeSettings,
    /// Factor on production's limits: [`LIMIT_FACTOR`], or 1 for them as they are, with the edge.
    pub limit_factor: u32,
}

impl Options {
    /// Those of a stack for tests: free ports, its own nodes, no limit that honest tests reach.
    pub fn at(folder: PathBuf) -> Self {
        let nodes = NodeSettings::default();
        Self { folder, port: None, is_recorded: false, keeps_schedule: false, nodes, limit_factor: LIMIT_FACTOR }
    }
}

/// Prints each step with its duration.
struct Progress(Instant);

impl Progress {
    fn done(&mut self, step: &str) {
        println!("{:>6} ms  {step}", self.0.elapsed().as_millis());
        self.0 = Instant::now();
    }
}

impl Stack {
    /// Starts everything and publishes the demo content.
    pub async fn start(paths: &Paths, options: &Options) -> Result<Self, Error> {
        let mut steps = Progress(Instant::now());
        // First, since a taken port is the most likely error.
        let mut node_ports = options.nodes.reserve()?;
        let port = options.port.map_or(Ok(0), requested_port)?;
        let lock = try_lock(&options.folder.with_extension("lock"))?;
        let lock = lock.ok_or_else(|| {
            format!("{} is another command's: wait until it ends, or use another checkout", options.folder.display())
        })?;
        if options.folder.exists() {
            fs::remove_dir_all(&options.folder)?;
        }
        let logs = options.folder.join("logs");
        let template = paths.template()?;
        fs::create_dir_all(&logs)?;
        let traces = Traces::collect(&options.folder).await?;
        let mut functions = Emulator::start(paths, &logs, "lambda", 0, &template).await?;
        let any_page = template.names([("CorsOrigins".to_owned(), "*".to_owned())])?;
        let api_gateway = ApiGateway::in_front_of(&functions, port, &template, &any_page, options.limit_factor).await?;
        let api = format!("{}/api", api_gateway.url);
        steps.done(&format!("Lambda at {}, its gateway at {}", functions.url(), api_gateway.url));

        // Streams are read without the recorder: what reads them has no function's role.
        let database = LocalDatabase::start().await?;
        let dynamodb = database.endpoint.clone();
        steps.done(&format!("DynamoDB at {dynamodb}"));
        let (aws, aws_process) = cloud::start(paths, &logs).await?;
        let mail = format!("{aws}/_ministack/ses/messages");
        // Not through the recorder either: the distribution reads the bucket itself.
        let buckets = aws.clone();
        steps.done(&format!("KMS and SES at {aws}"));
        let mut endpoints = Endpoints { aws, dynamodb };
        let mut recorders = Vec::new();
        if options.is_recorded {
            for url in [&mut endpoints.aws, &mut endpoints.dynamodb] {
                let recorder = Recorder::in_front_of(url).await?;
                url.clone_from(&recorder.url);
                recorders.push(recorder);
            }
        }

        let (chains_json, chains) = cloud::local_chains(&CHAINS)?;
        let mut nodes = Vec::new();
        for id in CHAINS {
            let id = ChainId(id);
            nodes.push(match node_ports.remove(&id).map(|port| port.local_addr()).transpose()? {
                Some(address) => LocalChain::start_at(paths, &logs, id, address.port()).await?,
                None => LocalChain::start(paths, &logs, id).await?,
            });
        }
        let rpc: BTreeMap<_, _> = nodes.iter().map(|node| (node.id.to_string(), node.rpc_url.clone())).collect();
        steps.done(&format!("chains {}", rpc.keys().cloned().collect::<Vec<_>>().join(" and ")));
        let contracts = deploy_contracts(paths, &nodes, &chains).await?;
        steps.done("contracts");

        let gateway = ipfs_gateway::start(paths).await?;
        let mut rpc_urls: BTreeMap<_, _> = rpc.iter().map(|(chain, url)| (chain.clone(), vec![url.clone()])).collect();
        for (chain, urls) in &options.nodes.rpc_urls {
            rpc_urls.insert(chain.to_string(), urls.iter().map(ToString::to_string).collect());
            steps.done(&format!(
                "functions call chain {chain} at {}",
                urls.iter().map(Url::as_str).collect::<Vec<_>>().join(", ")
            ));
        }
        let mut overrides = overrides(&template, &api, chains_json, &rpc_urls, gateway, options.limit_factor)?;
        if options.is_recorded {
            overrides.insert("LogLevel", "trace".to_owned());
            // Read as in an account whose nodes have credentials, so that each role is seen to be allowed to.
            let secret = endpoints.create_secret("moments-nodes", &serde_json::to_string(&rpc_urls)?).await?;
            overrides.insert("RpcSecret", secret);
        }
        let files = files_host::Listening::bind().await?;
        overrides.insert("FilesAddress", files.url.clone());
        let pinning = PinningService::start(Some(api.clone())).await?;
        overrides.insert("PinningEndpoint", pinning.url.clone());
        let secret = endpoints.create_secret("moments-pinning", pinning_service::TOKEN).await?;
        overrides.insert("PinningSecret", secret);
        let mut names = endpoints.provision(&template, overrides).await?;
        let bucket = names.get("MediaBucket").ok_or("template.yaml: no bucket of files")?.clone();
        let files = files.serve(&template, &endpoints.sdk_config(&buckets).await, bucket, api.clone())?;
        steps.done("tables, keys and identities");
        let operator = set_up_operator(paths, &endpoints, &nodes, &mut names).await?;
        names.insert("OperatorSafe".to_owned(), operator.safe.to_string().to_lowercase());
        steps.done("operator's accounts");

        let streams_of = template.streams(&names)?;
        let is_worker = |function: &Function| {
            function.is_scheduled && streams_of.iter().all(|stream| stream.binary != function.binary)
        };
        for function in template.functions()?.iter() {
            let instances = if is_worker(function) { 1 } else { INSTANCES };
            let daemon = ("AWS_XRAY_DAEMON_ADDRESS", traces.address.clone());
            let environment = environment(function, &names, endpoints.environment().into_iter().chain([daemon]))?;
            functions.run(&function.binary, instances, &environment)?;
        }
        for event in &streams_of {
            functions.map_own_stream(event, &database).await?;
        }
        steps.done("functions");

        let (ada, ada_wallet) = sign_in(&api, &mail, &operator, "ada@example.com").await?;
        let (grace, grace_wallet) = sign_in(&api, &mail, &operator, "grace@example.com").await?;
        steps.done("two artists signed in");
        let node = nodes.first().ok_or("no chain was started")?;
        let demo = demo::publish(&node.rpc_url, chains.get(node.id)?, &[ada_wallet, grace_wallet]).await?;
        steps.done("demo content published");
        for function in &template.functions()? {
            for schedule in &function.schedules {
                let Rate(period) = schedule.expression.parse().map_err(|error| format!("template.yaml: {error}"))?;
                if options.keeps_schedule {
                    functions.keep_schedule(&function.binary, schedule.input.clone(), Rate(period));
                } else {
                    functions.schedule_with(&function.binary, schedule.input.clone(), period / SCHEDULE_FACTOR);
                }
            }
        }
        wait_for_index(&api, &demo).await?;
        steps.done("demo content indexed");

        let Endpoints { aws, dynamodb } = endpoints;
        let lambda = functions.url().to_owned();
        let demo = serde_json::to_value(demo)?;
        let mut processes = functions.processes();
        let running = processes.borrow_and_update().clone();
        let pinning = pinning.url;
        let at_the_edge = match options.limit_factor {
            1 => Some(Edge::start(&api_gateway.url, &template).await?),
            _ => None,
        };
        let edge = at_the_edge.as_ref().map(|edge| format!("{}/api", edge.url));
        let mut map = StackMap {
            api,
            edge,
            files: files.url.clone(),
            desk: String::new(),
            lambda,
            dynamodb,
            aws,
            mail,
            pinning,
            rpc,
            contracts,
            demo,
            names,
            processes: running,
        };
        let desk = DeskPage::start(Desk::of_stack(&map, LOCAL_OPERATOR).await?).await?;
        map.desk.clone_from(&desk.url);
        let file = options.folder.join("stack.json");
        map.write(&file)?;
        let writer = tokio::spawn(map.clone().follow(file, processes));
        Ok(Self {
            map,
            artists: [ada, grace],
            _aws: aws_process,
            _chains: nodes,
            _functions: functions,
            _traces: traces,
            _gateway: api_gateway,
            _edge: at_the_edge,
            _files: files,
            _desk: desk,
            _lock: lock,
            recorders,
            writer,
        })
    }

    /// The permissions that the functions have needed so far; empty without recording.
    pub fn needs(&self) -> BTreeSet<Need> {
        self.recorders.iter().flat_map(Recorder::needs).collect()
    }
}

/// The local values of the template's parameters.
fn overrides(
    template: &Template,
    api: &str,
    chains: String,
    rpc_urls: &BTreeMap<String, Vec<String>>,
    gateway: SocketAddr,
    limit_factor: u32,
) -> Result<BTreeMap<&'static str, String>, Error> {
    let mut overrides = BTreeMap::from([
        ("Chains", chains),
        ("GovernanceChains", json!([{"id": governor::CHAIN}]).to_string()),
        ("RpcUrls", serde_json::to_string(rpc_urls)?),
        ("MailSender", "moments@example.com".to_owned()),
        ("TokenIssuer", api.to_owned()),
        ("PagesPath", "/".to_owned()),
        ("IpfsGateways", format!("http://{gateway}/ipfs/")),
        ("PrivateGateways", gateway.to_string()),
        ("PrivateWebhooks", gateway.ip().to_string()),
    ]);
    let defaults = template.parameter_defaults();
    for limit in SCALED_LIMITS {
        let default: u64 =
            defaults.get(limit).ok_or_else(|| format!("template.yaml: no default for {limit}"))?.parse()?;
        let factor = if limit == TOTAL_LIMIT { LIMIT_FACTOR } else { limit_factor };
        overrides.insert(limit, (default * u64::from(factor)).to_string());
    }
    Ok(overrides)
}

async fn deploy_contracts(
    paths: &Paths,
    nodes: &[LocalChain],
    chains: &Chains,
) -> Result<BTreeMap<String, BTreeMap<String, String>>, Error> {
    let artifacts = Artifacts::compile(paths).await?;
    let deploy = nodes.iter().map(async |node| {
        let mut addresses = contracts::deploy(&node.rpc_url, chains.get(node.id)?, &artifacts).await?;
        if node.id == governor::CHAIN {
            addresses.extend(governor::deploy(&node.rpc_url, &artifacts).await?);
        }
        let lower_case = |(name, address): (&str, _)| (name.to_owned(), Address::from(address).to_string());
        Ok::<_, Error>((node.id.to_string(), addresses.into_iter().map(lower_case).collect()))
    });
    Ok(futures::future::try_join_all(deploy).await?.into_iter().collect())
}

/// Makes the operator's accounts on each chain, as `local operator execute` does, with a guardian in KMS.
async fn set_up_operator(
    paths: &Paths,
    endpoints: &Endpoints,
    nodes: &[LocalChain],
    names: &mut BTreeMap<String, String>,
) -> Result<OperatorAccount, Error> {
    let lanes: Lanes = names.get("OperatorLanes").map(String::as_str).unwrap_or_default().parse()?;
    let (address, key) = endpoints.create_lane().await?;
    let kms = aws_sdk_kms::Client::new(&endpoints.sdk_config(&endpoints.aws).await);
    names.insert("OperatorGuardian".to_owned(), format!("{address:#x}"));
    names.insert("OperatorGuardianKey".to_owned(), key.clone());
    let guardian = Guardian::new(kms, key, address);
    let account = OperatorAccount::born_of(address);
    let guard = Guard::of_checkout(paths, &account)?;
    let setup = Setup { account, guardian: address, lanes: lanes.iter().collect(), guard, low_lane_balance: 1 };
    for chain in nodes {
        chain.fund(lanes.iter().chain([address])).await?;
        let node = RootProvider::connect(&chain.rpc_url).await?;
        let plan = Plan::new(&setup, &State::read(&node, &setup).await?)?;
        operator::execute(&node, &plan, &guardian, |_| {}).await?;
        if let Some(difference) = operator::differences(&setup, &State::read(&node, &setup).await?).first() {
            return Err(format!("operator's accounts on chain {}: {difference}", chain.id).into());
        }
    }
    Ok(account)
}

/// Signs a demo artist in. Returns their wallet, too, of which the service says the address.
async fn sign_in(
    api: &str,
    mail: &str,
    operator: &OperatorAccount,
    email: &str,
) -> Result<(SignedIn, EmbeddedWallet), Error> {
    let artist = SignedIn::by_mail(api, mail, email).await?;
    let wallet = EmbeddedWallet::new(operator.safe, artist.id()?);
    if artist.account != Address::from(wallet.address()).to_string() {
        return Err(format!("sign-in of {email}: the wallet doesn't match the operator and the artist's id").into());
    }
    Ok((artist, wallet))
}

async fn wait_for_index(api: &str, demo: &Demo) -> Result<(), Error> {
    let comments = &demo.comments;
    let last = comments.top_level - 1;
    let url = format!(
        "{api}/comments?collectionAddress={}&tokenId={}&offset={last}",
        comments.collection_address, comments.token_id
    );
    eventually("the demo content is indexed, see .local/*/logs/index-chain.log", async || {
        let page: Value = http::client().get(&url).send().await?.json().await?;
        Ok(page["comments"].as_array().is_some_and(|comments| !comments.is_empty()).then_some(()))
    })
    .await
}
