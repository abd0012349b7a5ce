//! The registry protocol: ERC-1155 collections whose tokens are sold for an ERC-20 currency by one controller.

use alloy::{
    primitives::{Address, B256, Log, U256},
    sol_types::SolEvent,
};
use shared::{
    chain::{
        RegistryAddresses,
        contracts::Creator1155::{TransferBatch, TransferSingle, URI},
        other_protocols::{
            RegistryCollection::{ContractPermissionsUpdated, TokenCreated, TokenPermissionsUpdated, TokenPurchased},
            RegistryController::MintConfigurationUpdated,
            RegistryFactory::CRContractCreated,
        },
    },
    model::{Amount, MomentSale, OPEN_EDITION, Protocol, SaleType},
};

use super::{ProtocolReader, native::transfer};
use crate::event::{Fact, NewCollection, Purchase};

/// Bits of an account's scope that make it an admin: owner, artist and, of a whole collection, manager.
const COLLECTION_ADMIN: U256 = U256::from_limbs([1 | 2 | 4, 0, 0, 0]);
const TOKEN_ADMIN: U256 = U256::from_limbs([1 | 2, 0, 0, 0]);

/// The registry protocol on one chain.
pub struct Registry {
    addresses: RegistryAddresses,
    currency: Address,
}

impl Registry {
    /// The protocol with its contracts at these addresses, which sells for this currency.
    pub fn new(addresses: RegistryAddresses, currency: Address) -> Self {
        Self { addresses, currency }
    }

    fn factory(&self, log: &Log) -> Option<Fact> {
        let created = CRContractCreated::decode_log(log).ok()?.data;
        Some(Fact::CollectionCreated(NewCollection {
            address: created._contractAddress,
            creator: created._creator,
            name: String::new(),
            uri: String::new(),
            royalty: None,
            // No event says that the creator is one.
            admins: vec![created._creator],
        }))
    }

    fn controller(&self, log: &Log) -> Option<Fact> {
        let set = MintConfigurationUpdated::decode_log(log).ok()?.data;
        let recipient = set.configuration.fundsRecipient;
        let sale = MomentSale {
            strategy: SaleType::Erc20,
            price: Amount(U256::from(set.configuration.price)),
            currency: self.currency.into(),
            start: 0,
            end: u64::MAX,
            max_per_address: 0,
            funds_recipient: (!recipient.is_zero()).then(|| recipient.into()),
            set_in: (0, 0),
        };
        Some(Fact::SaleSet { collection: set.releaseContract, token: set.tokenId, sale, is_reset: false })
    }

    fn collection(&self, topic: B256, log: &Log) -> Option<Fact> {
        Some(match topic {
            TokenCreated::SIGNATURE_HASH => {
                let created = TokenCreated::decode_log(log).ok()?.data;
                Fact::MomentCreated {
                    token: created._tokenId,
                    sender: created._artist,
                    uri: created._uri,
                    max_supply: U256::from(OPEN_EDITION),
                }
            }
            URI::SIGNATURE_HASH => {
                let set = URI::decode_log(log).ok()?.data;
                Fact::UriSet { token: set.id, uri: set.value }
            }
            ContractPermissionsUpdated::SIGNATURE_HASH => {
                let set = ContractPermissionsUpdated::decode_log(log).ok()?.data;
                permissions(U256::ZERO, set.user, set.authScope, COLLECTION_ADMIN)
            }
            TokenPermissionsUpdated::SIGNATURE_HASH => {
                let set = TokenPermissionsUpdated::decode_log(log).ok()?.data;
                permissions(set.tokenId, set.user, set.authScope, TOKEN_ADMIN)
            }
            TokenPurchased::SIGNATURE_HASH => {
                let bought = TokenPurchased::decode_log(log).ok()?.data;
                Fact::Purchased(Purchase {
                    collection: log.address,
                    token: bought.tokenId,
                    quantity: Some(bought.amount),
                    seller: self.addresses.controller,
                    taken: U256::ZERO,
                })
            }
            _ => return transfer(topic, log),
        })
    }
}

impl ProtocolReader for Registry {
    fn protocol(&self) -> Protocol {
        Protocol::Registry
    }

    fn contracts(&self) -> Vec<Address> {
        vec![self.addresses.factory, self.addresses.controller]
    }

    fn topics(&self) -> Vec<B256> {
        vec![
            CRContractCreated::SIGNATURE_HASH,
            MintConfigurationUpdated::SIGNATURE_HASH,
            TokenCreated::SIGNATURE_HASH,
            URI::SIGNATURE_HASH,
            ContractPermissionsUpdated::SIGNATURE_HASH,
            TokenPermissionsUpdated::SIGNATURE_HASH,
            TokenPurchased::SIGNATURE_HASH,
            TransferSingle::SIGNATURE_HASH,
            TransferBatch::SIGNATURE_HASH,
        ]
    }

    fn read(&self, log: &Log) -> Option<Fact> {
        let topic = *log.topics().first()?;
        match log.address {
            it if it == self.addresses.factory => self.factory(log),
            it if it == self.addresses.controller => self.controller(log),
            _ => self.collection(topic, log),
        }
    }

    fn factories(&self) -> Vec<Address> {
        vec![self.addresses.factory]
    }
}

fn permissions(token: U256, account: Address, mask: U256, admin: U256) -> Fact {
    Fact::PermissionsSet { token, account, mask, is_admin: mask & admin != U256::ZERO }
}
