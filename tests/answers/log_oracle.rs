//! A naive reading of the chain's logs, as an oracle for the reads.

use std::collections::{BTreeSet, HashMap, hash_map::Entry};

use alloy::{
    primitives::{Address, B256, U256, utils::format_units},
    providers::Provider,
    rpc::types::{Filter, Log},
    sol,
    sol_types::SolEvent,
};
use serde_json::{Value, json};
use shared::{
    chain::{
        ChainAddresses,
        contracts::native::{
            CommentsProtocol::Commented,
            Creator1155::{
                self, ContractMetadataUpdated, Purchased, SetupNewToken, TransferBatch, TransferSingle, URI,
                UpdatedPermissions,
            },
            CreatorFactory::SetupNewContract,
            Erc20Minter::{self, ERC20RewardsDeposit},
            FixedPriceMinter,
            MintCommenter::MintComment,
            TimedMinter::SaleSetV2,
        },
    },
    clock,
    model::{ArtistId, ChainId, EventId},
};
use tests::{Error, TestChain};

sol! {
    event Transfer(address indexed from, address indexed to, uint256 value);
}

const CHAIN: ChainId = ChainId::DEFAULT;
const ADMIN: u64 = 2;

#[derive(Debug, Default)]
pub struct LogOracle {
    /// Oldest first, as in all lists here.
    pub collections: Vec<Collection>,
    pub moments: Vec<Moment>,
    pub payments: Vec<Payment>,
    pub comments: Vec<Comment>,
    /// Admins: collection, token, account.
    admins: BTreeSet<(Address, U256, Address)>,
    /// Sales in force: collection, token, strategy, sale. The newest of a token is shown.
    sales: Vec<(Address, U256, Address, Option<Value>)>,
}

#[derive(Debug)]
pub struct Collection {
    pub id: EventId,
    pub address: Address,
    pub creator: Address,
    pub name: String,
    pub uri: String,
    pub admins: Vec<Address>,
    pub time: u64,
}

#[derive(Debug)]
pub struct Moment {
    pub id: EventId,
    pub collection: Address,
    pub token: U256,
    pub creator: Address,
    pub uri: String,
    pub max_supply: U256,
    pub minted: U256,
    pub burned: U256,
    pub sale: Option<Value>,
    pub time: u64,
}

#[derive(Debug)]
pub struct Payment {
    pub id: EventId,
    pub moment: EventId,
    pub collection: Address,
    pub token: U256,
    pub creator: Address,
    pub moment_creator: Address,
    pub buyer: Address,
    /// The seller's proceeds; `paid` is the buyer's payment.
    pub amount: U256,
    pub paid: U256,
    pub currency: Address,
    pub transaction: B256,
}

#[derive(Debug)]
pub struct Comment {
    id: EventId,
    on: (Address, U256),
    sender: Address,
    text: String,
    time: u64,
    pub comment_id: Option<B256>,
    reply_to: Option<B256>,
    nonce: Option<B256>,
}

/// A collector's spending.
#[derive(Debug, Default)]
pub struct Spent {
    wallet: Address,
    count: u64,
    eth: U256,
    usdc: U256,
}

impl LogOracle {
    /// Reads all logs from the first block.
    pub async fn by(test_chain: &TestChain) -> Result<Self, Error> {
        let logs = test_chain.node.get_logs(&Filter::new().from_block(0)).await?;
        let (mut log_oracle, mut times) = (Self::default(), HashMap::new());
        let mut fee = None;
        for log in &logs {
            let number = log.block_number.ok_or("no block")?;
            if let Entry::Vacant(unknown) = times.entry(number) {
                let block = test_chain.node.get_block(number.into()).await?.ok_or("no such block")?;
                unknown.insert(block.header.timestamp);
            }
            if fee.is_none() && log.topic0() == Some(&SetupNewContract::SIGNATURE_HASH) {
                let created = log.log_decode::<SetupNewContract>()?.inner.data.newContract;
                fee = Some(Creator1155::new(created, &test_chain.node).mintFee().call().await?);
            }
            let transaction: Vec<&Log> =
                logs.iter().filter(|other| other.transaction_hash == log.transaction_hash).collect();
            let known = &test_chain.chain.addresses;
            log_oracle.read_collections(log, times[&number], known);
            log_oracle.read_sales(log, known);
            log_oracle.read_payments(log, &transaction, known, fee.unwrap_or_default());
            log_oracle.read_comments(log, times[&number]);
        }
        for moment in &mut log_oracle.moments {
            let set = log_oracle.sales.iter().rfind(|(collection, token, ..)| (*collection, *token) == moment.place());
            moment.sale = set.and_then(|(.., sale)| sale.clone());
        }
        for collection in &mut log_oracle.collections {
            let admins = log_oracle.admins.iter().filter(|(of, token, _)| *of == collection.address && token.is_zero());
            collection.admins = admins.map(|(.., admin)| *admin).collect();
        }
        Ok(log_oracle)
    }

