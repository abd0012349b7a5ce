//! The template's routes as a constant, so that there is one list of them.

use std::{error::Error, fs, path::Path};

use template::{Route, Template};

/// Rust source of a slice of methods and paths with their stage.
pub fn table(source: &Path) -> Result<String, Box<dyn Error>> {
    println!("cargo::rerun-if-changed={}", source.display());
    let template: Template = fs::read_to_string(source)?.parse()?;
    let route = |route: Route| (route.method, format!("/{}{}", route.stage, route.path));
    let routes: Vec<_> = template.routes()?.into_iter().map(route).collect();
    Ok(format!("&{routes:?}"))
}
