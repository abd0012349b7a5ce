//! Comments, in the table of what the chain can rebuild.
//!
//! - `pk = COMMENTS#<moment>`: a moment's top-level comments, a numbered list in the order of the chain;
//! - `pk = REPLIES#<moment>#<parent's comment id>`: the direct replies to a comment, likewise;
//! - `pk = COMMENT#<chain>#<comment id, or row id without one>`, `sk = PLACE`: where a comment's row is. A comment that
//!   has one is known already.
//!
//! A comment's row carries its first replies, which never change once there are three: a page with its previews is
//! one Query.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::{
    Key, StoreError, Table, Unit,
    numbered::{NumberedList, Page, length_key, row_key},
};
use crate::model::{ChainId, Comment, CommentId, MomentRef};

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
    /// Sparks that it was made with.
    pub sparks: u64,
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

#[derive(Serialize, Deserialize)]
struct PlaceRow {
    place: Key,
}

/// A comment's row, with what isn't shown.
#[derive(Serialize, Deserialize)]
struct CommentRow {
    #[serde(flatten)]
    listed: ListedComment,
    /// How many were given to it.
    sparks: u64,
}

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

    /// How many top-level comments moments have; those without any are left out. One read for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn counts(&self, moments: &[MomentRef]) -> Result<HashMap<MomentRef, u64>, StoreError> {
        let lists = moments.iter().map(|moment| (top_level_partition(moment), *moment));
        self.0.list_lengths(&lists.collect()).await
    }

    fn top_level_list(&self, moment: &MomentRef) -> NumberedList<'_> {
        NumberedList { table: &self.0, partition: top_level_partition(moment) }
    }

    fn reply_list(&self, moment: &MomentRef, parent: CommentId) -> NumberedList<'_> {
        NumberedList { table: &self.0, partition: reply_partition(moment, parent) }
    }
}

impl Unit {
    /// Adds a comment at the end of its list, counts it with its parent and shows it in the parent's preview. A comment
    /// that is known already changes nothing.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_comment(&mut self, new: &NewComment) -> Result<(), StoreError> {
        let NewComment { moment, comment, sparks } = new;
        let place_key = new.place_key();
        if self.get::<PlaceRow>(&place_key).await?.is_some() {
            return Ok(());
        }
        let partition = match comment.reply_to_id {
            None => top_level_partition(moment),
            Some(parent) => reply_partition(moment, parent),
        };
        let listed = ListedComment { comment: comment.clone(), reply_count: 0, replies: Vec::new() };
        let number = self.append(&partition, &CommentRow { listed, sparks: *sparks }).await?;
        self.put(&place_key, &PlaceRow { place: row_key(&partition, number) })?;
        self.add_name(moment.chain, comment.sender, &new.id())?;
        // Without a row of its own, a parent from before the first block that is read has nothing to count on.
        let Some(parent) = comment.reply_to_id else { return Ok(()) };
        self.change_comment(moment.chain, parent, |row| {
            row.listed.reply_count = number + 1;
            if number < MAX_PREVIEWS {
                row.listed.replies.push(comment.clone());
            }
        })
        .await
    }

    /// Counts sparks given to a comment; one that isn't known changes nothing.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn add_sparks(&mut self, chain: ChainId, comment: CommentId, quantity: u64) -> Result<(), StoreError> {
        self.change_comment(chain, comment, |row| row.sparks = row.sparks.saturating_add(quantity)).await
    }

    /// Shows another name for a comment's sender, in the comment itself and in its parent's preview. `comment` is its
    /// id, or that of its row without one.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn rename_commenter(&mut self, chain: ChainId, comment: &str, name: &str) -> Result<(), StoreError> {
        let Some(PlaceRow { place }) = self.get(&place_key(chain, comment)).await? else { return Ok(()) };
        let Some(mut row) = self.get::<CommentRow>(&place).await? else { return Ok(()) };
        let renamed = &mut row.listed.comment;
        name.clone_into(&mut renamed.username);
        let (id, parent) = (renamed.id, renamed.reply_to_id);
        self.put(&place, &row)?;
        let Some(parent) = parent else { return Ok(()) };
        self.change_comment(chain, parent, |row| {
            for preview in row.listed.replies.iter_mut().filter(|reply| reply.id == id) {
                name.clone_into(&mut preview.username);
            }
        })
        .await
    }

    /// Rows that renaming the sender of these comments reads first.
    pub fn place_keys<'a>(chain: ChainId, comments: impl Iterator<Item = &'a str>) -> impl Iterator<Item = Key> {
        comments.map(move |comment| place_key(chain, comment))
    }

    async fn change_comment(
        &mut self,
        chain: ChainId,
        comment: CommentId,
        change: impl FnOnce(&mut CommentRow),
    ) -> Result<(), StoreError> {
        let Some(PlaceRow { place }) = self.get(&place_key(chain, comment)).await? else { return Ok(()) };
        let Some(mut row) = self.get(&place).await? else { return Ok(()) };
        change(&mut row);
        self.put(&place, &row)
    }
}

impl NewComment {
    /// Rows that adding it reads.
    pub fn keys(&self) -> impl Iterator<Item = Key> {
        let list = match self.comment.reply_to_id {
            None => top_level_partition(&self.moment),
            Some(parent) => reply_partition(&self.moment, parent),
        };
        let parent = self.comment.reply_to_id.map(|parent| place_key(self.moment.chain, parent));
        [self.place_key(), length_key(&list)].into_iter().chain(parent)
    }

    fn place_key(&self) -> Key {
        place_key(self.moment.chain, self.id())
    }

    /// Its id, or that of its row without one.
    fn id(&self) -> String {
        self.comment.comment_id.map_or_else(|| self.comment.id.to_string(), |id| id.to_string())
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

fn top_level_partition(moment: &MomentRef) -> String {
    format!("COMMENTS#{moment}")
}

fn reply_partition(moment: &MomentRef, parent: CommentId) -> String {
    format!("REPLIES#{moment}#{parent}")
}