    fn read_collections(&mut self, log: &Log, time: u64, known: &ChainAddresses) {
        if let Some(created) = decoded::<SetupNewContract>(log) {
            self.collections.push(Collection {
                id: id(log),
                address: created.newContract,
                creator: created.defaultAdmin,
                name: created.name,
                uri: created.contractURI,
                admins: Vec::new(),
                time,
            });
        } else if let Some(created) = decoded::<SetupNewToken>(log) {
            let by_factory = created.sender == known.factory;
            let creator = if by_factory { self.collection(log.address()).creator } else { created.sender };
            self.moments.push(Moment {
                id: id(log),
                collection: log.address(),
                token: created.tokenId,
                creator,
                uri: created.newURI,
                max_supply: created.maxSupply,
                minted: U256::ZERO,
                burned: U256::ZERO,
                sale: None,
                time,
            });
        } else if let Some(changed) = decoded::<ContractMetadataUpdated>(log) {
            let collection = self.collection(log.address());
            (collection.name, collection.uri) = (changed.name, changed.uri);
        } else if let Some(set) = decoded::<URI>(log).filter(|set| !set.id.is_zero() && !set.value.is_empty()) {
            if let Some(moment) = self.moment((log.address(), set.id)) {
                moment.uri = set.value;
            }
        } else if let Some(set) = decoded::<UpdatedPermissions>(log).filter(|set| set.user != known.factory) {
            let row = (log.address(), set.tokenId, set.user);
            if set.permissions & U256::from(ADMIN) == U256::ZERO {
                self.admins.remove(&row);
            } else {
                self.admins.insert(row);
            }
        } else if let Some(moved) = decoded::<TransferSingle>(log) {
            self.moved(log, moved.from, moved.to, &[moved.id], &[moved.value]);
        } else if let Some(moved) = decoded::<TransferBatch>(log) {
            self.moved(log, moved.from, moved.to, &moved.ids, &moved.values);
        }
    }

    fn moved(&mut self, log: &Log, from: Address, to: Address, tokens: &[U256], quantities: &[U256]) {
        for (token, quantity) in tokens.iter().zip(quantities) {
            let Some(moment) = self.moment((log.address(), *token)) else { continue };
            moment.minted += if from.is_zero() { *quantity } else { U256::ZERO };
            moment.burned += if to.is_zero() { *quantity } else { U256::ZERO };
        }
    }

