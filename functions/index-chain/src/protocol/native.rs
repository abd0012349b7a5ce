//! The service's own protocol: its factory and collections, the sale strategies, the comments protocol and splits.

use alloy::{
    primitives::{Address, B256, Log, U256},
    sol_types::SolEvent,
};
use shared::{
    chain::{
        ChainAddresses,
        contracts::{
            CommentsProtocol::{BackfilledComment, CommentIdentifier, Commented, SparkedComment},
            Creator1155::{
                ContractMetadataUpdated, Purchased, SetupNewToken, TransferBatch, TransferSingle, URI,
                UpdatedPermissions, UpdatedRoyalties,
            },
            CreatorFactory::{RoyaltyConfiguration, SetupNewContract},
            Erc20Minter::{self, ERC20RewardsDeposit},
            FixedPriceMinter,
            MintCommenter::MintComment,
            SplitFactory::{SplitCreated_0, SplitCreated_1, SplitParams},
            TimedMinter::{self, SaleSetV2},
        },
        permission::Permission,
    },
    model::{Amount, FeeRecipient, MAX_FEE_RECIPIENTS, MomentSale, Protocol, Royalty, SaleType, Share},
};

use super::ProtocolReader;
use crate::event::{Fact, NewCollection, ProtocolComment, Purchase};

/// The native protocol on one chain.
pub struct Native {
    addresses: ChainAddresses,
}

impl Native {
    /// The protocol with its contracts at these addresses.
    pub fn new(addresses: ChainAddresses) -> Self {
        Self { addresses }
    }

    fn factory(&self, log: &Log) -> Option<Fact> {
        let created = SetupNewContract::decode_log(log).ok()?.data;
        Some(Fact::CollectionCreated(NewCollection {
            address: created.newContract,
            creator: created.defaultAdmin,
            name: created.name,
            uri: created.contractURI,
            royalty: Some(royalty(&created.defaultRoyaltyConfiguration)),
            admins: Vec::new(),
        }))
    }

    fn fixed_price(&self, topic: B256, log: &Log) -> Option<Fact> {
        if topic != FixedPriceMinter::SaleSet::SIGNATURE_HASH {
            return mint_comment(topic, log);
        }
        let set = FixedPriceMinter::SaleSet::decode_log(log).ok()?.data;
        let config = set.salesConfig;
        let sale = MomentSale {
            strategy: SaleType::FixedPrice,
            price: Amount(U256::from(config.pricePerToken)),
            currency: Address::ZERO.into(),
            start: config.saleStart,
            end: config.saleEnd,
            max_per_address: config.maxTokensPerAddress,
            funds_recipient: account(config.fundsRecipient),
            set_in: (0, 0),
        };
        // A sale that never sells is how the contract says that there is none.
        Some(Fact::SaleSet { collection: set.mediaContract, token: set.tokenId, is_reset: sale.end == 0, sale })
    }

    fn erc20(&self, topic: B256, log: &Log) -> Option<Fact> {
        match topic {
            Erc20Minter::SaleSet::SIGNATURE_HASH => {
                let set = Erc20Minter::SaleSet::decode_log(log).ok()?.data;
                let config = set.salesConfig;
                let sale = MomentSale {
                    strategy: SaleType::Erc20,
                    price: Amount(config.pricePerToken),
                    currency: config.currency.into(),
                    start: config.saleStart,
                    end: config.saleEnd,
                    max_per_address: config.maxTokensPerAddress,
                    funds_recipient: account(config.fundsRecipient),
                    set_in: (0, 0),
                };
                Some(Fact::SaleSet { collection: set.mediaContract, token: set.tokenId, is_reset: sale.end == 0, sale })
            }
            ERC20RewardsDeposit::SIGNATURE_HASH => {
                let paid = ERC20RewardsDeposit::decode_log(log).ok()?.data;
                let rewards =
                    [paid.createReferralReward, paid.mintReferralReward, paid.firstMinterReward, paid.zoraReward];
                Some(Fact::Purchased(Purchase {
                    collection: paid.collection,
                    token: paid.tokenId,
                    quantity: None,
                    seller: log.address,
                    taken: rewards.into_iter().fold(U256::ZERO, U256::saturating_add),
                }))
            }
            _ => mint_comment(topic, log),
        }
    }

