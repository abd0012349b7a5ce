use std::{fs, io::ErrorKind};

use alloy::{
    hex,
    primitives::{Address, B256, keccak256},
    sol_types::SolValue,
};
use serde::Deserialize;
use shared::chain::wallet::{Call, MULTI_SEND_CALL_ONLY, OperatorAccount, PROXY_FACTORY};

use crate::{Error, contracts::SINGLETON_FACTORY, paths::Paths};

/// The contract that the operator Safe asks before each transaction of a lane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guard {
    /// Its address.
    pub address: Address,
    /// The call that deploys it; `None` for a contract that isn't this checkout's.
    pub creation: Option<Call>,
}

impl Guard {
    /// A guard that is deployed already.
    pub fn at(address: Address) -> Self {
        Self { address, creation: None }
    }

    /// The guard of the checkout, `contracts/LaneGuard.json`; `None` if the checkout has none. Its address depends on
    /// its code and on the operator's accounts alone.
    pub fn of_checkout(paths: &Paths, operator: &OperatorAccount) -> Result<Option<Self>, Error> {
        #[derive(Deserialize)]
        struct Artifact {
            bytecode: String,
        }
        let text = match fs::read(paths.root().join("contracts/LaneGuard.json")) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            text => text?,
        };
        let artifact: Artifact = serde_json::from_slice(&text)?;
        let mut creation = hex::decode(artifact.bytecode)?;
        creation.extend((MULTI_SEND_CALL_ONLY, PROXY_FACTORY, operator.utility).abi_encode_params());
        let address = SINGLETON_FACTORY.create2(B256::ZERO, keccak256(&creation));
        let data = [B256::ZERO.as_slice(), &creation].concat();
        let creation = Call { data: data.into(), ..Call::payment(SINGLETON_FACTORY, Default::default()) };
        Ok(Some(Self { address, creation: Some(creation) }))
    }
}
