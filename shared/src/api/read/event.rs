use serde::{Serialize, Serializer};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, Ref, RefOr, Schema, Type, schema::OneOfBuilder},
};

use crate::{
    clock::iso_8601,
    model::{ChainId, EventData, EventId, EventKind, LogName},
    store::engine::NumberedEvent,
};

/// An event with the attributes of CloudEvents 1.0 (<https://github.com/cloudevents/spec>).
#[derive(Debug, Serialize)]
pub struct EventView {
    specversion: &'static str,
    id: EventId,
    source: String,
    r#type: String,
    time: String,
    subject: String,
    sequence: String,
    dataversion: &'static str,
    #[serde(serialize_with = "content")]
    data: EventData,
}

fn content<S: Serializer>(data: &EventData, serializer: S) -> Result<S::Ok, S::Error> {
    data.serialize_content(serializer)
}

impl EventView {
    /// Shows an event of a log. Fails for a time beyond the year 9999.
    pub fn of(log: LogName, numbered: NumberedEvent) -> Result<Self, time::Error> {
        let NumberedEvent { number, event } = numbered;
        Ok(Self {
            specversion: "1.0",
            id: event.id,
            source: match log {
                LogName::Chain(ChainId(chain)) => format!("/chains/{chain}"),
                LogName::Service => "/service".to_owned(),
            },
            r#type: event.r#type(),
            time: iso_8601(event.time)?,
            subject: event.about().to_string(),
            sequence: format!("{number:020}"),
            dataversion: "1",
            data: event.data,
        })
    }

    /// Schema of one kind of events, and of its data.
    pub fn schema_of(kind: EventKind, schemas: &mut Vec<(String, RefOr<Schema>)>) {
        let text = |description: &str, example: &str| {
            ObjectBuilder::new().schema_type(Type::String).description(Some(description)).examples([example])
        };
        let types = [kind.word().to_owned(), format!("{}.reverted", kind.word())];
        let data = kind.data_schemas(schemas);
        let parts: [(&str, RefOr<Schema>); 8] = [
            ("specversion", text("Version of CloudEvents.", "1.0").pattern(Some("^1\\.0$")).into()),
            ("id", EventId::schema()),
            ("source", text("The log: of a chain, or the service's own.", "/chains/8453").into()),
            (
                "type",
                text("With `.reverted` it takes the event with this id back.", &types[0])
                    .enum_values(Some(types.clone()))
                    .into(),
            ),
            ("time", text("ISO 8601. When it happened, or was taken back.", "2026-11-21T09:30:00Z").into()),
            (
                "subject",
                text(
                    "What it is about: CAIP-19 for what is on a chain, else a path of the service.",
                    "eip155:8453/erc1155:0x540c18b7f99b3b599c6feb99964498931c211858/1",
                )
                .into(),
            ),
            (
                "sequence",
                text("Number of the event in its log.", "00000000000000001207").pattern(Some("^[0-9]{20}$")).into(),
            ),
            ("dataversion", text("Version of the form of `data`.", "1").pattern(Some("^[0-9]+$")).into()),
        ];
        let object = ObjectBuilder::new().schema_type(Type::Object).description(Some(kind.says()));
        let object =
            parts.into_iter().fold(object, |object, (name, schema)| object.property(name, schema).required(name));
        let object = object.property("data", Ref::from_schema_name(data)).required("data");
        schemas.push((kind.name().to_owned(), object.into()));
    }
}

impl ToSchema for EventView {
    fn name() -> std::borrow::Cow<'static, str> {
        "Event".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        for kind in EventKind::ALL {
            Self::schema_of(*kind, schemas);
        }
    }
}

impl PartialSchema for EventView {
    fn schema() -> RefOr<Schema> {
        let kinds = EventKind::ALL.iter().map(|kind| Ref::from_schema_name(kind.name()));
        kinds.fold(OneOfBuilder::new(), OneOfBuilder::item).into()
    }
}
