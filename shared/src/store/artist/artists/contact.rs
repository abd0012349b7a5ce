//! Artists' mail addresses and changes of them. Rows say from and until when an address counts: nothing has to run then.

use aws_sdk_dynamodb::types::{ConditionCheck, Put, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use super::{
    artist::{Artist, Artists},
    outbox::Outbox,
};
use crate::{
    model::{Address, ArtistChange, ArtistId, Email, PasskeyId, Wallet, WalletType},
    store::{
        artist::rows,
        engine::table::{StoreError, number, row, text, updating},
    },
};

/// How long the artist can stop a change of the mail address, in seconds.
const CHANGES_AFTER: u64 = 7 * 24 * 60 * 60;

/// An artist's mail address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contact {
    /// The one that counts; who signs in with a wallet may have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<Email>,
    /// The one that takes its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<NextEmail>,
}

/// A mail address that is to take another's place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NextEmail {
    /// The address.
    pub email: Email,
    /// From when it counts, in Unix seconds.
    pub from: u64,
    /// What proved the change; `None` for a code to the present address, whose mailbox alone then stops it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ChangedBy>,
}

/// What proved a change of the mail address that the mailbox can't stop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedBy {
    /// A wallet.
    Wallet(Address),
    /// A passkey.
    Passkey(PasskeyId),
}

/// Whose a mail address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmailOwner {
    /// This artist's.
    Artist(Artist),
    /// An artist's from this time on, in Unix seconds, and nobody's until then.
    From(u64),
    /// Nobody's.
    Nobody,
}

/// Why a mail address isn't changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactRefusal {
    /// The address is an artist's, or will be.
    Taken,
    /// Another change is under way.
    Changing,
    /// The proof in this place was used, or no longer counts.
    Unproved(usize),
}

#[derive(Serialize, Deserialize)]
struct EmailRow {
    #[serde(flatten)]
    artist: Artist,
    /// From when it counts, in Unix seconds; always, by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<u64>,
    /// When it no longer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
}

impl Contact {
    /// The same at `now` (Unix seconds), when a change may be done.
    fn at(self, now: u64) -> Self {
        match self.next {
            Some(next) if next.from <= now => Self { email: Some(next.email), next: None },
            _ => self,
        }
    }

    /// All its addresses.
    pub fn emails(&self) -> impl Iterator<Item = &Email> {
        self.email.iter().chain(self.next.as_ref().map(|next| &next.email))
    }
}

impl Artists {
    /// Returns whose a mail address is at `now` (Unix seconds). One read.
    pub async fn find_by_email(&self, email: &Email, now: u64) -> Result<EmailOwner, StoreError> {
        let row: Option<EmailRow> = self.0.get(&rows::artist_by_email(email)).await?;
        let row = row.filter(|row| row.expires_at.is_none_or(|end| end > now));
        Ok(row.map_or(EmailOwner::Nobody, |row| match row.since {
            Some(since) if since > now => EmailOwner::From(since),
            _ => EmailOwner::Artist(row.artist),
        }))
    }

