use serde::Serialize;
use utoipa::ToSchema;

use super::reader::{Person, ReadError, Reader};
use crate::{
    clock::iso_8601,
    model::{Address, ChainId, Collection, EventId, Metadata, Protocol},
};

/// A collection.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Collection)]
pub struct CollectionView {
    id: EventId,
    address: Address,
    chain_id: ChainId,
    name: String,
    uri: String,
    creator: Person,
    /// Accounts with the admin permission on the whole collection, sorted.
    admins: Vec<Address>,
    /// ISO 8601.
    created_at: String,
    /// ISO 8601.
    updated_at: String,
    protocol: Protocol,
    /// Null until fetched.
    #[schema(required = true)]
    metadata: Option<Metadata>,
}

impl Reader {
    /// The collection with this contract; `None` if there is none. Three reads.
    pub async fn collection(&self, chain: ChainId, contract: Address) -> Result<Option<CollectionView>, ReadError> {
        match self.moments.collection(chain, contract).await? {
            Some(collection) => Ok(self.collections(vec![collection]).await?.pop()),
            None => Ok(None),
        }
    }

    /// Views of one chain's collections. Two parallel reads for every hundred.
    pub async fn collections(&self, collections: Vec<Collection>) -> Result<Vec<CollectionView>, ReadError> {
        let Some(chain) = collections.first().map(|first| first.chain_id) else { return Ok(Vec::new()) };
        let (names, documents) = tokio::try_join!(
            self.names(collections.iter().map(|collection| collection.creator)),
            self.documents.find_many(chain, collections.iter().map(|collection| collection.uri.as_str())),
        )?;
        let show = |collection: &Collection| {
            Ok(CollectionView {
                id: collection.id,
                address: collection.address,
                chain_id: collection.chain_id,
                name: collection.name.clone(),
                uri: collection.uri.clone(),
                creator: names.person(collection.creator),
                admins: collection.admins.clone(),
                created_at: iso_8601(collection.created_at)?,
                updated_at: iso_8601(collection.updated_at)?,
                protocol: collection.protocol,
                metadata: documents.get(collection.uri.as_str()).cloned(),
            })
        };
        collections.iter().map(show).collect()
    }
}
