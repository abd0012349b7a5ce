use serde::Serialize;
use serde_json::Value;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, Type, schema::SchemaType},
};

use super::document::Document;
use crate::{
    http::{ApiError, Field, FromField, FromFields},
    model::{Content, Invalid, LongText, MediaType, MetadataUri, Title, WebUrl},
};

/// A metadata document.
#[derive(Clone, Debug, FromFields, ToSchema)]
pub struct MetadataRequest {
    /// Title.
    pub name: Title,
    /// Text.
    pub description: Option<LongText>,
    /// A picture.
    pub image: Option<MetadataUri>,
    /// A video, sound or model.
    pub animation_url: Option<MetadataUri>,
    /// The file that the moment consists of; by default `animation_url` or `image`, if that is stored here.
    #[schema(value_type = Option<MetadataContent>)]
    pub content: Option<Content>,
    /// A page about it.
    pub external_url: Option<WebUrl>,
    /// Traits.
    #[schema(max_items = 100)]
    pub attributes: Option<Vec<MetadataAttribute>>,
}

/// The file that a moment consists of.
#[derive(FromFields, ToSchema)]
pub struct MetadataContent {
    /// Its media type.
    mime: MediaType,
    /// Its URI.
    uri: MetadataUri,
}

/// A trait.
#[derive(Clone, Debug, FromFields, Serialize, ToSchema)]
pub struct MetadataAttribute {
    /// Its name.
    #[serde(serialize_with = "title")]
    trait_type: Title,
    /// Its value.
    value: AttributeValue,
}

/// A text of up to 1000 characters, a number or a boolean.
#[derive(Clone, Debug, Serialize)]
pub struct AttributeValue(Value);

fn title<S: serde::Serializer>(Title(title): &Title, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(title)
}

impl FromField for Content {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let MetadataContent { mime, uri } = field.read()?;
        Some(Self { mime: mime.to_string(), uri: uri.to_string() })
    }
}

impl FromField for AttributeValue {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let value = match field.given()? {
            Value::String(text) if text.chars().count() > 1_000 => Err(Invalid("must have at most 1000 characters")),
            value @ (Value::String(_) | Value::Number(_) | Value::Bool(_)) => Ok(Self(value.clone())),
            _ => Err(Invalid("must be a string, a number or a boolean")),
        };
        field.note(value)
    }
}

impl ToSchema for AttributeValue {}

impl PartialSchema for AttributeValue {
    fn schema() -> RefOr<Schema> {
        let types = SchemaType::from_iter([Type::String, Type::Number, Type::Boolean]);
        let value = ObjectBuilder::new().schema_type(types).max_length(Some(1_000)).examples(["north"]);
        value.description(Some("A text, a number or a boolean.")).into()
    }
}

#[derive(Serialize)]
struct MetadataDocument<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    animation_url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<&'a Content>,
    #[serde(skip_serializing_if = "Option::is_none")]
    external_url: Option<&'a WebUrl>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attributes: Option<&'a [MetadataAttribute]>,
}

impl MetadataRequest {
    /// Metadata with a title alone.
    pub fn titled(name: Title) -> Self {
        Self {
            name,
            description: None,
            image: None,
            animation_url: None,
            content: None,
            external_url: None,
            attributes: None,
        }
    }

    /// The document, always the same for the same fields.
    pub fn document(&self) -> Result<Document, ApiError> {
        let document = MetadataDocument {
            name: &self.name.0,
            description: self.description.as_ref().map(|LongText(text)| text.as_str()),
            image: self.image.as_ref().map(MetadataUri::as_str),
            animation_url: self.animation_url.as_ref().map(MetadataUri::as_str),
            content: self.content.as_ref(),
            external_url: self.external_url.as_ref(),
            attributes: self.attributes.as_deref(),
        };
        Ok(Document { mime: "application/json", content: serde_json::to_vec(&document)? })
    }
}
