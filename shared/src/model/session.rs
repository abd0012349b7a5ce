use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{
    schema::{format, text_schema},
    text::uuid_as_text,
};

/// Id of a token (`jti`), for listing and ending it; later tokens have greater ones (UUID v7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SessionId(Uuid);

text_schema!(SessionId, "Id of a signed-in session.", "019a2b3c-4d5e-7f60-8172-839405a6b7c8", format = format("uuid"));

impl SessionId {
    /// A new id, greater than all earlier ones.
    pub fn next() -> Self {
        Self(Uuid::now_v7())
    }
}

uuid_as_text!(SessionId);
