//! KMS, SES, S3 and Secrets Manager, emulated by ministack, and the template's AWS resources: tables, keys, identities, buckets. Properties are
//! passed to the services as the template states them, so nothing is listed twice.

use std::{collections::BTreeMap, path::Path};

use alloy::primitives::Address;
use aws_config::SdkConfig;
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use shared::chain::Chains;
use template::{Resource, Template, resolve};
use tokio::process::Command;

use crate::{
    Error, http,
    paths::Paths,
    process::{Port, Process, answers, free_port},
};

/// Region of the local stack.
pub const REGION: &str = "us-east-1";

/// What stands in for a signature. It is for a service that ministack has: for any other one it first reads the models of all
/// services of AWS, which takes seconds and 400 MB.
const SIGNED: &str =
    "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=local";

/// Most ports that ministack is tried on.
const TRIES: u32 = 3;

/// Account id of the local stack.
pub const ACCOUNT: &str = "000000000000";

/// URLs of the emulated AWS services.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// KMS, SES and S3.
    pub aws: String,
    /// DynamoDB.
    pub dynamodb: String,
}

/// Starts KMS and SES, and returns their endpoint.
pub async fn start(paths: &Paths, logs: &Path) -> Result<(String, Process), Error> {
    let mut tries = TRIES;
    loop {
        let port = free_port()?;
        let (endpoint, mut process) = start_at(&port, paths, logs)?;
        let health = format!("{endpoint}/_ministack/health");
        let ready = process.ready(async || answers(&health).await).await;
        match ready {
            Ok(()) => return Ok((endpoint, process.with_port(port))),
            // Another program has listened there since.
            Err(_) if tries > 1 && port.is_taken() => tries -= 1,
            Err(error) => return Err(error),
        }
    }
}

fn start_at(port: &Port, paths: &Paths, logs: &Path) -> Result<(String, Process), Error> {
    let mut command = Command::new(paths.python_program("ministack"));
    // By default it would listen on every network interface, and on one port of all stacks for devices.
    command.envs([("GATEWAY_PORT", port.to_string().as_str()), ("BIND_HOST", "127.0.0.1"), ("LOG_LEVEL", "WARNING")]);
    command.envs([("PERSIST_STATE", "0"), ("LAMBDA_EXECUTOR", "local"), ("IOT_MTLS_ENABLED", "0")]);
    // A file that names its process would be left among everybody's when it is killed.
    command.env("TMPDIR", logs);
    // Signatures in addresses are checked: those that uploads go to are of this function.
    command.envs([("AWS_ACCESS_KEY_ID", "create-upload"), ("AWS_SECRET_ACCESS_KEY", "local")]);
    Ok((format!("http://127.0.0.1:{port}"), Process::start("ministack", logs, &mut command)?))
}

impl Endpoints {
    /// Creates the template's resources. Returns the values of its references: the parameters, with `overrides` in
    /// place of defaults, and the resources.
    pub async fn provision(
        &self,
        template: &Template,
        overrides: BTreeMap<&str, String>,
    ) -> Result<BTreeMap<String, String>, Error> {
        let given = overrides.into_iter().map(|(name, value)| (name.to_owned(), value));
        let account = [
            ("AWS::AccountId", ACCOUNT),
            ("AWS::Partition", "aws"),
            ("AWS::Region", REGION),
            ("AWS::URLSuffix", "amazonaws.com"),
        ];
        let account = account.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut names = template.names(given.chain(account))?;
        let arn = |service: &str, resource: &str| format!("arn:aws:{service}:{REGION}:{ACCOUNT}:{resource}");
        for table in template.resources("AWS::DynamoDB::Table") {
            let stream = self.create_table(table).await?;
            let id = table.logical_id;
            names.insert(id.to_owned(), id.to_owned());
            names.insert(format!("{id}.Arn"), arn("dynamodb", &format!("table/{id}")));
            if let Some(label) = stream {
                names.insert(format!("{id}.StreamArn"), arn("dynamodb", &format!("table/{id}/stream/{label}")));
            }
        }
        for bucket in template.resources("AWS::S3::Bucket") {
            let name = bucket.logical_id.to_lowercase();
            self.create_bucket(&name).await?;
            names.insert(format!("{}.Arn", bucket.logical_id), format!("arn:aws:s3:::{name}"));
            names.insert(bucket.logical_id.to_owned(), name);
        }
        let ses = aws_sdk_ses::Client::new(&self.sdk_config(&self.aws).await);
        for settings in template.resources("AWS::SES::ConfigurationSet") {
            let set = aws_sdk_ses::types::ConfigurationSet::builder().name(settings.logical_id).build()?;
            let made = ses.create_configuration_set().configuration_set(set).send().await;
            made.map_err(aws_sdk_ses::Error::from)?;
            names.insert(settings.logical_id.to_owned(), settings.logical_id.to_owned());
        }
        let (mut lanes, mut token_keys) = (Vec::new(), Vec::new());
        for key in template.resources("AWS::KMS::Key") {
            if !key.is_made(&names)? {
                continue;
            }
            let (id, spec) = self.create_key(key).await?;
            match spec.as_str() {
                "ECC_SECG_P256K1" => {
                    lanes.push(lane_address(&self.public_key(&id).await?)?.to_string().to_lowercase());
                }
                "ECC_NIST_P256" => token_keys.push(self.public_key(&id).await?),
                _ => {}
            }
            names.insert(format!("{}.Arn", key.logical_id), arn("kms", &format!("key/{id}")));
            names.insert(key.logical_id.to_owned(), id);
        }
        names.insert("OperatorLanes".to_owned(), lanes.join(","));
        names.insert("TokenPublicKeys".to_owned(), token_keys.join(","));
        for identity in template.resources("AWS::SES::EmailIdentity") {
            let address =
                identity.properties.get("EmailIdentity").ok_or("template.yaml: an identity without a name")?;
            let address = resolve(address, &names)?;
            ses.verify_email_identity().email_address(address).send().await.map_err(aws_sdk_ses::Error::from)?;
        }
        template.hand_over(&mut names);
        Ok(names)
    }

