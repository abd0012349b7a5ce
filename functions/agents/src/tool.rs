//! What a tool is.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as Description, ToolAnnotations};
use serde_json::{Map, Value, json};
use shared::http::{AnyChain, FromFields, Input};
use utoipa::{PartialSchema, ToSchema};

use crate::service::{Refusal, Service};

/// What a tool does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    Reads,
    /// Something that can be changed again.
    Changes,
    /// Something that can't be undone, or that costs money.
    Spends,
}

/// Something that an agent can do; the type is what it takes.
pub trait Tool: FromFields + ToSchema + PartialSchema {
    /// Its name.
    const NAME: &str;
    /// Its name for people.
    const TITLE: &str;
    /// What it does and when to use it.
    const ABOUT: &str;
    /// What it does to the world.
    const EFFECT: Effect;

    /// Does it.
    fn run(self, service: &Service) -> impl Future<Output = Result<Value, Refusal>> + Send;
}

/// How agents see a tool.
pub fn description<T: Tool>() -> Description {
    let annotations = ToolAnnotations::with_title(T::TITLE)
        .read_only(T::EFFECT == Effect::Reads)
        .destructive(T::EFFECT == Effect::Spends)
        .idempotent(T::EFFECT == Effect::Reads)
        .open_world(true);
    Description::new(T::NAME, T::ABOUT, Arc::new(schema::<T>())).with_title(T::TITLE).with_annotations(annotations)
}

/// Reads what an agent sent, and does it.
pub async fn call<T: Tool>(arguments: Map<String, Value>, service: &Service) -> Result<Value, Refusal> {
    let taken: T = Input::of_object(arguments).read_for(&AnyChain)?;
    taken.run(service).await
}

/// A schema with all that it refers to.
fn schema<T: Tool>() -> JsonObject {
    let mut parts = Vec::new();
    T::schemas(&mut parts);
    let mut schema = json!(T::schema());
    if !parts.is_empty() {
        schema["$defs"] = parts.into_iter().map(|(name, part)| (name, json!(part))).collect();
    }
    let text = schema.to_string().replace("#/components/schemas/", "#/$defs/");
    serde_json::from_str(&text).unwrap_or_default()
}
