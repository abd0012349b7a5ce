//! The plan that a request to publish comes to.

use alloy::primitives::{self, U256};

use super::request::{CreateCollectionRequest, CreateMomentRequest, Splits};
use crate::{
    api::transact::WriteSession,
    chain::{
        Chain,
        contracts::native::{Creator1155, CreatorFactory::deterministicContractAddressCall},
        node::Node,
        protocol::{
            destination::Destination,
            permission::Permission,
            publishing::Publisher,
            splits::{self, LocatedSplit},
        },
        wallet::Call,
    },
    http::ApiError,
    model::{
        self, ActivityKind, ChainId, CheckedAddress, MetadataUri, MomentRef, NewMoment, NewTokens, OwnCollection, Plan,
        RoyaltyBps, Split, TargetCollection,
    },
};

/// A collection with or without moments, or moments for an existing one.
pub struct Publication {
    /// The collection's chain.
    pub chain: ChainId,
    target: Target,
    /// None for a collection alone.
    moments: Vec<NewMoment>,
    split: Option<Split>,
    /// That of a collection without moments.
    royalty: RoyaltyBps,
    /// One of the artist's own wallets; the embedded one by default.
    account: Option<model::Address>,
}

/// Where moments go.
pub enum Target {
    /// The collection that the request names.
    Named(TargetCollection),
    /// The artist's own one, which the transaction creates if it isn't there.
    Own(OwnCollection),
}

impl From<CreateCollectionRequest> for Publication {
    fn from(request: CreateCollectionRequest) -> Self {
        let CreateCollectionRequest { name, uri, account, splits, royalty_bps, chain_id } = request;
        let target = TargetCollection::New { name: name.0, uri };
        Self { royalty: royalty_bps, ..Self::new(chain_id, Target::Named(target), Vec::new(), splits, account) }
    }
}

impl Publication {
    /// A moment that goes to `target`.
    pub fn of_moment(request: CreateMomentRequest, target: Target) -> Self {
        let CreateMomentRequest { contract: _, token, account, splits, chain_id } = request;
        Self::new(chain_id, target, vec![token.moment], splits, account)
    }

    pub(super) fn new(
        chain: ChainId,
        target: Target,
        moments: Vec<NewMoment>,
        Splits(split): Splits,
        account: Option<CheckedAddress>,
    ) -> Self {
        let account = account.map(|CheckedAddress(account)| account);
        Self { chain, target, moments, split, royalty: RoyaltyBps::default(), account }
    }

    /// The plan. Reads split, collection and permissions at once; 400 for another's account, 403, 404 or 422 for the
    /// collection.
    pub async fn plan(&self, session: &WriteSession<'_>) -> Result<Plan, ApiError> {
        let (addresses, operator) = (&session.chain().addresses, session.account());
        let account = session.own_wallet(self.account).await?;
        let (split, place) = tokio::join!(
            locate_split(session.chain(), session.node(), self.split.as_ref(), operator),
            self.place(session)
        );
        let (split, place) = (split?, place?);
        match &place {
            Place::New { .. } => session.note(ActivityKind::Published, "a new collection"),
            Place::At { contract, .. } => {
                session.note(ActivityKind::Published, MomentRef::whole(self.chain, (*contract).into()));
            }
        }
        let split_address = split.as_ref().map(|split| split.address);
        let creation = split.and_then(|split| split.creation);
        let mut calls: Vec<_> = creation.iter().map(|creation| Call::new(addresses.split_factory, creation)).collect();
        let (contract, name, creation) = match place {
            Place::New { name, uri } => {
                let (account, operator) = (account.into(), operator.into());
                let publisher = Publisher { addresses, account, operator, split: split_address };
                let creation = publisher.create_collection(name, uri, &self.moments, self.royalty);
                calls.push(Call::new(addresses.factory, &creation));
                return Ok(Plan::Calls { calls });
            }
            Place::At { contract, name, creation } => (contract, name, creation),
        };
        calls.extend(creation);
        // The id of its next token is known when the transaction is signed.
        Ok(Plan::Tokens(NewTokens {
            collection: contract.into(),
            collection_name: name,
            account,
            operator,
            split: split_address.map(Into::into),
            before: calls,
            moments: self.moments.clone(),
        }))
    }

    /// The collection; if it is there, it must permit the artist's account to add moments.
    async fn place(&self, session: &WriteSession<'_>) -> Result<Place<'_>, ApiError> {
        let target = match &self.target {
            Target::Named(target) => target,
            Target::Own(own) => return own_place(session, own).await,
        };
        let (destination, permitted) = tokio::join!(Destination::find(session.node(), target), async {
            match target {
                TargetCollection::New { .. } => Ok(()),
                TargetCollection::Existing(address) => {
                    session.require_on_collection(*address, Permission::Minter).await.map(drop)
                }
            }
        });
        let destination = destination?;
        permitted?;
        Ok(match destination {
            Destination::New { name, uri } => Place::New { name, uri },
            Destination::Existing { contract, next_token, name } => {
                session.note_next_token(contract.into(), next_token);
                Place::At { contract, name, creation: None }
            }
        })
    }
}

enum Place<'a> {
    /// Only the receipt says it.
    New { name: &'a str, uri: &'a MetadataUri },
    /// At this address, where this call creates it.
    At { contract: primitives::Address, name: String, creation: Option<Call> },
}

/// The place of an artist's own collection. Two round trips of calls.
async fn own_place<'a>(session: &WriteSession<'_>, own: &OwnCollection) -> Result<Place<'a>, ApiError> {
    let (addresses, account) = (&session.chain().addresses, session.account().into());
    let question = deterministicContractAddressCall {
        msgSender: account,
        newContractURI: own.uri.to_string(),
        name: own.name.clone(),
        contractAdmin: account,
    };
    let contract = session.node().read(addresses.factory, &question).await?;
    let contract = contract
        .ok_or_else(|| ApiError::unprocessable("This chain doesn't support default collections. Pass `contract`."))?;
    // Only the factory puts anything there. One call says both: it may come to be meanwhile.
    let (next_token, permitted) = tokio::join!(
        session.node().read(contract, &Creator1155::nextTokenIdCall {}),
        session.require_on_collection(contract.into(), Permission::Minter)
    );
    let mut creation = None;
    if let Some(next) = next_token? {
        permitted?;
        session.note_next_token(contract.into(), next);
    } else {
        session.note_genuine(contract.into());
        session.note_next_token(contract.into(), U256::ONE);
        let publisher = Publisher { addresses, account, operator: account, split: None };
        creation = Some(Call::new(addresses.factory, &publisher.create_own_collection(contract, own)));
    }
    Ok(Place::At { contract, name: own.name.clone(), creation })
}

/// Locates a split on a chain, by its creator; 422 where the chain has no splits.
pub async fn locate_split(
    chain: &Chain,
    node: &Node,
    split: Option<&Split>,
    creator: model::Address,
) -> Result<Option<LocatedSplit>, ApiError> {
    let Some(split) = split else { return Ok(None) };
    let located = splits::locate(node, chain.addresses.split_factory, split, creator.into()).await?;
    located.map(Some).ok_or_else(|| ApiError::unprocessable("This chain has no contract for splits"))
}