    fn timed(&self, topic: B256, log: &Log) -> Option<Fact> {
        let (collection, token, start, end) = match topic {
            SaleSetV2::SIGNATURE_HASH => {
                let set = SaleSetV2::decode_log(log).ok()?.data;
                (set.collection, set.tokenId, set.saleData.saleStart, set.saleData.saleEnd)
            }
            TimedMinter::SaleSet::SIGNATURE_HASH => {
                let set = TimedMinter::SaleSet::decode_log(log).ok()?.data;
                (set.collection, set.tokenId, set.salesConfig.saleStart, set.salesConfig.saleEnd)
            }
            _ => return mint_comment(topic, log),
        };
        let sale = MomentSale {
            strategy: SaleType::Timed,
            price: Amount::default(),
            currency: Address::ZERO.into(),
            start,
            // The end follows once enough were collected; until then there is none.
            end: if end == 0 { u64::MAX } else { end },
            max_per_address: 0,
            funds_recipient: None,
            set_in: (0, 0),
        };
        Some(Fact::SaleSet { collection, token, sale, is_reset: false })
    }

    fn comments(&self, topic: B256, log: &Log) -> Option<Fact> {
        match topic {
            Commented::SIGNATURE_HASH => {
                let said = Commented::decode_log(log).ok()?.data;
                let reply_to = (said.replyToId != B256::ZERO).then_some(said.replyToId);
                let (identifier, sparks) = (&said.commentIdentifier, said.sparksQuantity);
                Some(comment(said.commentId, identifier, reply_to, said.text, said.timestamp, sparks))
            }
            BackfilledComment::SIGNATURE_HASH => {
                let said = BackfilledComment::decode_log(log).ok()?.data;
                let identifier = &said.commentIdentifier;
                Some(comment(said.commentId, identifier, None, said.text, said.timestamp, U256::ZERO))
            }
            SparkedComment::SIGNATURE_HASH => {
                let sparked = SparkedComment::decode_log(log).ok()?.data;
                Some(Fact::Sparked { comment: sparked.commentId, quantity: sparked.sparksQuantity })
            }
            _ => None,
        }
    }

    fn splits(&self, topic: B256, log: &Log) -> Option<Fact> {
        let (split, params) = match topic {
            SplitCreated_0::SIGNATURE_HASH => {
                let created = SplitCreated_0::decode_log(log).ok()?.data;
                (created.split, created.splitParams)
            }
            SplitCreated_1::SIGNATURE_HASH => {
                let created = SplitCreated_1::decode_log(log).ok()?.data;
                (created.split, created.splitParams)
            }
            _ => return None,
        };
        Some(Fact::SplitCreated { split, recipients: split_recipients(&params) })
    }

    fn collection(&self, topic: B256, log: &Log) -> Option<Fact> {
        Some(match topic {
            SetupNewToken::SIGNATURE_HASH => {
                let created = SetupNewToken::decode_log(log).ok()?.data;
                Fact::MomentCreated {
                    token: created.tokenId,
                    sender: created.sender,
                    uri: created.newURI,
                    max_supply: created.maxSupply,
                }
            }
            ContractMetadataUpdated::SIGNATURE_HASH => {
                let updated = ContractMetadataUpdated::decode_log(log).ok()?.data;
                Fact::CollectionChanged { name: Some(updated.name), uri: Some(updated.uri) }
            }
            URI::SIGNATURE_HASH => {
                let set = URI::decode_log(log).ok()?.data;
                Fact::UriSet { token: set.id, uri: set.value }
            }
            UpdatedPermissions::SIGNATURE_HASH => {
                let set = UpdatedPermissions::decode_log(log).ok()?.data;
                let is_admin = set.permissions & U256::from(Permission::Admin as u8) != U256::ZERO;
                Fact::PermissionsSet { token: set.tokenId, account: set.user, mask: set.permissions, is_admin }
            }
            UpdatedRoyalties::SIGNATURE_HASH => {
                let set = UpdatedRoyalties::decode_log(log).ok()?.data;
                Fact::RoyaltySet { token: set.tokenId, royalty: royalty(&set.configuration) }
            }
            Purchased::SIGNATURE_HASH => {
                let bought = Purchased::decode_log(log).ok()?.data;
                Fact::Purchased(Purchase {
                    collection: log.address,
                    token: bought.tokenId,
                    quantity: Some(bought.quantity),
                    seller: bought.minter,
                    taken: U256::ZERO,
                })
            }
            _ => return transfer(topic, log),
        })
    }
}