    fn read_sales(&mut self, log: &Log, known: &ChainAddresses) {
        let shown = |r#type: &str, price: U256, times: (u64, u64), max: u64, recipient: Address, currency: Address| {
            json!({
                "type": r#type, "pricePerToken": price.to_string(), "saleStart": times.0.to_string(), "saleEnd": times.1.to_string(),
                "maxTokensPerAddress": max.to_string(), "fundsRecipient": (!recipient.is_zero()).then_some(recipient),
                "currency": currency,
            })
        };
        let (none, seller) = (Address::ZERO, log.address());
        let (collection, token, sale) = if seller == known.fixed_price_minter {
            let Some(set) = decoded::<FixedPriceMinter::SaleSet>(log) else { return };
            let it = set.salesConfig;
            let (price, times) = (U256::from(it.pricePerToken), (it.saleStart, it.saleEnd));
            let sale = shown("fixedPrice", price, times, it.maxTokensPerAddress, it.fundsRecipient, none);
            (set.mediaContract, set.tokenId, (it.saleEnd > 0).then_some(sale))
        } else if seller == known.erc20_minter {
            let Some(set) = decoded::<Erc20Minter::SaleSet>(log) else { return };
            let it = set.salesConfig;
            let (price, times) = (it.pricePerToken, (it.saleStart, it.saleEnd));
            let sale = shown("erc20Mint", price, times, it.maxTokensPerAddress, it.fundsRecipient, it.currency);
            (set.mediaContract, set.tokenId, (it.saleEnd > 0).then_some(sale))
        } else if seller == known.timed_minter {
            let Some(set) = decoded::<SaleSetV2>(log) else { return };
            let times = (set.saleData.saleStart, u64::MAX);
            (set.collection, set.tokenId, Some(shown("timed", U256::ZERO, times, 0, none, none)))
        } else {
            return;
        };
        // A strategy has one sale per token. After a reset an older sale of another strategy counts again.
        self.sales.retain(|(of, id, by, _)| (*of, *id, *by) != (collection, token, seller));
        if sale.is_some() {
            self.sales.push((collection, token, seller, sale));
        }
    }

    fn read_payments(&mut self, log: &Log, transaction: &[&Log], known: &ChainAddresses, fee: U256) {
        let before: Vec<_> = transaction.iter().filter(|other| other.log_index < log.log_index).collect();
        let mint = || before.iter().rev().find_map(|log| Some((log.address(), decoded::<TransferSingle>(log)?)));
        if let Some(bought) = decoded::<Purchased>(log) {
            let paid = bought.value - fee * bought.quantity;
            let Some((_, mint)) = mint().filter(|_| !paid.is_zero()) else { return };
            self.paid(log, (log.address(), bought.tokenId), mint.to, (paid, paid), Address::ZERO);
        } else if let Some(bought) = decoded::<ERC20RewardsDeposit>(log) {
            let moved =
                transaction.iter().filter(|log| log.address() == known.usdc).filter_map(|it| decoded::<Transfer>(it));
            let moved: Vec<_> = moved.collect();
            let into = moved.iter().find(|moved| moved.to == known.erc20_minter).map(|moved| moved.value);
            let out = moved.iter().rfind(|moved| moved.from == known.erc20_minter).map(|moved| moved.value);
            let (Some(paid), Some(amount), Some((collection, mint))) = (into, out, mint()) else { return };
            self.paid(log, (collection, mint.id), mint.to, (amount, paid), bought.currency);
        }
    }

    fn paid(&mut self, log: &Log, of: (Address, U256), buyer: Address, sum: (U256, U256), currency: Address) {
        let creator = self.collection(of.0).creator;
        let Some(moment) = self.moments.iter().find(|moment| moment.place() == of) else { return };
        self.payments.push(Payment {
            id: id(log),
            moment: moment.id,
            collection: of.0,
            token: of.1,
            creator,
            moment_creator: moment.creator,
            buyer,
            amount: sum.0,
            paid: sum.1,
            currency,
            transaction: log.transaction_hash.unwrap_or_default(),
        });
    }

    fn read_comments(&mut self, log: &Log, time: u64) {
        if let Some(said) = decoded::<MintComment>(log) {
            self.comments.push(Comment {
                id: id(log),
                on: (said.tokenContract, said.tokenId),
                sender: said.sender,
                text: said.comment,
                time,
                comment_id: None,
                reply_to: None,
                nonce: None,
            });
        } else if let Some(said) = decoded::<Commented>(log) {
            self.comments.push(Comment {
                id: id(log),
                on: (said.commentIdentifier.contractAddress, said.commentIdentifier.tokenId),
                sender: said.commentIdentifier.commenter,
                text: said.text,
                time: said.timestamp.to(),
                comment_id: Some(said.commentId),
                reply_to: Some(said.replyToId).filter(|parent| !parent.is_zero()),
                nonce: Some(said.commentIdentifier.nonce),
            });
        }
    }

    fn collection(&mut self, address: Address) -> &mut Collection {
        self.collections.iter_mut().find(|it| it.address == address).expect("a collection that was made")
    }

    fn moment(&mut self, place: (Address, U256)) -> Option<&mut Moment> {
        self.moments.iter_mut().find(|moment| moment.place() == place)
    }

    /// Admins of a moment's token or collection.
    pub fn admins(&self, moment: &Moment) -> BTreeSet<Address> {
        let of_it = |(collection, token, _): &&(Address, U256, Address)| {
            *collection == moment.collection && (token.is_zero() || *token == moment.token)
        };
        self.admins.iter().filter(of_it).map(|(.., admin)| *admin).collect()
    }

    pub fn top_level(&self, moment: &Moment) -> impl DoubleEndedIterator<Item = &Comment> {
        self.comments.iter().filter(|comment| comment.is_on(moment) && comment.reply_to.is_none())
    }

    pub fn replies(&self, to: B256) -> impl Iterator<Item = &Comment> {
        self.comments.iter().filter(move |comment| comment.reply_to == Some(to))
    }

    /// A top-level comment with its replies.
    pub fn shown(&self, comment: &Comment) -> Value {
        let replies = comment.comment_id.into_iter().flat_map(|id| self.replies(id));
        let replies: Vec<Value> = replies.map(Comment::alone).collect();
        let mut shown = comment.alone();
        (shown["replyCount"], shown["replies"]) = (json!(replies.len()), replies.into_iter().take(3).collect());
        shown
    }
}

