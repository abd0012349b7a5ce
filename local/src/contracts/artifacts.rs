//! Contracts as compilers left them in files.

use std::path::{Path, PathBuf};

use alloy::hex;
use serde::Deserialize;
use tokio::{process::Command, sync::Mutex};

use crate::{
    Error,
    node::{StepError, during},
    paths::Paths,
};

/// Where compiled contracts are.
pub struct Artifacts {
    /// The folder that npm installs into.
    pub node_modules: PathBuf,
    /// The folder that `contracts/compile.mjs` writes into.
    pub compiled: PathBuf,
}

impl Artifacts {
    /// Those of the checkout: what npm installed, and the service's own, compiled now if they have changed.
    ///
    /// # Errors
    /// When Node.js isn't there or the contracts don't compile.
    pub async fn compile(paths: &Paths) -> Result<Self, Error> {
        // Of several at the same time one compiles, the others find it done.
        static COMPILING: Mutex<()> = Mutex::const_new(());
        let _compiling = COMPILING.lock().await;
        let compiled = paths.local("contracts");
        let mut compiler = Command::new("node");
        let output = compiler.arg(paths.root().join("local/contracts/compile.mjs")).arg(&compiled).output().await;
        let output = output.map_err(|error| format!("node can't be started ({error}): install Node.js 20 or newer"))?;
        if !output.status.success() {
            return Err(format!("contracts: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(Self { node_modules: paths.node_modules(), compiled })
    }

    /// The bytecode of a contract that `contracts/compile.mjs` compiled, in hexadecimal digits.
    pub(crate) fn compiled(&self, contract: &'static str, name: &str) -> Result<String, StepError> {
        bytecode(contract, &self.compiled.join(format!("{name}.json")))
    }

    /// The bytecode of a contract that an npm package has, in hexadecimal digits.
    pub(crate) fn packaged(&self, contract: &'static str, file: &str) -> Result<String, StepError> {
        bytecode(contract, &self.node_modules.join(file))
    }
}

/// What deploys a contract: its bytecode, given in hexadecimal digits, and its constructor's arguments.
pub(super) fn creation_code(contract: &'static str, code: &str, arguments: &[u8]) -> Result<Vec<u8>, StepError> {
    let mut creation = hex::decode(code).map_err(during(contract))?;
    creation.extend_from_slice(arguments);
    Ok(creation)
}

/// The bytecode that a compiler wrote, in hexadecimal digits.
fn bytecode(contract: &'static str, file: &Path) -> Result<String, StepError> {
    #[derive(Deserialize)]
    struct Artifact {
        bytecode: Bytecode,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Bytecode {
        Plain(String),
        Linkable { object: String },
    }

    let text = std::fs::read(file).map_err(|error| during(contract)(format!("{}: {error}", file.display())))?;
    let artifact: Artifact = serde_json::from_slice(&text).map_err(during(contract))?;
    let (Bytecode::Plain(digits) | Bytecode::Linkable { object: digits }) = artifact.bytecode;
    Ok(digits)
}
