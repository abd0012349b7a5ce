//! Compiled contracts.

use std::path::{Path, PathBuf};

use alloy::hex;
use serde::Deserialize;
use tokio::{process::Command, sync::OnceCell};

use crate::{
    Error,
    lock::lock,
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
        // Sources don't change while a process runs.
        static COMPILED: OnceCell<()> = OnceCell::const_new();
        let compiled = paths.local("contracts");
        COMPILED.get_or_try_init(|| compile(paths, &compiled)).await?;
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

async fn compile(paths: &Paths, output: &Path) -> Result<(), Error> {
    // One process compiles; others wait and find the output.
    let _compiling = lock(&paths.local("contracts.lock")).await?;
    let mut compiler = Command::new("node");
    let ended = compiler.arg(paths.root().join("local/contracts/compile.mjs")).arg(output).output().await;
    let ended = ended.map_err(|error| format!("node can't be started ({error}): install Node.js 20 or newer"))?;
    if ended.status.success() {
        Ok(())
    } else {
        Err(format!("contracts: {}", String::from_utf8_lossy(&ended.stderr)).into())
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
