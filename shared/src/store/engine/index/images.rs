//! Previous images of rows, packed into the journal's rows.

use std::collections::BTreeMap;

use alloy::hex;
use aws_sdk_dynamodb::{primitives::Blob, types::AttributeValue};
use serde::{Deserialize, Serialize};

use super::unit_of_work::Change;
use crate::store::engine::{
    event_segments::{deflated, inflated, malformed},
    table::{Item, PrimaryKey, StoreError},
};

/// Approximate bytes of images per journal row; DynamoDB's limit is 400 KB per row.
const CHUNK_BYTES: usize = 150_000;

const IMAGES: &str = "images";

/// A row as it was before a batch.
pub(super) struct Image {
    pub(super) key: PrimaryKey,
    pub(super) before: Option<Item>,
}

/// An image as it is stored: `before` without the key, the values with their types.
#[derive(Serialize, Deserialize)]
struct Stored {
    key: PrimaryKey,
    before: Option<BTreeMap<String, Typed>>,
}

#[derive(Serialize, Deserialize)]
enum Typed {
    S(String),
    N(String),
    B(String),
    Bool(bool),
    Null,
    L(Vec<Self>),
    M(BTreeMap<String, Self>),
}

impl Typed {
    fn of(value: AttributeValue) -> Result<Self, StoreError> {
        Ok(match value {
            AttributeValue::S(text) => Self::S(text),
            AttributeValue::N(number) => Self::N(number),
            AttributeValue::B(blob) => Self::B(hex::encode(blob)),
            AttributeValue::Bool(flag) => Self::Bool(flag),
            AttributeValue::Null(_) => Self::Null,
            AttributeValue::L(values) => Self::L(values.into_iter().map(Self::of).collect::<Result<_, _>>()?),
            AttributeValue::M(item) => Self::M(fields(item)?),
            _ => return Err(malformed("an image of a set")),
        })
    }

    fn value(self) -> Result<AttributeValue, StoreError> {
        Ok(match self {
            Self::S(text) => AttributeValue::S(text),
            Self::N(number) => AttributeValue::N(number),
            Self::B(blob) => AttributeValue::B(Blob::new(hex::decode(blob).map_err(malformed)?)),
            Self::Bool(flag) => AttributeValue::Bool(flag),
            Self::Null => AttributeValue::Null(true),
            Self::L(values) => AttributeValue::L(values.into_iter().map(Self::value).collect::<Result<_, _>>()?),
            Self::M(fields) => AttributeValue::M(item(fields)?),
        })
    }
}

impl Image {
    fn stored(self) -> Result<Stored, StoreError> {
        let Self { key, before } = self;
        let before = before.map(|item| fields(item.into_iter().filter(|(name, _)| name != "pk" && name != "sk")));
        Ok(Stored { key, before: before.transpose()? })
    }

    fn of(Stored { key, before }: Stored) -> Result<Self, StoreError> {
        let before = before.map(item).transpose()?;
        Ok(Self { before: before.map(|item| item.into_iter().chain(key.item()).collect()), key })
    }
}

fn fields(item: impl IntoIterator<Item = (String, AttributeValue)>) -> Result<BTreeMap<String, Typed>, StoreError> {
    item.into_iter().map(|(name, value)| Ok((name, Typed::of(value)?))).collect()
}

fn item(fields: BTreeMap<String, Typed>) -> Result<Item, StoreError> {
    fields.into_iter().map(|(name, value)| Ok((name, value.value()?))).collect()
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

/// The images as an attribute of a row, packed.
pub(super) fn images_field(images: impl IntoIterator<Item = Image>) -> Result<Item, StoreError> {
    let stored = images.into_iter().map(Image::stored).collect::<Result<Vec<_>, _>>()?;
    let json = serde_json::to_string(&stored).map_err(malformed)?;
    Ok(Item::from([(IMAGES.to_owned(), AttributeValue::B(Blob::new(deflated(&json)?)))]))
}

pub(super) fn images_of(mut chunk: Item) -> Result<Vec<Image>, StoreError> {
    let Some(AttributeValue::B(packed)) = chunk.remove(IMAGES) else {
        return Err(malformed("no images"));
    };
    inflated::<Vec<Stored>>(packed.as_ref())?.into_iter().map(Image::of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_read_as_they_were_packed() {
        let values = [
            AttributeValue::S("text".to_owned()),
            AttributeValue::N("115792089237316195423570985008687907853269984665640564039457".to_owned()),
            AttributeValue::B(Blob::new([0, 255])),
            AttributeValue::Bool(true),
            AttributeValue::Null(true),
        ];
        let inner = Item::from([("list".to_owned(), AttributeValue::L(values.to_vec()))]);
        let key = |sk: &str| serde_json::from_value::<PrimaryKey>(serde_json::json!({"pk": "list", "sk": sk})).unwrap();
        let fields = Item::from([("map".to_owned(), AttributeValue::M(inner))]);
        let before: Item = key("1").item().into_iter().chain(fields).collect();
        let images = [(key("1"), Some(before)), (key("2"), None)];
        let packed = images_field(images.clone().map(|(key, before)| Image { key, before })).unwrap();
        let read = images_of(packed).unwrap().into_iter().map(|image| (image.key, image.before));
        assert_eq!(read.collect::<Vec<_>>(), images);
    }
}
