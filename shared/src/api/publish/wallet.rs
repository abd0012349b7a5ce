//! What a wallet of anybody sends to publish.

use super::publication::locate_split;
use crate::{
    chain::{
        Chain,
        contracts::native::Creator1155::multicallCall,
        node::Node,
        protocol::{
            destination::Destination,
            permission::{Permission, Permissions},
            publishing::Publisher,
        },
        wallet::Call,
    },
    http::ApiError,
    model::{Address, MomentRef, NewMoment, RoyaltyBps, Split, TargetCollection},
};

/// A moment that a wallet creates itself.
pub struct WalletPublication {
    /// The collection. One that is there must be genuine.
    pub target: TargetCollection,
    /// The moment.
    pub moment: NewMoment,
    /// Recipients of its proceeds.
    pub split: Option<Split>,
    /// The wallet.
    pub account: Address,
}

impl WalletPublication {
    /// The calls: the split's where it isn't there yet, and the creation's. Another token that comes first makes it fail. At
    /// most six calls to the chain.
    ///
    /// # Errors
    /// 403 or 404 for the collection, 422 where the chain has no splits.
    pub async fn calls(&self, chain: &Chain, node: &Node) -> Result<Vec<Call>, ApiError> {
        let (split, destination) = tokio::try_join!(
            locate_split(chain, node, self.split.as_ref(), self.account),
            self.destination(chain, node)
        )?;
        let (addresses, account) = (&chain.addresses, self.account.into());
        let publisher =
            Publisher { addresses, account, operator: account, split: split.as_ref().map(|split| split.address) };
        let moments = std::slice::from_ref(&self.moment);
        let creation = match destination {
            Destination::New { name, uri } => {
                let call = publisher.create_collection(name, uri, moments, RoyaltyBps::default());
                Call::new(addresses.factory, &call)
            }
            Destination::Existing { contract, next_token, name } => {
                Call::new(contract, &multicallCall { data: publisher.publish(next_token, &name, moments) })
            }
        };
        let split = split.and_then(|split| split.creation);
        let split = split.map(|creation| Call::new(addresses.split_factory, &creation));
        Ok(split.into_iter().chain([creation]).collect())
    }

    async fn destination(&self, chain: &Chain, node: &Node) -> Result<Destination<'_>, ApiError> {
        let destination = Destination::find(node, &self.target).await?;
        if let TargetCollection::Existing(address) = &self.target {
            let whole = MomentRef::whole(chain.id, *address);
            let permissions = Permissions::of(node, self.account.into(), &whole).await?;
            if !permissions.may(Permission::Minter) {
                let (account, right) = (self.account, Permission::Minter.name());
                let words = format!("The wallet {account} lacks the {right} permission on collection {address}");
                return Err(ApiError::forbidden(words));
            }
        }
        Ok(destination)
    }
}
