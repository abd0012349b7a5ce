//! To whom collections and moments are attributed that one account made in another's name. Decided once, with the
//! wallets of that moment, and kept: an index that is made anew attributes them alike.

use serde::{Deserialize, Serialize};

use super::artist::Artists;
use crate::{
    model::{Address, EventId},
    store::{artist::rows, engine::table::StoreError},
};

#[derive(Serialize, Deserialize)]
struct Attribution {
    creator: Address,
}

impl Artists {
    /// Returns the creator of what event `creation` made: the account that was named, unless it is an artist's and the
    /// sender isn't the same artist's; then the sender. At most three reads and one write.
    pub async fn attribute(&self, creation: EventId, named: Address, sender: Address) -> Result<Address, StoreError> {
        if named == sender {
            return Ok(named);
        }
        let key = rows::attribution(creation);
        if let Some(Attribution { creator }) = self.0.get(&key).await? {
            return Ok(creator);
        }
        let owners = self.owners(&[named, sender]).await?;
        let is_foreign = owners.get(&named).is_some_and(|artist| owners.get(&sender) != Some(artist));
        let decided = Attribution { creator: if is_foreign { sender } else { named } };
        if self.0.write_together(vec![self.0.insertion(&key, &decided)?]).await? {
            return Ok(decided.creator);
        }
        let earlier: Option<Attribution> = self.0.get(&key).await?;
        Ok(earlier.unwrap_or(decided).creator)
    }
}
