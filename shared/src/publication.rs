//! What every endpoint that publishes collections and moments has in common: the body of the request, the calls that it
//! comes to, and what the receipt says was made.

use alloy::{
    primitives::{Address, U256},
    rpc::types::TransactionReceipt,
    sol_types::SolEvent,
};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    chain::{
        Chain,
        account::Call,
        contracts::{Creator1155, CreatorFactory::SetupNewContract, SplitFactory},
        node::Node,
        permission::Permission,
        publishing::{Publisher, create_split, split_params},
    },
    http::{ApiError, Fields, Request},
    model::{self, ChainId, CheckedAddress, MetadataUri, NewMoment, Split, TargetCollection},
    writing::{Writers, Writing, answer_node_error, no_collection},
};

/// Most moments that one request can make.
const MAX_MOMENTS: usize = 50;

/// What is to be published.
pub struct Publication {
    /// `chainId`, 8453 unless given.
    pub chain: ChainId,
    /// Where the moments go.
    target: TargetCollection,
    /// The moments; none for a collection alone.
    moments: Vec<NewMoment>,
    /// `splits`: who shares the proceeds.
    split: Option<Split>,
    /// `account`: one of the artist's own wallets; the one that the service keeps unless given.
    account: Option<model::Address>,
}

impl Publication {
    /// `POST /collections`: `{account?, name, uri, splits?, chainId?}`.
    ///
    /// # Errors
    /// 400, 413 or 415.
    pub fn parse_collection(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let name = fields.collection_name();
        let uri = fields.required::<MetadataUri>("uri");
        Self::finish(fields, writers, Some(Vec::new()), || Some(TargetCollection::New { name: name?, uri: uri? }))
    }

    /// `POST /moment/create`: `{contract, token, account?, splits?, chainId?}`.
    ///
    /// # Errors
    /// 400, 413 or 415.
    pub fn parse_moment(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json()?;
        let target = fields.target_collection();
        let moment = fields.object("token").and_then(|mut token| token.new_moment());
        Self::finish(fields, writers, moment.map(|moment| vec![moment]), || target)
    }

    /// `POST /moment/create-batch`: the same with `tokens`, 1 to 50.
    ///
    /// # Errors
    /// 400, 413 or 415.
    pub fn parse_moments(request: &Request, writers: &Writers) -> Result<Self, ApiError> {
        let mut fields = request.json_of(MAX_BATCH_BYTES)?;
        let target = fields.target_collection();
        let moments = fields.objects("tokens", 1..=MAX_MOMENTS).and_then(|tokens| {
            // Every one is read, so that what is wrong with each is told.
            let moments: Vec<_> = tokens.into_iter().map(|mut token| token.new_moment()).collect();
            moments.into_iter().collect()
        });
        Self::finish(fields, writers, moments, || target)
    }

    fn finish(
        mut fields: Fields,
        writers: &Writers,
        moments: Option<Vec<NewMoment>>,
        target: impl FnOnce() -> Option<TargetCollection>,
    ) -> Result<Self, ApiError> {
        let account = fields.optional::<CheckedAddress>("account").map(|CheckedAddress(account)| account);
        let split = fields.split();
        let chain = writers.chain(&mut fields);
        fields.finish(|| Some(Self { chain: chain?, target: target()?, moments: moments?, split: split?, account }))
    }

    /// The calls that the artist's account makes to publish this. Asks the chain about the split and the collection, at
    /// the same time.
    ///
    /// # Errors
    /// 400 for an account that isn't the artist's, 403 or 404 for the collection, 502 or 503 when no node answers.
    pub async fn calls(&self, writing: &Writing<'_>) -> Result<Vec<Call>, ApiError> {
        let (addresses, operator) = (&writing.chain().addresses, Address::from(writing.account()));
        let account = writing.own_wallet(self.account).await?.into();
        let (split, existing) = tokio::join!(self.split(writing), self.existing(writing));
        let ((split, mut calls), existing) = (split?, existing?);
        let publisher = Publisher { addresses, account, operator, split };
        calls.push(match (&self.target, existing) {
            (TargetCollection::Existing(address), Some(Existing { next, name })) => {
                let data = publisher.publish(next, &name, &self.moments);
                Call::new((*address).into(), &Creator1155::multicallCall { data })
            }
            (TargetCollection::New { name, uri }, _) => {
                Call::new(addresses.factory, &publisher.create_collection(name, uri, &self.moments))
            }
            (TargetCollection::Existing(address), None) => return Err(no_collection(*address)),
        });
        Ok(calls)
    }

