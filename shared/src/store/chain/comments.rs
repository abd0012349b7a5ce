//! Comments and replies. Rows: docs/data-model.md, Comments.

use serde::{Deserialize, Serialize};

use super::comment_names::NameReference;
use crate::{
    model::{ChainId, Comment, CommentId, EventId, MomentRef},
    store::{
        chain::rows,
        engine::{
            index::UnitOfWork,
            structures::numbered_list::{NumberedList, Page, length_key, row_key},
            table::{ChainTable, PrimaryKey, StoreError},
        },
    },
};

/// Comments per page, top-level or replies.
pub const PAGE_SIZE: usize = 20;

/// Replies previewed with a top-level comment.
pub const MAX_PREVIEWS: u64 = 3;

/// A comment to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewComment {
    /// The moment.
    pub moment: MomentRef,
    /// The comment.
    pub comment: Comment,
    /// Sparks paid with it.
    pub sparks: u64,
}

/// A comment with a preview of its replies.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedComment {
    /// The comment.
    #[serde(flatten)]
    pub comment: Comment,
    /// Number of direct replies.
    pub reply_count: u64,
    /// First replies, oldest first; they never change once there are [`MAX_PREVIEWS`].
    pub replies: Vec<Comment>,
}

/// A page of comments.
#[derive(Debug)]
pub struct CommentPage {
    /// Comments in the order of the list.
    pub comments: Vec<ListedComment>,
    /// Whether another page follows.
    pub more: bool,
}

/// All comments.
#[derive(Clone)]
pub struct Comments(ChainTable);

#[derive(Serialize, Deserialize)]
struct PlaceRow {
    place: PrimaryKey,
}

#[derive(Serialize, Deserialize)]
struct CommentRow {
    #[serde(flatten)]
    listed: ListedComment,
    sparks: u64,
    /// The text, while the operator hides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    withheld: Option<String>,
}

impl Comments {
    /// Uses the chain table.
    pub fn new(chain: ChainTable) -> Self {
        Self(chain)
    }

    /// Returns a moment's comments, newest first, from `offset` on. One Query; with an offset, one more read.
    pub async fn top_level(&self, moment: &MomentRef, offset: u64) -> Result<CommentPage, StoreError> {
        Ok(self.top_level_list(moment).newest_first(offset, PAGE_SIZE).await?.into())
    }

    /// Returns direct replies, oldest first, from `offset` on. One Query.
    pub async fn replies(&self, moment: &MomentRef, to: CommentId, offset: u64) -> Result<CommentPage, StoreError> {
        Ok(self.reply_list(moment, to).oldest_first(offset, PAGE_SIZE).await?.into())
    }

    /// Returns a comment of the comments protocol. Two reads.
    pub async fn find(&self, chain: ChainId, comment: CommentId) -> Result<Option<Comment>, StoreError> {
        let Some(PlaceRow { place }) = self.0.get(&rows::comment_place(chain, comment)).await? else { return Ok(None) };
        let listed: Option<ListedComment> = self.0.get(&place).await?;
        Ok(listed.map(|listed| listed.comment))
    }

    fn top_level_list(&self, moment: &MomentRef) -> NumberedList<'_> {
        NumberedList { table: &self.0, partition: rows::comments(moment) }
    }

    fn reply_list(&self, moment: &MomentRef, parent: CommentId) -> NumberedList<'_> {
        NumberedList { table: &self.0, partition: rows::replies(moment, parent) }
    }
}

impl UnitOfWork {
    /// Appends a comment to its list and updates its parent's count and preview. A known comment is ignored: `false`.
    pub async fn add_comment(&mut self, new: &NewComment) -> Result<bool, StoreError> {
        let NewComment { moment, comment, sparks } = new;
        let named_key = new.named_key();
        // A comment made while collecting comes once; the protocol's may be backfilled again.
        let may_be_known = comment.comment_id.is_some();
        if may_be_known && self.get::<PlaceRow>(&named_key).await?.is_some() {
            return Ok(false);
        }
        let partition = match comment.reply_to_id {
            None => rows::comments(moment),
            Some(parent) => rows::replies(moment, parent),
        };
        let listed = ListedComment { comment: comment.clone(), reply_count: 0, replies: Vec::new() };
        let number = self.append(&partition, &CommentRow { listed, sparks: *sparks, withheld: None }).await?;
        let place = PlaceRow { place: row_key(&partition, number) };
        match comment.comment_id {
            Some(id) => {
                self.put(&named_key, &place)?;
                self.put(&rows::comment_place(moment.chain, id), &place)?;
            }
            None => self.insert(&named_key, &place)?,
        }
        // A parent from before the first indexed block has no row.
        let Some(parent) = comment.reply_to_id else { return Ok(true) };
        self.change_comment(moment.chain, parent, |row| {
            row.listed.reply_count = number + 1;
            if number < MAX_PREVIEWS {
                row.listed.replies.push(comment.clone());
            }
        })
        .await?;
        Ok(true)
    }