impl Moment {
    fn place(&self) -> (Address, U256) {
        (self.collection, self.token)
    }
}

impl Payment {
    pub fn decimals(&self) -> u8 {
        if self.currency.is_zero() { 18 } else { 6 }
    }
}

impl Comment {
    pub fn is_on(&self, moment: &Moment) -> bool {
        self.on == moment.place()
    }

    /// A comment without replies.
    pub fn alone(&self) -> Value {
        in_lower_case(json!({
            "id": self.id, "sender": self.sender, "username": "", "comment": self.text, "timestamp": self.time * 1_000,
            "commentId": self.comment_id, "replyToId": self.reply_to, "nonce": self.nonce, "replyCount": 0, "replies": [],
        }))
    }
}

impl Spent {
    pub fn add(&mut self, payment: &Payment) {
        (self.wallet, self.count) = (payment.buyer, self.count + 1);
        *(if payment.currency.is_zero() { &mut self.eth } else { &mut self.usdc }) += payment.paid;
    }

    pub fn by(&self, field: &str) -> U256 {
        match field {
            "eth_spent" => self.eth,
            "usdc_spent" => self.usdc,
            _ => U256::from(self.count),
        }
    }

    pub fn shown(&self, id: ArtistId) -> Value {
        in_lower_case(json!({
            "artist_id": id, "username": "", "wallets": [{"address": self.wallet, "type": "external"}],
            "collected_count": self.count, "eth_spent": decimal(self.eth, 18), "usdc_spent": decimal(self.usdc, 6),
        }))
    }
}

fn decoded<E: SolEvent>(log: &Log) -> Option<E> {
    log.log_decode::<E>().ok().map(|log| log.inner.data)
}

fn id(log: &Log) -> EventId {
    EventId::new(CHAIN, log.transaction_hash.unwrap_or_default(), log.log_index.unwrap_or_default())
}

pub fn artist_id(wallet: Address) -> ArtistId {
    ArtistId::of_wallet(wallet.into())
}

pub fn iso_8601(time: u64) -> String {
    clock::iso_8601(time).expect("a time")
}

/// An amount without trailing zeros.
pub fn decimal(amount: U256, decimals: u8) -> String {
    let text = format_units(amount, decimals).expect("an amount");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The value with all addresses in lower case, as the service writes them.
pub fn in_lower_case(value: Value) -> Value {
    match value {
        Value::String(text) if text.starts_with("0x") => json!(text.to_lowercase()),
        Value::Array(values) => values.into_iter().map(in_lower_case).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, in_lower_case(value))).collect(),
        other => other,
    }
}
