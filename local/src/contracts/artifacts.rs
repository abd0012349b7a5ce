//! Contracts as compilers left them in files.

use std::path::{Path, PathBuf};

use alloy::hex;
use serde::Deserialize;

use crate::node::{StepError, during};

/// Where compiled contracts are.
pub struct Artifacts {
    /// The folder that npm installs into.
    pub node_modules: PathBuf,
    /// The folder that `contracts/compile.mjs` writes into.
    pub compiled: PathBuf,
}

impl Artifacts {
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
