//! What every endpoint that publishes collections and moments has in common: the body of the request, the calls that it
//! comes to, and what the receipt says was made.

use alloy::{primitives::Address, rpc::types::TransactionReceipt, sol_types::SolEvent};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::{
    chain::{
        Chain,
        account::Call,
        contracts::{Creator1155, CreatorFactory::SetupNewContract},
        destination::{Destination, DestinationError},
        node::Node,
        permission::Permission,
        publishing::Publisher,
        splits::{self, LocatedSplit},
    },
    http::{ApiError, Fields, MAX_MOMENTS_BYTES, Request},
    model::{self, ChainId, CheckedAddress, MetadataUri, NewMoment, Split, TargetCollection},
    writing::{Writers, Writing, answer_node_error, no_collection},
};

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
        let mut fields = request.json_of(MAX_MOMENTS_BYTES)?;
        let target = fields.target_collection();
        let moments = fields.new_moments();
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
        let (split, destination) = tokio::join!(
            locate_split(writing.chain(), writing.node(), self.split.as_ref(), writing.account()),
            self.destination(writing)
        );
        let (split, destination) = (split?, destination?);
        let publisher = Publisher { addresses, account, operator, split: split.as_ref().map(|split| split.address) };
        let creation = split.and_then(|split| split.creation);
        let mut calls: Vec<_> = creation.iter().map(|creation| Call::new(addresses.split_factory, creation)).collect();
        calls.push(match destination {
            Destination::New { name, uri } => {
                Call::new(addresses.factory, &publisher.create_collection(name, uri, &self.moments))
            }
            Destination::Existing { contract, next_token, name } => {
                let data = publisher.publish(next_token, &name, &self.moments);
                Call::new(contract, &Creator1155::multicallCall { data })
            }
        });
        Ok(calls)
    }

    /// Where the moments go, which the artist's account must be allowed to add to.
    async fn destination(&self, writing: &Writing<'_>) -> Result<Destination<'_>, ApiError> {
        let destination = find_destination(writing.node(), &self.target).await?;
        if let TargetCollection::Existing(address) = self.target {
            writing.require_on_collection(address, Permission::Minter).await?;
        }
        Ok(destination)
    }
}

/// Where moments go on a chain.
///
/// # Errors
/// 404 when a collection that should be there isn't, 502 or 503 when no node answers.
pub async fn find_destination<'a>(node: &Node, target: &'a TargetCollection) -> Result<Destination<'a>, ApiError> {
    Destination::find(node, target).await.map_err(|error| match error {
        DestinationError::NoCollection(address) => no_collection(address),
        DestinationError::Node(error) => answer_node_error(error),
    })
}

/// Where a split is on a chain; `None` when none is wanted. `creator` is who is said to make it.
///
/// # Errors
/// 422 when the chain has no splits, 502 or 503 when no node answers.
pub async fn locate_split(
    chain: &Chain,
    node: &Node,
    split: Option<&Split>,
    creator: model::Address,
) -> Result<Option<LocatedSplit>, ApiError> {
    let Some(split) = split else { return Ok(None) };
    let located = splits::locate(node, chain.addresses.split_factory, split, creator.into()).await;
    let located = located.map_err(answer_node_error)?;
    located.map(Some).ok_or_else(|| ApiError::unprocessable("This chain has no contract for splits"))
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
