//! Comments, in the table of what the chain can rebuild.
//!
//! - `pk = COMMENTS#<moment>`: a moment's top-level comments, a numbered list in the order of the chain;
//! - `pk = REPLIES#<moment>#<parent's comment id>`: the direct replies to a comment, likewise;
//! - `pk = COMMENT#<chain>#<comment id, or row id without one>`, `sk = PLACE`: where a comment's row is. A comment that
//!   has one is known already, which is what makes indexing it again harmless;
//! - `pk = SPARK#<event>`, `sk = SPARK`: a spark that is counted already.
//!
//! A comment's row carries its first replies, which never change once there are three: a page with its previews is
//! one Query.

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem, Update};
use serde::{Deserialize, Serialize};

use super::{
    Key, StoreError, Table, number,
    numbered::{NumberedList, Page},
};
use crate::model::{ChainId, Comment, CommentId, EventId, MomentRef};

/// Comments in one answer, top-level or replies.
pub const PAGE_SIZE: usize = 20;

/// Replies shown with a top-level comment.
pub const MAX_PREVIEWS: u64 = 3;

/// A comment that the chain holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewComment {
    /// What it is about.
    pub moment: MomentRef,
    /// The comment.
    pub comment: Comment,
}

/// A comment with what stands under it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedComment {
    /// The comment.
    #[serde(flatten)]
    pub comment: Comment,
    /// How many direct replies it has.
    pub reply_count: u64,
    /// The first of them, oldest first.
    pub replies: Vec<Comment>,
}

/// Some comments of a list.
#[derive(Debug)]
pub struct CommentPage {
    /// The comments, in the list's order.
    pub comments: Vec<ListedComment>,
    /// Whether more follow.
    pub more: bool,
}

/// All comments.
#[derive(Clone)]
pub struct Comments(Table);

/// Either row that writing a comment depends on, told apart by its key.
#[derive(Deserialize)]
struct KnownRow {
    #[serde(flatten)]
    key: Key,
    place: Option<Key>,
    length: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct PlaceRow {
    place: Key,
}

#[derive(Serialize)]
struct SparkRow {}

impl Comments {
    /// The comments in the chain's table.
    pub fn new(chain: Table) -> Self {
        Self(chain)
    }

    /// A moment's top-level comments, newest first, from the `offset`th on.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn top_level(&self, moment: &MomentRef, offset: u64) -> Result<CommentPage, StoreError> {
        Ok(self.top_level_list(moment).newest_first(offset, PAGE_SIZE).await?.into())
    }

