//! Compiled contracts.

use std::path::{Path, PathBuf};

use alloy::hex;
use serde::Deserialize;
use tokio::{process::Command, sync::Mutex};

use crate::{
    Error,
    node::{StepError, during},
    paths::Paths,
};

/// The folders of compiled contracts.
pub struct Artifacts {
    /// Folder of the installed npm packages.
    pub node_modules: PathBuf,
    /// Output folder of `contracts/compile.mjs`.
    pub compiled: PathBuf,
}

impl Artifacts {
    /// Compiles the checkout's own contracts where they have changed.
    pub async fn compile(paths: &Paths) -> Result<Self, Error> {
        // One caller compiles; concurrent ones wait and find the output.
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

    /// Bytecode of a contract that `contracts/compile.mjs` compiled, as hex.
    pub fn compiled(&self, contract: &'static str, name: &str) -> Result<String, StepError> {
        bytecode(contract, &self.compiled.join(format!("{name}.json")))
    }

    /// Bytecode of a contract in an npm package, as hex.
    pub(crate) fn packaged(&self, contract: &'static str, file: &str) -> Result<String, StepError> {
        bytecode(contract, &self.node_modules.join(file))
    }
}

/// Creation code: bytecode, given as hex, and constructor arguments.
pub(super) fn creation_code(contract: &'static str, code: &str, arguments: &[u8]) -> Result<Vec<u8>, StepError> {
    let mut creation = hex::decode(code).map_err(during(contract))?;
    creation.extend_from_slice(arguments);
    Ok(creation)
}

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
