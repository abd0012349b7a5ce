//! Erasing an artist: the rows that their sign-in, wallets and names are found by.

use aws_sdk_dynamodb::types::{Delete, TransactWriteItem};

use super::{
    artist::{Artists, profile_key, wallet_key},
    outbox::Outbox,
    usernames::{held_keys, name_keys},
};
use crate::{
    aws::Dispatch,
    model::{ArtistChange, ArtistId},
    store::{
        artist::{rows, search::Search},
        engine::table::{PrimaryKey, StoreError, number, text, unless_refused},
    },
};

impl Artists {
    /// Deletes the profile, mail address, wallets and name, and tells those who show them; names that were given up are deleted at once.
    pub(in crate::store) async fn erasure(&self, artist: ArtistId) -> Result<Vec<TransactWriteItem>, StoreError> {
        let Some(profile) = self.profile(artist).await? else { return Ok(Vec::new()) };
        for held in &profile.held_names {
            for key in name_keys(&held.folded) {
                let call = self.0.client.delete_item().table_name(&self.0.name).set_key(Some(key.item()));
                let call = call.condition_expression("artist_id = :artist");
                unless_refused(call.expression_attribute_values(":artist", text(artist)).dispatch().await)?;
            }
        }
        let whole = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(profile_key(artist).item()))
            .condition_expression("version = :loaded")
            .expression_attribute_values(":loaded", number(profile.version));
        let mut writes =
            vec![TransactWriteItem::builder().delete(whole.build()?).build(), self.0.deletion(&rows::contact(artist))?];
        for key in held_keys(&profile) {
            writes.push(self.deletion_of(&key, artist)?);
        }
        if !profile.username.is_empty() {
            writes.extend(Search::new(self.0.clone()).relist(Some(&profile.username), None)?);
        }
        for wallet in profile.wallets.iter().map(|wallet| wallet.address) {
            let change = ArtistChange::WalletRemoved { wallet };
            writes.push(self.deletion_of(&wallet_key(wallet), artist)?);
            writes.push(Outbox::new(self.0.clone()).posting(artist, change)?);
            writes.push(Outbox::of_rankings(self.0.clone()).posting(artist, change)?);
        }
        Ok(writes)
    }

    /// Deletes a row that is the artist's.
    pub(super) fn deletion_of(&self, key: &PrimaryKey, artist: ArtistId) -> Result<TransactWriteItem, StoreError> {
        let delete = Delete::builder()
            .table_name(&self.0.name)
            .set_key(Some(key.item()))
            .condition_expression("artist_id = :artist")
            .expression_attribute_values(":artist", text(artist));
        Ok(TransactWriteItem::builder().delete(delete.build()?).build())
    }
}
