use serde::Serialize;
use utoipa::ToSchema;

use super::{
    metadata::{Placeholder, Preview},
    site::Site,
};
use crate::{model::Picture, store::artist::Profile};

/// An artist's picture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct Avatar {
    /// URI of the whole picture.
    pub uri: String,
    /// Where the whole picture is served.
    #[schema(format = "uri")]
    pub url: String,
    /// Smaller forms of it, narrowest first; empty until they are made, and for a picture that can't be shown.
    #[schema(max_items = 3)]
    pub previews: Vec<Preview>,
    /// What is shown until the picture is there; null until it is made.
    #[schema(required = true)]
    pub placeholder: Option<Placeholder>,
}

impl Avatar {
    /// An artist's picture with the forms that there are of it.
    pub fn of(profile: &Profile, site: &Site) -> Option<Self> {
        let cid = profile.avatar?;
        let forms: Option<&Picture> = profile.avatar_forms();
        Some(Self {
            uri: cid.uri(),
            url: site.file(&format!("/ipfs/{cid}")),
            previews: forms.map(|forms| Preview::all(forms, site)).unwrap_or_default(),
            placeholder: forms.map(Placeholder::of),
        })
    }
}
