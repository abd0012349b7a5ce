//! The pages' style sheet, script and icon, each under a name that changes with its content.

use std::sync::LazyLock;

use shared::api::read::Site;

/// A file that pages load.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    name: &'static str,
    /// Media type.
    pub content_type: &'static str,
    /// Content.
    pub content: &'static str,
}

const ASSETS: [Asset; 3] = [
    Asset { name: "style.css", content_type: "text/css; charset=utf-8", content: include_str!("assets/style.css") },
    Asset {
        name: "script.js",
        content_type: "text/javascript; charset=utf-8",
        content: include_str!("assets/script.js"),
    },
    Asset { name: "icon.svg", content_type: "image/svg+xml; charset=utf-8", content: include_str!("assets/icon.svg") },
];

/// Part of every asset's path: another one with other content, so that assets are kept for ever.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let whole: Vec<u8> = ASSETS.iter().flat_map(|asset| asset.content.bytes()).collect();
    alloy::hex::encode(&alloy::primitives::keccak256(whole)[..6])
});

/// Address of an asset.
pub(crate) fn address(site: &Site, name: &str) -> String {
    site.page(&format!("/assets/{}/{name}", *VERSION))
}

/// Address of the icon.
pub fn icon(site: &Site) -> String {
    address(site, "icon.svg")
}

/// The asset with this name; those of another version are answered with the present one.
pub fn asset(name: &str) -> Option<Asset> {
    ASSETS.into_iter().find(|asset| asset.name == name)
}
