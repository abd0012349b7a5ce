//! The plan that a request to publish comes to.

use super::request::{CreateCollectionRequest, CreateMomentRequest, Splits};
use crate::{
    api::transact::WriteSession,
    chain::{
        Chain,
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
    model::{self, ChainId, CheckedAddress, NewMoment, NewTokens, Plan, Split, TargetCollection},
};

/// A collection with or without moments, or moments for an existing one.
pub struct Publication {
    /// The collection's chain.
    pub chain: ChainId,
    target: TargetCollection,
    /// None for a collection alone.
    moments: Vec<NewMoment>,
    split: Option<Split>,
    /// One of the artist's own wallets; the embedded one by default.
    account: Option<model::Address>,
}

impl From<CreateCollectionRequest> for Publication {
    fn from(request: CreateCollectionRequest) -> Self {
        let CreateCollectionRequest { name, uri, account, splits, chain_id } = request;
        let target = TargetCollection::New { name: name.0, uri };
        Self::new(chain_id, target, Vec::new(), splits, account)
    }
}

impl From<CreateMomentRequest> for Publication {
    fn from(request: CreateMomentRequest) -> Self {
        let CreateMomentRequest { contract, token, account, splits, chain_id } = request;
        Self::new(chain_id, contract, vec![token.moment], splits, account)
    }
}

impl Publication {
    pub(super) fn new(
        chain: ChainId,
        target: TargetCollection,
        moments: Vec<NewMoment>,
        Splits(split): Splits,
        account: Option<CheckedAddress>,
    ) -> Self {
        Self { chain, target, moments, split, account: account.map(|CheckedAddress(account)| account) }
    }

    /// The plan. Reads split and collection at once; 400 for another's account, 403, 404 or 422 for the collection.
    pub async fn plan(&self, session: &WriteSession<'_>) -> Result<Plan, ApiError> {
        let (addresses, operator) = (&session.chain().addresses, session.account());
        let account = session.own_wallet(self.account).await?;
        let (split, destination) = tokio::join!(
            locate_split(session.chain(), session.node(), self.split.as_ref(), operator),
            self.destination(session)
        );
        let (split, destination) = (split?, destination?);
        let split_address = split.as_ref().map(|split| split.address);
        let creation = split.and_then(|split| split.creation);
        let mut calls: Vec<_> = creation.iter().map(|creation| Call::new(addresses.split_factory, creation)).collect();
        Ok(match destination {
            Destination::New { name, uri } => {
                let (account, operator) = (account.into(), operator.into());
                let publisher = Publisher { addresses, account, operator, split: split_address };
                calls.push(Call::new(addresses.factory, &publisher.create_collection(name, uri, &self.moments)));
                Plan::Calls { calls }
            }
            // The id of its next token is known when the transaction is signed.
            Destination::Existing { contract, name, .. } => Plan::Tokens(NewTokens {
                collection: contract.into(),
                collection_name: name,
                account,
                operator,
                split: split_address.map(Into::into),
                before: calls,
                moments: self.moments.clone(),
            }),
        })
    }

    /// The collection, which must permit the artist's account to add moments.
    async fn destination(&self, session: &WriteSession<'_>) -> Result<Destination<'_>, ApiError> {
        let destination = Destination::find(session.node(), &self.target).await?;
        if let TargetCollection::Existing(address) = self.target {
            session.require_on_collection(address, Permission::Minter).await?;
        }
        Ok(destination)
    }
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
