//! Makes the client of the description in OpenAPI 3.0, since progenitor doesn't read 3.1.

#[path = "../../functions/docs/build/older.rs"]
mod older;

use std::{env, error::Error, fs, path::PathBuf};

use progenitor_impl::{GenerationSettings, Generator, InterfaceStyle};
use serde_json::Value;

const DESCRIPTION: &str = "../../openapi.json";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={DESCRIPTION}");
    println!("cargo::rerun-if-changed=../../functions/docs/build/older.rs");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut description = older::convert(&serde_json::from_str(&fs::read_to_string(DESCRIPTION)?)?);
    fs::write(out.join("description.json"), description.to_string())?;
    // It knows one answer to a success and one to an error: a 202 becomes an `UnexpectedResponse`, and the same call
    // with the same `Idempotency-Key` asks again.
    let paths = description["paths"].as_object_mut().ok_or("paths")?;
    for operation in paths.values_mut().filter_map(Value::as_object_mut).flat_map(|path| path.values_mut()) {
        let answers = operation["responses"].as_object_mut().ok_or("responses")?;
        answers.retain(|status, _| status == "200" || (status.as_str() >= "400" && status != "416"));
    }
    // The gateway's own errors have a message alone.
    description["components"]["schemas"]["Error"]["required"] = serde_json::json!(["message"]);
    let description = serde_json::from_value(description)?;
    let mut settings = GenerationSettings::default();
    settings.with_interface(InterfaceStyle::Builder);
    let tokens = Generator::new(&settings).generate_tokens(&description)?;
    let code = prettyplease::unparse(&syn::parse2(tokens)?);
    fs::write(out.join("client.rs"), code)?;
    Ok(())
}