    /// The split's address, with the call that makes it where it isn't there yet.
    async fn split(&self, writing: &Writing<'_>) -> Result<(Option<Address>, Vec<Call>), ApiError> {
        let Some(split) = &self.split else { return Ok((None, Vec::new())) };
        let factory = writing.chain().addresses.split_factory;
        let wanted = create_split(split, writing.account().into());
        let question =
            SplitFactory::isDeployedCall { split: split_params(split), owner: wanted.owner, salt: wanted.salt };
        let answer = writing.node().read(factory, &question).await.map_err(answer_node_error)?;
        let answer = answer.ok_or_else(|| ApiError::unprocessable("This chain has no contract for splits"))?;
        let calls = if answer._1 { Vec::new() } else { vec![Call::new(factory, &wanted)] };
        Ok((Some(answer._0), calls))
    }

    /// The collection that moments are added to, which the artist's account must be allowed to do.
    async fn existing(&self, writing: &Writing<'_>) -> Result<Option<Existing>, ApiError> {
        let TargetCollection::Existing(address) = self.target else { return Ok(None) };
        let existing = Existing::read(writing.node(), address.into()).await?;
        let existing = existing.ok_or_else(|| no_collection(address))?;
        writing.require_on_collection(address, Permission::Minter).await?;
        Ok(Some(existing))
    }
}

/// Longest body of a batch: fifty moments whose URIs are as long as they may be.
const MAX_BATCH_BYTES: usize = 256 * 1024;

struct Existing {
    next: U256,
    name: String,
}

impl Existing {
    async fn read(node: &Node, collection: Address) -> Result<Option<Self>, ApiError> {
        let (count, name) = (Creator1155::nextTokenIdCall {}, Creator1155::nameCall {});
        let (next, name) =
            tokio::try_join!(node.read(collection, &count), node.read(collection, &name)).map_err(answer_node_error)?;
        Ok(next.zip(name).map(|(next, name)| Self { next, name }))
    }
}

/// What `POST /collections` answers besides hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundCollection {
    /// The collection.
    contract_address: model::Address,
}

/// What `POST /moment/create` answers besides hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundMoment {
    /// Its collection.
    contract_address: model::Address,
    /// Its token.
    token_id: model::TokenId,
}

/// What `POST /moment/create-batch` answers besides hash and chain.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FoundMoments {
    /// Their collection.
    contract_address: model::Address,
    /// Their tokens, in the order of the request.
    token_ids: Vec<model::TokenId>,
}

/// The collection that a transaction made.
pub fn found_collection(chain: &Chain, receipt: &TransactionReceipt) -> Option<Map<String, Value>> {
    let mut created = logs::<SetupNewContract>(receipt).filter(|(emitter, _)| *emitter == chain.addresses.factory);
    found(&FoundCollection { contract_address: created.next()?.1.newContract.into() })
}

/// The moment that a transaction made.
pub fn found_moment(_: &Chain, receipt: &TransactionReceipt) -> Option<Map<String, Value>> {
    let (contract_address, ids) = moments_made(receipt)?;
    found(&FoundMoment { contract_address, token_id: *ids.first()? })
}

/// The moments that a transaction made.
pub fn found_moments(_: &Chain, receipt: &TransactionReceipt) -> Option<Map<String, Value>> {
    let (contract_address, token_ids) = moments_made(receipt)?;
    found(&FoundMoments { contract_address, token_ids })
}

fn found(findings: &impl Serialize) -> Option<Map<String, Value>> {
    match serde_json::to_value(findings) {
        Ok(Value::Object(findings)) => Some(findings),
        _ => None,
    }
}

/// The collection and the ids of the tokens that a transaction made: it makes them in one collection, in order.
fn moments_made(receipt: &TransactionReceipt) -> Option<(model::Address, Vec<model::TokenId>)> {
    let made: Vec<_> =
        logs::<Creator1155::SetupNewToken>(receipt).filter(|(_, token)| !token.tokenId.is_zero()).collect();
    let collection = made.first()?.0;
    Some((collection.into(), made.into_iter().map(|(_, token)| token.tokenId.into()).collect()))
}

fn logs<E: SolEvent>(receipt: &TransactionReceipt) -> impl Iterator<Item = (Address, E)> {
    let logs = receipt.logs().iter().filter(|log| log.topic0() == Some(&E::SIGNATURE_HASH));
    logs.filter_map(|log| Some((log.address(), E::decode_log(&log.inner).ok()?.data)))
}