    /// The direct replies to a comment on this moment, oldest first, from the `offset`th on. One Query.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn replies(&self, moment: &MomentRef, to: CommentId, offset: u64) -> Result<CommentPage, StoreError> {
        Ok(self.reply_list(moment, to).oldest_first(offset, PAGE_SIZE).await?.into())
    }

    /// A comment of the comments protocol. Two reads.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn find(&self, chain: ChainId, comment: CommentId) -> Result<Option<Comment>, StoreError> {
        let Some(PlaceRow { place }) = self.0.get(&place_key(chain, comment)).await? else { return Ok(None) };
        let listed: Option<ListedComment> = self.0.get(&place).await?;
        Ok(listed.map(|listed| listed.comment))
    }

    /// Adds a comment at the end of its list, counts it with its parent and shows it in the parent's preview, all at
    /// once; a comment that is known already changes nothing. Comments must come in the order of the chain. One read
    /// and one transaction.
    ///
    /// # Errors
    /// When storage fails, or others keep adding to the same list.
    pub async fn add(&self, new: &NewComment) -> Result<(), StoreError> {
        const ATTEMPTS: usize = 5;
        for _ in 0..ATTEMPTS {
            let Some(writes) = self.writes_to_add(new).await? else { return Ok(()) };
            if self.0.write_together(writes).await? {
                return Ok(());
            }
        }
        Err(StoreError::Contention("comments"))
    }

    /// Counts sparks given to a comment; an event that is counted already, or a comment that isn't known, changes
    /// nothing.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_sparks(
        &self,
        chain: ChainId,
        comment: CommentId,
        event: EventId,
        quantity: u64,
    ) -> Result<(), StoreError> {
        let Some(PlaceRow { place }) = self.0.get(&place_key(chain, comment)).await? else { return Ok(()) };
        let count = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(place.item()))
            .update_expression("ADD sparks :quantity")
            .expression_attribute_values(":quantity", number(quantity));
        let known = self.0.insertion(&Key::new(format!("SPARK#{event}"), "SPARK"), &SparkRow {})?;
        self.0.write_together(vec![known, TransactWriteItem::builder().update(count.build()?).build()]).await?;
        Ok(())
    }

    /// What to write for a comment; `None` when it is known already.
    async fn writes_to_add(&self, new: &NewComment) -> Result<Option<Vec<TransactWriteItem>>, StoreError> {
        let NewComment { moment, comment } = new;
        let list = match comment.reply_to_id {
            None => self.top_level_list(moment),
            Some(parent) => self.reply_list(moment, parent),
        };
        let place = match comment.comment_id {
            Some(id) => place_key(moment.chain, id),
            None => place_key(moment.chain, comment.id),
        };
        let parent_place = comment.reply_to_id.map(|parent| place_key(moment.chain, parent));

        let keys = [Some(place.clone()), Some(list.length_key()), parent_place.clone()].into_iter().flatten();
        let known: Vec<KnownRow> = self.0.get_many(keys).await?;
        let find = |key: &Key| known.iter().find(|row| row.key == *key);
        if find(&place).is_some() {
            return Ok(None);
        }
        let length = find(&list.length_key()).and_then(|row| row.length).unwrap_or(0);

        let listed = ListedComment { comment: comment.clone(), reply_count: 0, replies: Vec::new() };
        let mut writes = Vec::from(list.append(length, &listed)?);
        writes.push(self.0.insertion(&place, &PlaceRow { place: list.row_key(length) })?);
        // Without a row of its own, a parent from before the first block that is read has nothing to count on.
        if let Some(parent) = parent_place.and_then(|key| find(&key)).and_then(|row| row.place.as_ref()) {
            writes.push(self.count_reply(parent, length, comment)?);
        }
        Ok(Some(writes))
    }

    /// The write that counts reply number `number_before` with its parent, and shows it there while there is room.
    fn count_reply(&self, parent: &Key, number_before: u64, reply: &Comment) -> Result<TransactWriteItem, StoreError> {
        let count = Update::builder()
            .table_name(&self.0.name)
            .set_key(Some(parent.item()))
            .condition_expression("reply_count = :before")
            .expression_attribute_values(":before", number(number_before))
            .expression_attribute_values(":after", number(number_before + 1));
        let count = if number_before < MAX_PREVIEWS {
            let preview = AttributeValue::L(vec![serde_dynamo::to_attribute_value(reply)?]);
            count
                .update_expression("SET reply_count = :after, replies = list_append(replies, :preview)")
                .expression_attribute_values(":preview", preview)
        } else {
            count.update_expression("SET reply_count = :after")
        };
        Ok(TransactWriteItem::builder().update(count.build()?).build())
    }

    fn top_level_list(&self, moment: &MomentRef) -> NumberedList<'_> {
        NumberedList { table: &self.0, partition: format!("COMMENTS#{moment}") }
    }

    fn reply_list(&self, moment: &MomentRef, parent: CommentId) -> NumberedList<'_> {
        NumberedList { table: &self.0, partition: format!("REPLIES#{moment}#{parent}") }
    }
}

impl From<Page<ListedComment>> for CommentPage {
    fn from(page: Page<ListedComment>) -> Self {
        Self { comments: page.rows, more: page.more }
    }
}

fn place_key(chain: ChainId, comment: impl std::fmt::Display) -> Key {
    Key::new(format!("COMMENT#{chain}#{comment}"), "PLACE")
}
