//! Previous images of rows, packed into the journal's rows.

use aws_sdk_dynamodb::types::AttributeValue;

use super::unit_of_work::Change;
use crate::store::table::{Item, PrimaryKey, StoreError};

/// Approximate bytes of images per journal row; DynamoDB's limit is 400 KB per row.
const CHUNK_BYTES: usize = 150_000;

// Attributes of a journal row and of its images.
const IMAGES: &str = "images";
const KEY: &str = "key";
const BEFORE: &str = "before";

/// A row as it was before a batch.
pub(super) struct Image {
    pub(super) key: PrimaryKey,
    pub(super) before: Option<Item>,
}

impl Image {
    fn value(self) -> AttributeValue {
        let key = self.key.item();
        // The row's own key is stored once.
        let fields = |item: Item| item.into_iter().filter(|(name, _)| !key.contains_key(name)).collect();
        let before = self.before.map_or(AttributeValue::Null(true), |item| AttributeValue::M(fields(item)));
        AttributeValue::M(Item::from([(KEY.to_owned(), AttributeValue::M(key)), (BEFORE.to_owned(), before)]))
    }

    fn of(value: AttributeValue) -> Option<Self> {
        let AttributeValue::M(mut fields) = value else { return None };
        let AttributeValue::M(key) = fields.remove(KEY)? else { return None };
        let before = match fields.remove(BEFORE)? {
            AttributeValue::M(item) => Some(item.into_iter().chain(key.clone()).collect()),
            _ => None,
        };
        Some(Self { key: serde_dynamo::from_item(key).ok()?, before })
    }
}

/// Packs images of the changed rows; not of new ones, which are overwritten when they come again.
pub(super) fn packed(changes: &[Change], come_again: bool) -> Vec<Vec<Image>> {
    let mut chunks: Vec<Vec<Image>> = Vec::new();
    let mut room = 0;
    for change in changes.iter().filter(|change| !(come_again && change.is_new)) {
        let image = Image { key: change.key.clone(), before: change.before.as_deref().cloned() };
        let size = change.bytes();
        match chunks.last_mut() {
            Some(chunk) if size <= room => chunk.push(image),
            _ => {
                chunks.push(vec![image]);
                room = CHUNK_BYTES;
            }
        }
        room = room.saturating_sub(size);
    }
    chunks
}

/// The images as an attribute of a row.
pub(super) fn images_field(images: impl IntoIterator<Item = Image>) -> Item {
    Item::from([(IMAGES.to_owned(), AttributeValue::L(images.into_iter().map(Image::value).collect()))])
}

pub(super) fn images_of(mut chunk: Item) -> Result<Vec<Image>, StoreError> {
    let images = match chunk.remove(IMAGES) {
        Some(AttributeValue::L(images)) => images.into_iter().map(Image::of).collect(),
        _ => None,
    };
    images.ok_or_else(|| serde::de::Error::custom("no images")).map_err(StoreError::Row)
}
