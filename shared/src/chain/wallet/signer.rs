//! Signatures of operator lanes. Private keys stay in KMS. The configuration pins each lane's address, so a wrong key
//! is detected before a signature is used, and KMS is never asked for public keys.

use alloy::{
    consensus::SignableTransaction,
    network::TxSigner,
    primitives::{Address, B256, ChainId, Signature},
    signers::{self, Signer},
};
use async_trait::async_trait;
use aws_sdk_kms::{
    Client,
    config::Builder,
    primitives::Blob,
    types::{MessageType, SigningAlgorithmSpec},
};

use super::lanes::Lanes;
use crate::{
    aws::Dispatch,
    config::{self, ConfigError},
    kms::KmsError,
    model::Invalid,
    telemetry::trace::AwsCalls,
};

/// Reason why a lane didn't sign.
#[derive(Debug, thiserror::Error)]
pub enum SignerError {
    /// KMS failed or gave no valid signature.
    #[error(transparent)]
    Kms(#[from] KmsError),
    /// The KMS key doesn't belong to the configured address.
    #[error("the KMS key of lane {0} is not the key of that address")]
    WrongKey(Address),
    /// No lane with this address is configured.
    #[error("no lane has the address {0}")]
    UnknownLane(Address),
}

/// An operator lane: a secp256k1 key in KMS and its address.
#[derive(Clone, Debug)]
pub struct LaneSigner {
    client: Client,
    key_id: String,
    address: Address,
    chain: Option<ChainId>,
}

impl LaneSigner {
    /// A lane with this key and address.
    pub fn new(client: Client, key_id: String, address: Address) -> Self {
        Self { client, key_id, address, chain: None }
    }

    /// The lane's address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Signs a hash. The signature has a low s (EIP-2) and recovers to the lane's address. One KMS call.
    pub async fn sign(&self, hash: &B256) -> Result<Signature, SignerError> {
        let call = self.client.sign().key_id(&self.key_id).signing_algorithm(SigningAlgorithmSpec::EcdsaSha256);
        let call = call.message_type(MessageType::Digest).message(Blob::new(hash.as_slice()));
        let der = call.dispatch().await.map_err(KmsError::from)?.signature.ok_or(KmsError::Answer("signature"))?;
        let signature = k256::ecdsa::Signature::from_der(der.as_ref()).map_err(|_| KmsError::Answer("signature"))?;
        with_parity(signature, hash, self.address).ok_or(SignerError::WrongKey(self.address))
    }
}

/// The low-s form of a signature, with the parity that recovers `address`; `None` if neither parity does.
fn with_parity(signature: k256::ecdsa::Signature, hash: &B256, address: Address) -> Option<Signature> {
    let signature = signature.normalize_s().unwrap_or(signature);
    [false, true]
        .map(|parity| Signature::from_signature_and_parity(signature, parity))
        .into_iter()
        .find(|candidate| candidate.recover_address_from_prehash(hash).is_ok_and(|signer| signer == address))
}

#[async_trait]
impl Signer for LaneSigner {
    async fn sign_hash(&self, hash: &B256) -> signers::Result<Signature> {
        self.sign(hash).await.map_err(signers::Error::other)
    }

    fn address(&self) -> Address {
        self.address
    }

    fn chain_id(&self) -> Option<ChainId> {
        self.chain
    }

    fn set_chain_id(&mut self, chain: Option<ChainId>) {
        self.chain = chain;
    }
}

#[async_trait]
impl TxSigner<Signature> for LaneSigner {
    fn address(&self) -> Address {
        self.address
    }

    async fn sign_transaction(
        &self,
        transaction: &mut dyn SignableTransaction<Signature>,
    ) -> signers::Result<Signature> {
        if let Some(chain) = self.chain
            && !transaction.set_chain_id_checked(chain)
        {
            let tx = transaction.chain_id().unwrap_or_default();
            return Err(signers::Error::TransactionChainIdMismatch { signer: chain, tx });
        }
        self.sign_hash(&transaction.signature_hash()).await
    }
}

/// The lanes that can sign.
#[derive(Clone, Debug)]
pub struct LaneSigners(Vec<LaneSigner>);

impl LaneSigners {
    /// Reads `OPERATOR_LANES` and, in the same order, `OPERATOR_LANE_KEYS`: ids of KMS keys separated by commas. Keys
    /// beyond the last lane, or in the place of a zero address, aren't in use; a lane without a key is an error.
    pub fn from_env(aws: &aws_config::SdkConfig) -> Result<Self, ConfigError> {
        let KeyIds(keys) = config::parsed(config::variables::OPERATOR_LANE_KEYS)?;
        let missing =
            || ConfigError::new(config::variables::OPERATOR_LANE_KEYS, "must name one key for each of OPERATOR_LANES");
        let lanes = Lanes::from_env()?.with(keys).ok_or_else(missing)?;
        let client = Client::from_conf(Builder::from(aws).interceptor(AwsCalls).build());
        let signers = lanes.into_iter().map(|(address, key)| LaneSigner::new(client.clone(), key, address));
        Ok(Self(signers.collect()))
    }

    /// The given lanes.
    pub fn new(signers: Vec<LaneSigner>) -> Self {
        Self(signers)
    }

    /// All lanes, in the configured order.
    pub fn iter(&self) -> impl Iterator<Item = &LaneSigner> {
        self.0.iter()
    }
}

struct KeyIds(Vec<String>);

impl std::str::FromStr for KeyIds {
    type Err = Invalid;

    fn from_str(list: &str) -> Result<Self, Invalid> {
        let keys: Vec<_> = list.split(',').map(|key| key.trim().to_owned()).collect();
        if keys.iter().any(String::is_empty) { Err(Invalid("names an empty key")) } else { Ok(Self(keys)) }
    }
}

#[cfg(test)]
mod tests {
    use alloy::primitives::{U256, keccak256};
    use k256::ecdsa::{SigningKey, signature::hazmat::PrehashSigner};

    use super::*;

    const HALF_ORDER: U256 = alloy::uint!(0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0_U256);

    #[test]
    fn high_and_low_s_become_the_low_form_that_recovers_the_address() {
        for seed in 1..=20u8 {
            let key = SigningKey::from_slice(&[seed; 32]).unwrap();
            let address = Address::from_private_key(&key);
            let hash = keccak256([seed]);
            let low: k256::ecdsa::Signature = key.sign_prehash(hash.as_slice()).unwrap();
            let (r, s) = low.split_scalars();
            let high = k256::ecdsa::Signature::from_scalars(r.to_bytes(), (-s).to_bytes()).unwrap();
            for form in [low, high] {
                let signature = with_parity(form, &hash, address).unwrap();
                assert!(signature.s() <= HALF_ORDER);
                assert_eq!(signature.recover_address_from_prehash(&hash).unwrap(), address);
            }
        }
    }

    #[test]
    fn a_signature_of_another_key_is_refused() {
        let key = SigningKey::from_slice(&[1; 32]).unwrap();
        let hash = keccak256("moment");
        let signature = key.sign_prehash(hash.as_slice()).unwrap();
        assert_eq!(with_parity(signature, &hash, Address::repeat_byte(1)), None);
    }

    #[test]
    fn key_ids_are_a_list_without_empty_entries() {
        let KeyIds(keys) = "a, b".parse().unwrap();
        assert_eq!(keys, ["a", "b"]);
        assert!("a,,b".parse::<KeyIds>().is_err());
    }
}
