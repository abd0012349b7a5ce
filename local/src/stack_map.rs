//! `stack.json`: where a running stack's parts are.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use local_lambda::Processes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::watch;

use crate::{Error, cloud::Endpoints};

/// Shortest time between two writes of `stack.json`.
const MAP_PAUSE: Duration = Duration::from_millis(100);

/// The addresses of a running stack: the content of `stack.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StackMap {
    /// Base address of the service.
    pub api: String,
    /// Base address behind a distribution and its firewall, where there is one.
    #[serde(default)]
    pub edge: Option<String>,
    /// URL of the files' host, without a path.
    pub files: String,
    /// URL of the operator's desk: whoever has it decides.
    #[serde(default)]
    pub desk: String,
    /// URL of the Lambda API, which invokes functions directly.
    pub lambda: String,
    /// URL of DynamoDB.
    pub dynamodb: String,
    /// URL of KMS and SES.
    pub aws: String,
    /// URL of the list of sent mails, as JSON.
    pub mail: String,
    /// URL of the pinning service.
    pub pinning: String,
    /// Chain id → URL of its node. Functions may be given others (`RPC_URLS`).
    pub rpc: BTreeMap<String, String>,
    /// Chain id → name → address.
    pub contracts: BTreeMap<String, BTreeMap<String, String>>,
    /// The demo content: addresses and ids.
    pub demo: Value,
    /// Values of the template's parameters and resources, by name.
    pub names: BTreeMap<String, String>,
    /// Function → ids of its processes. The file follows their changes.
    #[serde(default)]
    pub processes: Processes,
}

impl StackMap {
    /// Where functions find AWS.
    pub fn endpoints(&self) -> Endpoints {
        Endpoints { aws: self.aws.clone(), dynamodb: self.dynamodb.clone() }
    }

    /// Writes the map again whenever functions' processes start or end.
    pub(crate) async fn follow(mut self, file: PathBuf, mut processes: watch::Receiver<Processes>) {
        while processes.changed().await.is_ok() {
            tokio::time::sleep(MAP_PAUSE).await;
            self.processes = processes.borrow_and_update().clone();
            // Readers of the file do without the newest ids.
            let _ = self.write(&file);
        }
    }

    /// Replaces the file in one step, so that no reader sees a part of it.
    pub(crate) fn write(&self, file: &Path) -> Result<(), Error> {
        let new = file.with_extension("json.new");
        fs::write(&new, serde_json::to_string_pretty(self)?)?;
        Ok(fs::rename(&new, file)?)
    }
}