    /// Creates an artist, in place of an account that is kept for the address; `false` if the address already has one.
    pub async fn create(&self, email: &Email, artist: &Artist, now: u64) -> Result<bool, StoreError> {
        let wallet = Wallet { address: artist.embedded_wallet, r#type: WalletType::Embedded };
        let rows = vec![
            self.email_insertion(email, *artist, None, now)?,
            self.first_profile(artist, vec![wallet], now)?,
            self.0.insertion(&rows::contact(artist.artist_id), &Contact { email: Some(email.clone()), next: None })?,
            self.embedded_insertion(artist)?,
            self.0.deletion(&rows::reserved_artist(email))?,
            Outbox::new(self.0.clone())
                .posting(artist.artist_id, ArtistChange::WalletConnected { wallet: wallet.address })?,
        ];
        self.0.write_together(rows).await
    }

    /// Returns an artist's mail address at `now` (Unix seconds), and what is to take its place. One read.
    pub async fn contact(&self, artist: ArtistId, now: u64) -> Result<Contact, StoreError> {
        let row: Option<Contact> = self.0.get(&rows::contact(artist)).await?;
        Ok(row.map(|contact| contact.at(now)).unwrap_or_default())
    }

    /// Has an address take the place of an artist's, seven days from `now` (Unix seconds): until then, mails go to the
    /// old one, which can stop it. `contact` is what the artist has at `now`; the `proofs` use up what proves the
    /// change, and fail where that no longer counts. A read and a transaction.
    pub(in crate::store) async fn change_email(
        &self,
        artist: Artist,
        contact: &Contact,
        email: &Email,
        by: Option<ChangedBy>,
        proofs: Vec<TransactWriteItem>,
        now: u64,
    ) -> Result<Result<NextEmail, ContactRefusal>, StoreError> {
        if contact.next.is_some() {
            return Ok(Err(ContactRefusal::Changing));
        }
        if self.find_by_email(email, now).await? != EmailOwner::Nobody {
            return Ok(Err(ContactRefusal::Taken));
        }
        let next = NextEmail { email: email.clone(), from: now + CHANGES_AFTER, by };
        let mut writes = vec![self.email_insertion(email, artist, Some(next.from), now)?];
        if let Some(old) = &contact.email {
            let until = self.email_update(old).update_expression("SET expires_at = :end");
            let until = until.condition_expression("artist_id = :artist");
            let until = until.expression_attribute_values(":artist", text(artist.artist_id));
            writes.push(updating(until.expression_attribute_values(":end", number(next.from)))?);
        }
        let changed = Contact { email: contact.email.clone(), next: Some(next.clone()) };
        let put = Put::builder()
            .table_name(&self.0.name)
            .set_item(Some(row(&rows::contact(artist.artist_id), &changed)?))
            .condition_expression("attribute_not_exists(#next) OR #next.#from <= :now")
            .expression_attribute_names("#next", "next")
            .expression_attribute_names("#from", "from")
            .expression_attribute_values(":now", number(now));
        let of_contact = writes.len();
        writes.push(TransactWriteItem::builder().put(put.build()?).build());
        writes.extend(proofs);
        let Err(failed) = self.0.write_or_failed(writes).await? else { return Ok(Ok(next)) };
        let unproved = failed.iter().find_map(|place| place.checked_sub(of_contact + 1));
        Ok(Err(match unproved {
            _ if failed.contains(&of_contact) => ContactRefusal::Changing,
            _ if failed.contains(&0) => ContactRefusal::Taken,
            Some(proof) => ContactRefusal::Unproved(proof),
            None => ContactRefusal::Changing,
        }))
    }

    /// Stops the change of the mail address that is under way; fails its transaction if it no longer is.
    pub(in crate::store) fn keeping_email(
        &self,
        artist: ArtistId,
        present: Option<&Email>,
        next: &NextEmail,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let mut writes = vec![self.email_deletion(&next.email, artist)?];
        if let Some(old) = present {
            // The end that the change gave it tells that it is the artist's still: no role may name its owner for that.
            let stays = self.email_update(old).update_expression("REMOVE expires_at");
            let stays = stays.condition_expression("expires_at = :from");
            writes.push(updating(stays.expression_attribute_values(":from", number(next.from)))?);
        }
        let unchanged = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::contact(artist).item()))
            .update_expression("REMOVE #next")
            .condition_expression("#next.#from = :from")
            .expression_attribute_names("#next", "next")
            .expression_attribute_names("#from", "from")
            .expression_attribute_values(":from", number(next.from));
        writes.push(updating(unchanged)?);
        Ok(writes)
    }

    /// Fails its transaction if another change of the mail address is under way at `now` (Unix seconds) than in `loaded`.
    fn same_email_change(&self, artist: ArtistId, loaded: &Contact, now: u64) -> Result<TransactWriteItem, StoreError> {
        let check = ConditionCheck::builder()
            .table_name(&self.0.name)
            .set_key(Some(rows::contact(artist).item()))
            .expression_attribute_names("#next", "next")
            .expression_attribute_names("#from", "from");
        let check = match &loaded.next {
            Some(next) => check
                .condition_expression("#next.#from = :from")
                .expression_attribute_values(":from", number(next.from)),
            None => check
                .condition_expression("attribute_not_exists(#next) OR #next.#from <= :now")
                .expression_attribute_values(":now", number(now)),
        };
        Ok(TransactWriteItem::builder().condition_check(check.build()?).build())
    }

    /// What stops a change that this wallet or passkey asked for, which is removed; else, what fails the transaction of its
    /// removal if such a change was faster. One read.
    pub(in crate::store) async fn without_change_by(
        &self,
        artist: ArtistId,
        removed: &ChangedBy,
        now: u64,
    ) -> Result<Vec<TransactWriteItem>, StoreError> {
        let contact = self.contact(artist, now).await?;
        match contact.next.as_ref().filter(|next| next.by.as_ref() == Some(removed)) {
            Some(next) => self.keeping_email(artist, contact.email.as_ref(), next),
            None => Ok(vec![self.same_email_change(artist, &contact, now)?]),
        }
    }

    /// A row that says whose an address is; refused while it is anybody's.
    pub(super) fn email_insertion(
        &self,
        email: &Email,
        artist: Artist,
        since: Option<u64>,
        now: u64,
    ) -> Result<TransactWriteItem, StoreError> {
        let fields = EmailRow { artist, since, expires_at: None };
        let put = Put::builder()
            .table_name(&self.0.name)
            .set_item(Some(row(&rows::artist_by_email(email), &fields)?))
            .condition_expression("attribute_not_exists(pk) OR expires_at <= :now")
            .expression_attribute_values(":now", number(now));
        Ok(TransactWriteItem::builder().put(put.build()?).build())
    }

    fn email_update(&self, email: &Email) -> aws_sdk_dynamodb::types::builders::UpdateBuilder {
        Update::builder().table_name(&self.0.name).set_key(Some(rows::artist_by_email(email).item()))
    }

    /// Deletes the row that says that an address is the artist's.
    pub(in crate::store) fn email_deletion(
        &self,
        email: &Email,
        artist: ArtistId,
    ) -> Result<TransactWriteItem, StoreError> {
        self.deletion_of(&rows::artist_by_email(email), artist)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::table::Item;

    #[test]
    fn change_comes_back_from_its_row_and_one_by_a_code_is_as_before() {
        let email: Email = "ada@example.com".parse().unwrap();
        let wallet: Address = "0x540c18b7f99b3b599c6feb99964498931c211858".parse().unwrap();
        for by in [None, Some(ChangedBy::Wallet(wallet)), Some(ChangedBy::Passkey(PasskeyId::of(b"one")))] {
            let next = NextEmail { email: email.clone(), from: 7, by: by.clone() };
            let contact = Contact { email: None, next: Some(next) };
            let item: Item = serde_dynamo::to_item(&contact).unwrap();
            assert_eq!(item["next"].as_m().unwrap().contains_key("by"), by.is_some());
            assert_eq!(serde_dynamo::from_item::<_, Contact>(item).unwrap(), contact);
        }
    }
}
