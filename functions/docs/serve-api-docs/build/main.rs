//! Makes the function's files from `openapi.json` at build time, so that no client waits for them.

mod markdown;

use std::{
    env,
    error::Error,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};

fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../../openapi.json");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed=build");
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&source)?)?;
    publish("openapi.json", document.to_string().as_bytes())?;
    publish("llms.txt", markdown::render(&document).as_bytes())?;
    let script = scalar_api_reference::get_asset("scalar.js").ok_or("the reference's script isn't in its crate")?;
    let mut compressed = GzEncoder::new(Vec::new(), Compression::best());
    compressed.write_all(&script)?;
    publish("reference.js.gz", &compressed.finish()?)
}

/// Writes a file for the function to include.
fn publish(name: &str, content: &[u8]) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(PathBuf::from(env::var("OUT_DIR")?).join(name), content)?)
}