    /// Configuration for SDK clients of the service at `endpoint`.
    pub async fn sdk_config(&self, endpoint: &str) -> SdkConfig {
        let credentials = aws_sdk_kms::config::Credentials::new("local", "local", None, None, "local");
        aws_config::defaults(aws_config::BehaviorVersion::latest())
            .region(REGION)
            .credentials_provider(credentials)
            .endpoint_url(endpoint)
            .load()
            .await
    }

    /// The AWS variables of a function's environment.
    pub fn environment(&self) -> [(&'static str, String); 6] {
        [
            ("AWS_REGION", REGION.to_owned()),
            ("AWS_ACCESS_KEY_ID", "local".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "local".to_owned()),
            ("AWS_EC2_METADATA_DISABLED", "true".to_owned()),
            ("AWS_ENDPOINT_URL", self.aws.clone()),
            ("AWS_ENDPOINT_URL_DYNAMODB", self.dynamodb.clone()),
        ]
    }

    /// Creates a table as the template describes it, with its time to live. Returns its stream's label, if it has one.
    pub async fn create_table(&self, table: Resource<'_>) -> Result<Option<String>, Error> {
        let name = table.logical_id;
        let wanted = ["AttributeDefinitions", "KeySchema", "BillingMode", "GlobalSecondaryIndexes"];
        let mut body = pick(table, &wanted)?;
        body.insert("TableName".to_owned(), json!(name));
        if let Some(stream) = table.properties.get("StreamSpecification") {
            let mut stream = serde_json::to_value(stream)?;
            // CloudFormation implies it; the database asks for it.
            stream["StreamEnabled"] = json!(true);
            body.insert("StreamSpecification".to_owned(), stream);
        }
        let answer = call(&self.dynamodb, "DynamoDB_20120810.CreateTable", &body).await?;
        let mut expiry = pick(table, &["TimeToLiveSpecification"])?;
        if !expiry.is_empty() {
            expiry.insert("TableName".to_owned(), json!(name));
            call(&self.dynamodb, "DynamoDB_20120810.UpdateTimeToLive", &expiry).await?;
        }
        Ok(answer["TableDescription"]["LatestStreamLabel"].as_str().map(str::to_owned))
    }

    /// Creates a key for another operator lane, and returns its address and key id.
    pub async fn create_lane(&self) -> Result<(Address, String), Error> {
        let body = Map::from_iter([
            ("KeySpec".to_owned(), json!("ECC_SECG_P256K1")),
            ("KeyUsage".to_owned(), json!("SIGN_VERIFY")),
        ]);
        let answer = call(&self.aws, "TrentService.CreateKey", &body).await?;
        let id = answer["KeyMetadata"]["KeyId"].as_str().ok_or("KMS made no key")?.to_owned();
        Ok((lane_address(&self.public_key(&id).await?)?, id))
    }

    /// Creates a secret, as an operator does, and returns its ARN.
    pub async fn create_secret(&self, name: &str, value: &str) -> Result<String, Error> {
        let body = Map::from_iter([
            ("Name".to_owned(), json!(name)),
            ("SecretString".to_owned(), json!(value)),
            ("ClientRequestToken".to_owned(), json!("11111111-1111-4111-8111-111111111111")),
        ]);
        let answer = call(&self.aws, "secretsmanager.CreateSecret", &body).await?;
        Ok(answer["ARN"].as_str().ok_or("Secrets Manager made no secret")?.to_owned())
    }

    /// Creates a bucket that pages of any origin may use with signed addresses, as the template's.
    pub async fn create_bucket(&self, name: &str) -> Result<(), Error> {
        const CORS: &str = "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod>\
                            <AllowedMethod>PUT</AllowedMethod><AllowedHeader>*</AllowedHeader></CORSRule>\
                            </CORSConfiguration>";
        for (path, body) in [(name.to_owned(), ""), (format!("{name}?cors"), CORS)] {
            let answer = http::client().put(format!("{}/{path}", self.aws)).header("authorization", SIGNED).body(body);
            let answer = answer.send().await?;
            if !answer.status().is_success() {
                return Err(format!("S3 made no bucket {name}: {}", answer.text().await?).into());
            }
        }
        Ok(())
    }

    async fn create_key(&self, key: Resource<'_>) -> Result<(String, String), Error> {
        let body = pick(key, &["KeySpec", "KeyUsage", "Description"])?;
        let answer = call(&self.aws, "TrentService.CreateKey", &body).await?;
        let field = |name: &str| answer["KeyMetadata"][name].as_str().map(str::to_owned);
        field("KeyId").zip(field("KeySpec")).ok_or_else(|| format!("KMS made no key {}", key.logical_id).into())
    }

    async fn public_key(&self, id: &str) -> Result<String, Error> {
        let body = Map::from_iter([("KeyId".to_owned(), json!(id))]);
        let answer = call(&self.aws, "TrentService.GetPublicKey", &body).await?;
        answer["PublicKey"].as_str().map(str::to_owned).ok_or_else(|| format!("KMS gave no public key of {id}").into())
    }
}

/// The configuration of local chains, as JSON and parsed: public addresses, first block 0, no confirmations and a
/// `reorgDepth` of 2. `ids` must have public deployments.
pub fn local_chains(ids: &[u64]) -> Result<(String, Chains), Error> {
    // A local chain's gas costs far more than a public one's, and tests share the pools.
    let spending = json!({
        "maxFeePerGas": 50_000_000_000_u64,
        "artistDaily": 2_000_000_000_000_000_000_u64,
        "newcomersDaily": 16_000_000_000_000_000_000_u64,
        "networkDaily": 18_000_000_000_000_000_000_u64,
        "establishedDaily": 16_000_000_000_000_000_000_u64,
    });
    let chain = |id| json!({"id": id, "firstBlock": 0, "confirmations": 0, "reorgDepth": 2, "spending": spending});
    let settings: Vec<_> = ids.iter().map(chain).collect();
    let json = Value::from(settings).to_string();
    let chains = json.parse()?;
    Ok((json, chains))
}

/// The address of a secp256k1 public key, given as base64 SubjectPublicKeyInfo, which ends with the point's two
/// coordinates of 32 bytes each.
pub fn lane_address(base64_spki: &str) -> Result<Address, Error> {
    let spki = BASE64_STANDARD.decode(base64_spki)?;
    let point = spki.last_chunk::<64>().ok_or("KMS gave too short a public key")?;
    Ok(Address::from_raw_public_key(point))
}

fn pick(resource: Resource<'_>, names: &[&str]) -> Result<Map<String, Value>, Error> {
    let mut picked = Map::new();
    for &name in names {
        if let Some(value) = resource.properties.get(name) {
            picked.insert(name.to_owned(), serde_json::to_value(value)?);
        }
    }
    Ok(picked)
}

/// Sends a request in AWS's JSON protocol.
async fn call(endpoint: &str, target: &str, body: &Map<String, Value>) -> Result<Value, Error> {
    let request = http::client()
        .post(endpoint)
        .header("x-amz-target", target)
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-date", "20260101T000000Z")
        .header("authorization", SIGNED)
        .body(serde_json::to_vec(body)?);
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    if !status.is_success() {
        return Err(format!("{target} failed with {status}: {text}").into());
    }
    Ok(serde_json::from_str(&text)?)
}