    /// Gives a comment the ids that it has in the comments protocol; `false` if the sender has none with this id.
    pub async fn adopt_comment(&mut self, original: EventId, new: &NewComment) -> Result<bool, StoreError> {
        let NewComment { moment, comment, .. } = new;
        let former_key = rows::named_comment(moment.chain, comment.sender, &original.to_string());
        let Some(PlaceRow { place }) = self.get(&former_key).await? else { return Ok(false) };
        let Some(mut row) = self.get::<CommentRow>(&place).await? else { return Ok(false) };
        let adopted = &mut row.listed.comment;
        (adopted.comment_id, adopted.nonce) = (comment.comment_id, comment.nonce);
        // A rename that is being propagated may be past the new reference and before the former one.
        adopted.username.clone_from(&comment.username);
        self.put(&place, &row)?;
        self.delete(&former_key);
        let place = PlaceRow { place };
        self.put(&new.named_key(), &place)?;
        if let Some(id) = comment.comment_id {
            self.put(&rows::comment_place(moment.chain, id), &place)?;
        }
        Ok(true)
    }

    /// Loads what [`UnitOfWork::rename_commenter`] reads of these comments. One read per 100 rows.
    pub async fn prefetch_commenters(
        &mut self,
        chain: ChainId,
        references: &[NameReference],
    ) -> Result<(), StoreError> {
        let keys = references.iter().map(|reference| rows::named_comment(chain, reference.wallet, &reference.comment));
        let rows = self.prefetch_by_place(keys.collect()).await?;
        let mut parents = Vec::new();
        for row in &rows {
            let parent = self.get::<ListedComment>(row).await?.and_then(|listed| listed.comment.reply_to_id);
            parents.extend(parent.map(|parent| rows::comment_place(chain, parent)));
        }
        self.prefetch_by_place(parents).await.map(drop)
    }

    /// Loads rows that lead to comments, and the comments. Returns the latter's keys.
    async fn prefetch_by_place(&mut self, keys: Vec<PrimaryKey>) -> Result<Vec<PrimaryKey>, StoreError> {
        self.prefetch(keys.clone()).await?;
        let mut rows = Vec::new();
        for key in &keys {
            rows.extend(self.get::<PlaceRow>(key).await?.map(|row| row.place));
        }
        self.prefetch(rows.clone()).await?;
        Ok(rows)
    }

    /// Adds sparks to a comment; an unknown comment is ignored.
    pub async fn add_sparks(&mut self, chain: ChainId, comment: CommentId, quantity: u64) -> Result<(), StoreError> {
        self.change_comment(chain, comment, |row| row.sparks = row.sparks.saturating_add(quantity)).await
    }

    /// Changes the username in a comment and in its parent's preview.
    pub async fn rename_commenter(
        &mut self,
        chain: ChainId,
        reference: &NameReference,
        name: &str,
    ) -> Result<(), StoreError> {
        let key = rows::named_comment(chain, reference.wallet, &reference.comment);
        let Some(PlaceRow { place }) = self.get(&key).await? else { return Ok(()) };
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

    /// Takes a comment's text out of its list and its parent's preview, or puts it back. The comment keeps its place.
    pub async fn withhold_comment(
        &mut self,
        chain: ChainId,
        comment: CommentId,
        is_withheld: bool,
    ) -> Result<(), StoreError> {
        let mut changed = None;
        self.change_comment(chain, comment, |row| {
            let text = &mut row.listed.comment.comment;
            match row.withheld.take() {
                Some(kept) if is_withheld => row.withheld = Some(kept),
                Some(kept) => *text = kept,
                None if is_withheld => row.withheld = Some(std::mem::take(text)),
                None => {}
            }
            changed = Some(row.listed.comment.clone());
        })
        .await?;
        let Some(Comment { id, comment: text, reply_to_id: Some(parent), .. }) = changed else { return Ok(()) };
        self.change_comment(chain, parent, |row| {
            for preview in row.listed.replies.iter_mut().filter(|reply| reply.id == id) {
                preview.comment.clone_from(&text);
            }
        })
        .await
    }

    async fn change_comment(
        &mut self,
        chain: ChainId,
        comment: CommentId,
        change: impl FnOnce(&mut CommentRow),
    ) -> Result<(), StoreError> {
        let Some(PlaceRow { place }) = self.get(&rows::comment_place(chain, comment)).await? else { return Ok(()) };
        let Some(mut row) = self.get(&place).await? else { return Ok(()) };
        change(&mut row);
        self.put(&place, &row)
    }
}

impl NewComment {
    /// Keys that adding it reads, for prefetching.
    pub fn keys(&self) -> impl Iterator<Item = PrimaryKey> {
        let list = match self.comment.reply_to_id {
            None => rows::comments(&self.moment),
            Some(parent) => rows::replies(&self.moment, parent),
        };
        let parent = self.comment.reply_to_id.map(|parent| rows::comment_place(self.moment.chain, parent));
        let named = self.comment.comment_id.map(|_| self.named_key());
        [length_key(&list)].into_iter().chain(named).chain(parent)
    }

    /// Key of the reference to its sender's name. It leads to the comment too.
    fn named_key(&self) -> PrimaryKey {
        let Comment { id, comment_id, sender, .. } = &self.comment;
        let id = comment_id.map_or_else(|| id.to_string(), |id| id.to_string());
        rows::named_comment(self.moment.chain, *sender, &id)
    }
}

impl From<Page<ListedComment>> for CommentPage {
    fn from(page: Page<ListedComment>) -> Self {
        Self { comments: page.rows, more: page.more }
    }
}

pub(in crate::store) fn comment_count_key(moment: &MomentRef) -> PrimaryKey {
    length_key(&rows::comments(moment))
}
