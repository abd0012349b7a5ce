//! Makes the functions' files from `openapi.json`, the guides and the template at build time, so that no client waits.

mod guide;
mod markdown;
mod older;
mod routes;

use std::{
    env,
    error::Error,
    fmt::Write as _,
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use flate2::{Compression, write::GzEncoder};
use serde_json::Value;

use crate::guide::Guide;

/// Guides in reading order; a test holds that each file in `docs/guide/` is one of them.
const GUIDES: [&str; 15] = [
    "quickstart",
    "publish",
    "show",
    "collect",
    "errors",
    "paging",
    "events",
    "transactions",
    "limits",
    "browser",
    "test-networks",
    "governance",
    "webhooks",
    "agents",
    "versions",
];

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../..");
    let (source, folder) = (root.join("openapi.json"), root.join("docs/guide"));
    println!("cargo::rerun-if-changed={}", source.display());
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build");
    publish("routes.rs", routes::table(&root.join("template.yaml"))?.as_bytes())?;
    let document: Value = serde_json::from_slice(&fs::read(&source)?)?;
    publish("openapi.json", document.to_string().as_bytes())?;
    publish("openapi-3.0.json", older::convert(&document).to_string().as_bytes())?;
    let guides = GUIDES.map(|name| -> Result<_, Box<dyn Error>> {
        let path = folder.join(format!("{name}.md"));
        let markdown = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Guide::new(name.to_owned(), markdown))
    });
    let guides = guides.into_iter().collect::<Result<Vec<_>, _>>()?;
    let page = markdown::Page::new(&document);
    publish("llms.txt", page.overview(&guides).as_bytes())?;
    let texts: Vec<_> = guides.iter().map(|guide| guide.markdown.as_str()).collect();
    publish("llms-full.txt", format!("{}\n{}", page.whole(), texts.join("\n")).as_bytes())?;
    publish("clients.rs", clients(&root.join("clients/packed"))?.as_bytes())?;
    let mut parts = Vec::new();
    for guide in &guides {
        parts.push((guide.name.clone(), "text/html", guide.page(&guides)));
        parts.push((format!("{}.md", guide.name), "text/markdown", guide.markdown.clone()));
    }
    parts.extend(page.operations().map(|(id, text)| (format!("{id}.md"), "text/markdown", text)));
    let mut table = String::new();
    for (name, content_type, content) in parts {
        publish(&name, content.as_bytes())?;
        let path = output()?.join(&name);
        writeln!(table, "({name:?}, \"{content_type}; charset=utf-8\", include_bytes!({path:?}).as_slice()),")?;
    }
    publish("parts.rs", format!("&[\n{table}]").as_bytes())?;
    let script = scalar_api_reference::get_asset("scalar.js").ok_or("the reference's script isn't in its crate")?;
    let script = distinct_landmarks(std::str::from_utf8(&script)?)?;
    let mut compressed = GzEncoder::new(Vec::new(), Compression::best());
    compressed.write_all(script.as_bytes())?;
    let compressed = compressed.finish()?;
    publish("reference.js.gz", &compressed)?;
    // Named after its content, so that browsers may keep it for good.
    let name = format!("reference.{:08x}.js", crc32fast::hash(&compressed));
    publish("reference.name", name.as_bytes())?;
    let page = root.join("functions/docs/src/bin/serve-api-docs/docs.html");
    println!("cargo::rerun-if-changed={}", page.display());
    publish("docs.html", fs::read_to_string(page)?.replace("reference.js", &name).as_bytes())
}

/// The packed clients that `make clients` left, as a table of names, content types and contents.
fn clients(folder: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut table = String::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let content_type = match path.extension().and_then(|extension| extension.to_str()) {
            Some("tgz") => "application/gzip",
            Some("whl") => "application/zip",
            _ => continue,
        };
        let name = path.file_name().and_then(|name| name.to_str()).ok_or("a client's name isn't text")?;
        writeln!(table, "({name:?}, {content_type:?}, include_bytes!({path:?}).as_slice()),")?;
    }
    Ok(format!("&[\n{table}]"))
}

/// The reference's script, whose cards of examples are groups: as landmarks, they would all have the same name.
fn distinct_landmarks(script: &str) -> Result<String, &'static str> {
    const CARD: &str = "class:`response-card`,role:`region`";
    if script.matches(CARD).count() != 1 {
        return Err("the reference's script has another card of examples: see what role it has");
    }
    Ok(script.replace(CARD, "class:`response-card`,role:`group`"))
}

fn output() -> Result<PathBuf, env::VarError> {
    env::var("OUT_DIR").map(PathBuf::from)
}

/// Writes a file for the function to include.
fn publish(name: &str, content: &[u8]) -> Result<(), Box<dyn Error>> {
    Ok(fs::write(output()?.join(name), content)?)
}