impl ProtocolReader for Native {
    fn protocol(&self) -> Protocol {
        Protocol::Native
    }

    fn contracts(&self) -> Vec<Address> {
        let known = &self.addresses;
        let minters = [known.fixed_price_minter, known.erc20_minter, known.timed_minter];
        [known.factory, known.comments, known.split_factory].into_iter().chain(minters).collect()
    }

    fn topics(&self) -> Vec<B256> {
        vec![
            SetupNewContract::SIGNATURE_HASH,
            SetupNewToken::SIGNATURE_HASH,
            ContractMetadataUpdated::SIGNATURE_HASH,
            URI::SIGNATURE_HASH,
            UpdatedPermissions::SIGNATURE_HASH,
            UpdatedRoyalties::SIGNATURE_HASH,
            Purchased::SIGNATURE_HASH,
            TransferSingle::SIGNATURE_HASH,
            TransferBatch::SIGNATURE_HASH,
            FixedPriceMinter::SaleSet::SIGNATURE_HASH,
            Erc20Minter::SaleSet::SIGNATURE_HASH,
            ERC20RewardsDeposit::SIGNATURE_HASH,
            TimedMinter::SaleSet::SIGNATURE_HASH,
            SaleSetV2::SIGNATURE_HASH,
            MintComment::SIGNATURE_HASH,
            Commented::SIGNATURE_HASH,
            BackfilledComment::SIGNATURE_HASH,
            SparkedComment::SIGNATURE_HASH,
            SplitCreated_0::SIGNATURE_HASH,
            SplitCreated_1::SIGNATURE_HASH,
        ]
    }

    fn read(&self, log: &Log) -> Option<Fact> {
        let (known, topic) = (&self.addresses, *log.topics().first()?);
        match log.address {
            it if it == known.factory => self.factory(log),
            it if it == known.fixed_price_minter => self.fixed_price(topic, log),
            it if it == known.erc20_minter => self.erc20(topic, log),
            it if it == known.timed_minter => self.timed(topic, log),
            it if it == known.comments => self.comments(topic, log),
            it if it == known.split_factory => self.splits(topic, log),
            _ => self.collection(topic, log),
        }
    }

    fn factories(&self) -> Vec<Address> {
        vec![self.addresses.factory]
    }
}

/// What moved, by a standard ERC-1155 event.
pub(super) fn transfer(topic: B256, log: &Log) -> Option<Fact> {
    match topic {
        TransferSingle::SIGNATURE_HASH => {
            let moved = TransferSingle::decode_log(log).ok()?.data;
            let tokens = vec![(moved.id, moved.value)];
            Some(Fact::Transferred { operator: moved.operator, from: moved.from, to: moved.to, tokens })
        }
        TransferBatch::SIGNATURE_HASH => {
            let moved = TransferBatch::decode_log(log).ok()?.data;
            let tokens = moved.ids.into_iter().zip(moved.values).collect();
            Some(Fact::Transferred { operator: moved.operator, from: moved.from, to: moved.to, tokens })
        }
        _ => None,
    }
}

fn mint_comment(topic: B256, log: &Log) -> Option<Fact> {
    if topic != MintComment::SIGNATURE_HASH {
        return None;
    }
    let said = MintComment::decode_log(log).ok()?.data;
    Some(Fact::MintCommented {
        collection: said.tokenContract,
        token: said.tokenId,
        sender: said.sender,
        text: said.comment,
    })
}

