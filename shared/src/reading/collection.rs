use serde::Serialize;
use utoipa::ToSchema;

use super::{Person, ReadError, Reader};
use crate::{
    clock::iso_8601,
    model::{Address, ChainId, Collection, EventId, Metadata, Protocol},
};

/// The contract's `Collection`.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShownCollection {
    id: EventId,
    address: Address,
    chain_id: ChainId,
    name: String,
    uri: String,
    creator: Person,
    /// Accounts with the admin permission on the whole collection, in their order.
    admins: Vec<Address>,
    /// ISO 8601.
    created_at: String,
    /// ISO 8601.
    updated_at: String,
    protocol: Protocol,
    /// Null until its document is fetched.
    #[schema(required = true)]
    metadata: Option<Metadata>,
}

impl Reader {
    /// Collections of one chain as they are shown. Two reads at once, for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn collections(&self, collections: Vec<Collection>) -> Result<Vec<ShownCollection>, ReadError> {
        let Some(chain) = collections.first().map(|first| first.chain_id) else { return Ok(Vec::new()) };
        let (names, documents) = tokio::try_join!(
            self.names(collections.iter().map(|collection| collection.creator)),
            self.documents.find_many(chain, collections.iter().map(|collection| collection.uri.as_str())),
        )?;
        let show = |collection: &Collection| {
            Ok(ShownCollection {
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
