//! KMS and SES, played by ministack, and what the template wants in an account: tables, keys, identities. Properties go
//! to the services as the template words them, so there is no second list of anything.

use std::{collections::BTreeMap, path::Path};

use alloy::primitives::Address;
use aws_config::SdkConfig;
use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};
use shared::chain::Chains;
use template::{Resource, Template, resolve};
use tokio::process::Command;

use crate::{
    Error,
    paths::Paths,
    process::{Process, answers, free_port},
};

/// The region that everything local claims to be in.
pub const REGION: &str = "us-east-1";

/// The account that everything local claims to be in.
pub const ACCOUNT: &str = "000000000000";

/// Where AWS's services are on this machine.
#[derive(Clone, Debug)]
pub struct Endpoints {
    /// KMS and SES.
    pub aws: String,
    /// DynamoDB.
    pub dynamodb: String,
}

/// Starts KMS and SES. Gives their endpoint.
///
/// # Errors
/// When ministack can't be started.
pub async fn start(paths: &Paths, logs: &Path) -> Result<(String, Process), Error> {
    let port = free_port()?;
    let mut command = Command::new(paths.python_program("ministack"));
    // Unbound, it would listen on every interface of the machine.
    command.envs([("GATEWAY_PORT", port.to_string().as_str()), ("BIND_HOST", "127.0.0.1"), ("LOG_LEVEL", "WARNING")]);
    command.envs([("PERSIST_STATE", "0"), ("LAMBDA_EXECUTOR", "local")]);
    let endpoint = format!("http://127.0.0.1:{port}");
    let mut process = Process::start("ministack", logs, &mut command)?;
    let health = format!("{endpoint}/_ministack/health");
    process.ready(async || answers(&health).await).await?;
    Ok((endpoint, process))
}

impl Endpoints {
    /// What the template's references stand for: the parameters, with `overrides` in place of their defaults, and the
    /// resources, which this makes.
    ///
    /// # Errors
    /// When a service refuses what the template asks for.
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
            self.create_table(table).await?;
            let id = table.logical_id;
            names.insert(id.to_owned(), id.to_owned());
            names.insert(format!("{id}.Arn"), arn("dynamodb", &format!("table/{id}")));
        }
        for settings in template.resources("AWS::SES::ConfigurationSet") {
            names.insert(settings.logical_id.to_owned(), settings.logical_id.to_owned());
        }
        let (mut lanes, mut lane_keys, mut token_keys) = (Vec::new(), Vec::new(), Vec::new());
        for key in template.resources("AWS::KMS::Key") {
            if !key.is_made(&names)? {
                continue;
            }
            let (id, spec) = self.create_key(key).await?;
            match spec.as_str() {
                "ECC_SECG_P256K1" => {
                    lanes.push(lane_address(&self.public_key(&id).await?)?.to_string().to_lowercase());
                    lane_keys.push(id.clone());
                }
                "ECC_NIST_P256" => token_keys.push(self.public_key(&id).await?),
                _ => {}
            }
            names.insert(format!("{}.Arn", key.logical_id), arn("kms", &format!("key/{id}")));
            names.insert(key.logical_id.to_owned(), id);
        }
        names.insert("OperatorLanes".to_owned(), lanes.join(","));
        names.insert("OperatorLaneKeys".to_owned(), lane_keys.join(","));
        names.insert("TokenPublicKeys".to_owned(), token_keys.join(","));
        for identity in template.resources("AWS::SES::EmailIdentity") {
            let address =
                identity.properties.get("EmailIdentity").ok_or("template.yaml: an identity without a name")?;
            let address = resolve(address, &names)?;
            let ses = aws_sdk_ses::Client::new(&self.sdk_config(&self.aws).await);
            ses.verify_email_identity().email_address(address).send().await.map_err(aws_sdk_ses::Error::from)?;
        }
        Ok(names)
    }

    /// Configuration of an SDK client of the services at `endpoint`.
    pub async fn sdk_config(&self, endpoint: &str) -> SdkConfig {
        let credentials = aws_sdk_kms::config::Credentials::new("local", "local", None, None, "local");
        aws_config::defaults(aws_config::BehaviorVersion::latest())
            .region(REGION)
            .credentials_provider(credentials)
            .endpoint_url(endpoint)
            .load()
            .await
    }

    /// What a function's environment says of AWS.
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

    /// Makes a table as the template describes it, with its time to live.
    ///
    /// # Errors
    /// When DynamoDB refuses it.
    pub async fn create_table(&self, table: Resource<'_>) -> Result<(), Error> {
        let name = table.logical_id;
        let wanted = ["AttributeDefinitions", "KeySchema", "BillingMode", "GlobalSecondaryIndexes"];
        let mut body = pick(table, &wanted)?;
        body.insert("TableName".to_owned(), json!(name));
        call(&self.dynamodb, "DynamoDB_20120810.CreateTable", &body).await?;
        let mut expiry = pick(table, &["TimeToLiveSpecification"])?;
        if !expiry.is_empty() {
            expiry.insert("TableName".to_owned(), json!(name));
            call(&self.dynamodb, "DynamoDB_20120810.UpdateTimeToLive", &expiry).await?;
        }
        Ok(())
    }

    /// Makes a key for another operator lane, and gives its address and id.
    ///
    /// # Errors
    /// When KMS refuses it.
    pub async fn create_lane(&self) -> Result<(Address, String), Error> {
        let body = Map::from_iter([
            ("KeySpec".to_owned(), json!("ECC_SECG_P256K1")),
            ("KeyUsage".to_owned(), json!("SIGN_VERIFY")),
        ]);
        let answer = call(&self.aws, "TrentService.CreateKey", &body).await?;
        let id = answer["KeyMetadata"]["KeyId"].as_str().ok_or("KMS made no key")?.to_owned();
        Ok((lane_address(&self.public_key(&id).await?)?, id))
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

/// What the local chains change of the public ones: nothing lies before their first block, none is uncertain, and they
/// are final soon.
///
/// # Errors
/// When one of the ids is of no chain with public deployments.
pub fn local_chains(ids: &[u64]) -> Result<(String, Chains), Error> {
    let settings: Vec<_> =
        ids.iter().map(|id| json!({"id": id, "firstBlock": 0, "confirmations": 0, "reorgDepth": 2})).collect();
    let json = Value::from(settings).to_string();
    let chains = json.parse()?;
    Ok((json, chains))
}

/// The account of a secp256k1 key: its public key ends with the point's two coordinates, 32 bytes each.
///
/// # Errors
/// When it isn't base64, or too short.
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

/// One call of AWS's JSON protocol.
async fn call(endpoint: &str, target: &str, body: &Map<String, Value>) -> Result<Value, Error> {
    let scope = format!("AWS4-HMAC-SHA256 Credential=local/20260101/{REGION}/local/aws4_request");
    let request = reqwest::Client::new()
        .post(endpoint)
        .header("x-amz-target", target)
        .header("content-type", "application/x-amz-json-1.0")
        .header("x-amz-date", "20260101T000000Z")
        .header("authorization", format!("{scope}, SignedHeaders=host, Signature=local"))
        .body(serde_json::to_vec(body)?);
    let answer = request.send().await?;
    let (status, text) = (answer.status(), answer.text().await?);
    if !status.is_success() {
        return Err(format!("{target} failed with {status}: {text}").into());
    }
    Ok(serde_json::from_str(&text)?)
}