fn comment(
    id: B256,
    identifier: &CommentIdentifier,
    reply_to: Option<B256>,
    text: String,
    time: U256,
    sparks: U256,
) -> Fact {
    Fact::Commented(ProtocolComment {
        collection: identifier.contractAddress,
        token: identifier.tokenId,
        sender: identifier.commenter,
        id,
        nonce: identifier.nonce,
        reply_to,
        text,
        time: time.saturating_to(),
        sparks: sparks.saturating_to(),
    })
}

fn royalty(configuration: &RoyaltyConfiguration) -> Royalty {
    Royalty { bps: configuration.royaltyBPS, recipient: configuration.royaltyRecipient.into() }
}

fn account(address: Address) -> Option<shared::model::Address> {
    (!address.is_zero()).then(|| address.into())
}

/// Everybody's part in millionths, rounded down.
fn split_recipients(params: &SplitParams) -> Vec<FeeRecipient> {
    let part = |(recipient, allocation): (&Address, &U256)| {
        let millionths = allocation.checked_mul(U256::from(Share::WHOLE))?.checked_div(params.totalAllocation)?;
        Some(FeeRecipient { address: (*recipient).into(), millionths: millionths.saturating_to() })
    };
    params.recipients.iter().zip(&params.allocations).filter_map(part).take(MAX_FEE_RECIPIENTS).collect()
}

#[cfg(test)]
mod tests {
    use alloy::{
        primitives::{Bytes, LogData},
        sol_types::SolValue,
    };
    use shared::{chain::Chains, model::ChainId};

    use super::*;

    fn native() -> Native {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        Native::new(chains.get(ChainId(8453)).unwrap().addresses.clone())
    }

    fn log(topics: Vec<B256>, data: Vec<u8>) -> Log {
        let address = native().addresses.fixed_price_minter;
        Log { address, data: LogData::new_unchecked(topics, Bytes::from(data)) }
    }

    fn mint_comment(text: &[u8]) -> Log {
        let topics = vec![MintComment::SIGNATURE_HASH, B256::ZERO, B256::ZERO, B256::ZERO];
        log(topics, (U256::ONE, Bytes::copy_from_slice(text)).abi_encode_params())
    }

    #[test]
    fn a_comment_that_is_no_unicode_is_still_a_comment() {
        let fact = native().read(&mint_comment(b"caf\xe9 \xf0\x9f\x92\x9b")).unwrap();
        let Fact::MintCommented { text, .. } = fact else { panic!("another fact") };
        assert_eq!(text, "caf\u{fffd} 💛");
    }

    #[test]
    fn what_only_looks_like_an_event_is_passed_over() {
        let good = mint_comment(b"hello");
        assert!(native().read(&good).is_some());
        let elsewhere = Log { address: Address::repeat_byte(7), ..good };
        assert!(native().read(&elsewhere).is_none());
        assert!(native().read(&log(vec![MintComment::SIGNATURE_HASH], vec![])).is_none());
        assert!(native().read(&log(vec![MintComment::SIGNATURE_HASH; 4], vec![0xff; 64])).is_none());
        assert!(native().read(&log(vec![B256::ZERO], vec![])).is_none());
        assert!(native().read(&log(vec![], vec![])).is_none());
    }

    #[test]
    fn parts_of_a_split_are_millionths_whatever_it_adds_up_to() {
        let params = SplitParams {
            recipients: vec![Address::repeat_byte(1), Address::repeat_byte(2)],
            allocations: vec![U256::from(1), U256::from(2)],
            totalAllocation: U256::from(3),
            distributionIncentive: 0,
        };
        let parts: Vec<_> = split_recipients(&params).iter().map(|part| part.millionths).collect();
        assert_eq!(parts, [333_333, 666_666]);
        assert!(split_recipients(&SplitParams { totalAllocation: U256::ZERO, ..params }).is_empty());
    }
}
