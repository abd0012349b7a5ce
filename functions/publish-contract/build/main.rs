//! Makes everything that this function publishes from `openapi.json`, so that nothing is made while a client waits.

mod markdown;

use std::{
    env,
    error::Error,
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../openapi.json");
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rerun-if-changed=src/start.js");
    let document: serde_json::Value = serde_json::from_slice(&fs::read(&source)?)?;
    publish("openapi.json", document.to_string().as_bytes())?;
    publish("llms.txt", markdown::render(&document).as_bytes())?;
    publish("start.js", &fs::read("src/start.js")?)?;
    let script = scalar_api_reference::get_asset("scalar.js").ok_or("the reference's script isn't in its crate")?;
    let mut compressed = GzEncoder::new(Vec::new(), Compression::best());
    compressed.write_all(&script)?;
    publish("reference.js.gz", &compressed.finish()?)
}

/// Writes a file where the function's source includes it, and beside it the tag that tells its versions apart.
fn publish(name: &str, content: &[u8]) -> Result<(), Box<dyn Error>> {
    let folder = PathBuf::from(env::var("OUT_DIR")?);
    let hash: String = Sha256::digest(content).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    fs::write(folder.join(name), content)?;
    fs::write(folder.join(format!("{name}.tag")), format!("\"{hash}\""))?;
    Ok(())
}
