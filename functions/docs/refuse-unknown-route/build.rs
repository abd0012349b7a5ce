//! Makes a constant of the template's routes, so that there is one list of them.

use std::{env, error::Error, fs, path::Path};

use template::{Route, Template};

fn main() -> Result<(), Box<dyn Error>> {
    let source = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../../template.yaml");
    println!("cargo::rerun-if-changed={}", source.display());
    let template: Template = fs::read_to_string(&source)?.parse()?;
    let route = |route: Route| (route.method, format!("/{}{}", route.stage, route.path));
    let routes: Vec<_> = template.routes()?.into_iter().map(route).collect();
    fs::write(Path::new(&env::var("OUT_DIR")?).join("routes.rs"), format!("&{routes:?}"))?;
    Ok(())
}
