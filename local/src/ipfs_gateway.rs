//! An IPFS gateway over HTTP that serves only the demo content.

use std::net::SocketAddr;

use axum::{
    Json, Router,
    extract::Path,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::Error;

/// A folder of the demo content: metadata documents of a collection and its moments, with a picture for each.
struct Folder {
    id: &'static str,
    /// File name (`collection`, `1`, `2`), title, description and colours.
    files: [(&'static str, &'static str, &'static str, [&'static str; 2]); 3],
}

const FOLDERS: [Folder; 2] = [
    Folder {
        id: "bafybeidemofirstlight",
        files: [
            ("collection", "First Light", "Mornings by the sea, before anyone is up.", ["#27476e", "#f4b393"]),
            ("1", "First Light", "The old harbour, just before six.", ["#1d3557", "#ffb4a2"]),
            ("2", "Second Light", "The same pier, ten minutes later.", ["#457b9d", "#ffe5b4"]),
        ],
    },
    Folder {
        id: "bafybeidemotidetables",
        files: [
            ("collection", "Tide Tables", "What the water leaves behind, twice a day.", ["#0b3c49", "#a3cef1"]),
            ("1", "High Water", "04:12, 3.4 metres.", ["#13505b", "#7dcfb6"]),
            ("2", "Low Water", "10:31, 0.6 metres.", ["#5c4742", "#e8d7c1"]),
        ],
    },
];

/// Starts the gateway, which runs until the process ends, and returns its address.
pub async fn start() -> Result<SocketAddr, Error> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    tokio::spawn(axum::serve(listener, Router::new().route("/ipfs/{folder}/{file}", get(file))).into_future());
    Ok(address)
}

async fn file(Path((folder, file)): Path<(String, String)>) -> Response {
    let found = FOLDERS.iter().find(|known| known.id == folder).zip(file.rsplit_once('.'));
    let found = found.and_then(|(folder, (name, kind))| Some((folder.files.iter().find(|file| file.0 == name)?, kind)));
    match found {
        Some((&(file, name, description, _), "json")) => {
            Json(document(&folder, file, name, description)).into_response()
        }
        Some((&(.., colours), "svg")) => ([(header::CONTENT_TYPE, "image/svg+xml")], picture(colours)).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

fn document(folder: &str, file: &str, name: &str, description: &str) -> Value {
    let picture = format!("ipfs://{folder}/{file}.svg");
    json!({
        "name": name,
        "description": description,
        "image": picture,
        "content": {"mime": "image/svg+xml", "uri": picture},
    })
}

/// A sky over a sea.
fn picture([below, above]: [&str; 2]) -> String {
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 400">
<rect width="400" height="240" fill="{above}"/><circle cx="280" cy="240" r="48" fill="#fff" opacity=".7"/>
<rect y="240" width="400" height="160" fill="{below}"/></svg>"##
    )
}
