//! An IPFS gateway over HTTP that serves only the demo content.

use std::{collections::BTreeMap, fs, net::SocketAddr, sync::Arc};

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Path, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};
use shared::model::Dag;
use tokio::net::TcpListener;

use crate::{Error, paths::Paths};

/// A folder of the demo content: metadata documents of a collection and its moments.
struct Folder {
    id: &'static str,
    /// File name (`collection`, `1`, `2`), title, description and picture.
    files: [(&'static str, &'static str, &'static str, &'static str); 3],
}

/// Pictures of the documents, in the demo's works.
pub(crate) const PICTURES: [&str; 4] = ["first-light.png", "second-light.png", "high-water.png", "low-water.png"];

const FOLDERS: [Folder; 2] = [
    Folder {
        id: "bafybeidemofirstlight",
        files: [
            ("collection", "First Light", "Mornings by the sea, before anyone is up.", PICTURES[0]),
            ("1", "First Light", "The old harbour, just before six.", PICTURES[0]),
            ("2", "Second Light", "The same pier, ten minutes later.", PICTURES[1]),
        ],
    },
    Folder {
        id: "bafybeidemotidetables",
        files: [
            ("collection", "Tide Tables", "What the water leaves behind, twice a day.", PICTURES[3]),
            ("1", "High Water", "04:12, 3.4 metres.", PICTURES[2]),
            ("2", "Low Water", "10:31, 0.6 metres.", PICTURES[3]),
        ],
    },
];

/// The pictures by file name, with their CIDs.
type Pictures = BTreeMap<&'static str, (String, Bytes)>;

/// Starts the gateway, which runs until the process ends, and returns its address.
pub async fn start(paths: &Paths) -> Result<SocketAddr, Error> {
    let mut pictures = Pictures::new();
    for name in PICTURES {
        let file = paths.demo().join("works").join(name);
        let bytes = fs::read(&file).map_err(|error| format!("{} can't be read: {error}", file.display()))?;
        pictures.insert(name, (Dag::cid_of(&bytes).to_string(), bytes.into()));
    }
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let router = Router::new().route("/ipfs/{cid}", get(picture)).route("/ipfs/{folder}/{file}", get(document));
    tokio::spawn(axum::serve(listener, router.with_state(Arc::new(pictures))).into_future());
    Ok(address)
}

async fn picture(State(pictures): State<Arc<Pictures>>, Path(wanted): Path<String>) -> Response {
    match pictures.values().find(|(cid, _)| *cid == wanted) {
        Some((_, bytes)) => ([(header::CONTENT_TYPE, "image/png")], bytes.clone()).into_response(),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn document(State(pictures): State<Arc<Pictures>>, Path((folder, file)): Path<(String, String)>) -> Response {
    let folder = FOLDERS.iter().find(|known| known.id == folder);
    let found = folder.zip(file.strip_suffix(".json")).and_then(|(folder, name)| {
        let &(_, title, description, picture) = folder.files.iter().find(|file| file.0 == name)?;
        let (cid, _) = pictures.get(picture)?;
        Some(metadata(title, description, cid))
    });
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |document| Json(document).into_response())
}

fn metadata(name: &str, description: &str, cid: &str) -> Value {
    let picture = format!("ipfs://{cid}");
    json!({
        "name": name,
        "description": description,
        "image": picture,
        "content": {"mime": "image/png", "uri": picture},
    })
}
