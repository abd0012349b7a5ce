//! An import points down, never up, and never in a circle: in `shared` by its floors, in every other crate between its
//! modules. Functions import no other function.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use local::paths::Paths;
use syn::visit::{self, Visit};

/// The floors of `shared` from the ground up. A module may import from its own floor and from those below.
const FLOORS: [&[&str]; 5] = [
    &["model"],
    &["aws", "bucket", "clock", "config", "deadline", "http", "kms", "mail", "public_web", "telemetry", "vault"],
    &["store"],
    &["auth", "chain", "kept_documents"],
    &["api"],
];

/// The rooms of the store from the ground up. Those of the four tables don't know each other.
const STORE: [&[&str]; 3] = [&["engine"], &["artist", "chain", "document", "secret"], &["across"]];

/// A module by its path within the crate: `["store", "table"]`.
type Module = Vec<String>;

/// The parsed files of a crate.
type Sources = BTreeMap<Module, syn::File>;

/// Which modules each module imports from.
type Imports = BTreeMap<Module, BTreeSet<Module>>;

#[test]
fn imports_point_down() {
    let upward: Vec<_> = arrows(&imports(&shared()))
        .filter(|(from, to)| floor(from) < floor(to))
        .map(|(from, to)| format!("{} imports from {}", from.join("::"), to.join("::")))
        .collect();
    assert!(upward.is_empty(), "imports that point up:\n{}", upward.join("\n"));
}

#[test]
fn rooms_of_the_store_import_from_those_below() {
    let level = |module: &Module| {
        let room = (module.first()? == "store").then(|| module.get(1)).flatten()?;
        let level = STORE.iter().position(|rooms| rooms.contains(&room.as_str()));
        Some((level.unwrap_or_else(|| panic!("{room} is on no floor of the store: give it one")), room.clone()))
    };
    let wrong: Vec<_> = arrows(&imports(&shared()))
        .filter(|(from, to)| {
            let (Some((from, room)), Some((to, other))) = (level(from), level(to)) else { return false };
            room != other && from <= to
        })
        .map(|(from, to)| format!("{} imports from {}", from.join("::"), to.join("::")))
        .collect();
    assert!(wrong.is_empty(), "imports between rooms of the store:\n{}", wrong.join("\n"));
}

#[test]
fn no_module_imports_from_the_one_it_is_in() {
    let upward: Vec<_> = arrows(&imports(&shared()))
        .filter(|(from, to)| from.len() > to.len() && from.starts_with(to))
        .map(|(from, to)| format!("{} imports from {}", from.join("::"), to.join("::")))
        .collect();
    assert!(upward.is_empty(), "import from the file that defines it:\n{}", upward.join("\n"));
}

#[test]
fn imports_make_no_circle_at_any_level() {
    let crates = crates();
    let circles = crates.iter().flat_map(|(name, sources)| {
        circles(&imports(sources)).into_iter().map(move |circle| format!("{name}: {circle}"))
    });
    let circles: Vec<_> = circles.collect();
    assert!(circles.is_empty(), "circles:\n{}", circles.join("\n"));
}

#[test]
fn functions_import_no_other_function() {
    let root = Paths::of_checkout().root().to_owned();
    let mut found = 0;
    for manifest in files(&root.join("functions"), "toml") {
        let text = fs::read_to_string(&manifest).expect("a manifest");
        assert!(!text.contains("path = \"../"), "{} depends on another folder's crate", manifest.display());
        found += 1;
    }
    assert!(found > 20, "only {found} packages were found");
}

#[test]
fn no_source_is_longer_than_500_lines() {
    let root = Paths::of_checkout().root().to_owned();
    let folders = ["benches", "clients", "functions", "local", "openapi", "shared", "tests"];
    let sources = folders.iter().flat_map(|folder| files(&root.join(folder), "rs"));
    let lines = |file: &PathBuf| fs::read_to_string(file).expect("a source").lines().count();
    let long: Vec<_> = sources.filter(|file| lines(file) > 500).collect();
    assert!(long.is_empty(), "split them: {long:?}");
}

#[test]
fn a_circle_is_found() {
    let graph = |arrows: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in arrows {
            graph.entry((*from).to_owned()).or_default().insert((*to).to_owned());
        }
        graph
    };
    assert!(circle(&graph(&[("a", "b"), ("a", "c"), ("b", "c")])).is_none());
    assert_eq!(circle(&graph(&[("a", "b"), ("b", "c"), ("c", "b")])).as_deref(), Some("b -> c -> b"));
}

#[test]
fn imports_are_read_in_every_form() {
    let modules: BTreeSet<Module> = [vec![], vec!["a"], vec!["a", "x"], vec!["b"]]
        .map(|path: Vec<&str>| path.into_iter().map(Into::into).collect())
        .into();
    let read = |source: &str| {
        let mut reader = Reader { module: vec!["a".to_owned()], modules: &modules, found: BTreeSet::new() };
        reader.visit_file(&syn::parse_str(source).expect("Rust"));
        reader.found.into_iter().map(|module| module.join("::")).collect::<Vec<_>>()
    };
    assert_eq!(read("use crate::{b::{self, T}, a::x::Y};"), ["a::x", "b"]);
    assert_eq!(read("use super::b::T as U; pub use self::x::*;"), ["a::x", "b"]);
    assert_eq!(read("fn f() -> crate::b::T { super::b::T::new() }"), ["b"]);
    assert_eq!(read("pub use x::Y;"), ["a::x"]);
    assert!(read("use std::fmt; #[cfg(test)] mod tests { use crate::b::T; }").is_empty());
}

fn floor(module: &Module) -> Option<usize> {
    let area = module.first()?;
    let floor = FLOORS.iter().position(|areas| areas.contains(&area.as_str()));
    Some(floor.unwrap_or_else(|| panic!("{area} is on no floor: give it one")))
}

fn arrows(imports: &Imports) -> impl Iterator<Item = (&Module, &Module)> {
    imports.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to)))
}

/// The imports between the direct children of a module, each with everything below it.
fn children(imports: &Imports, parent: &Module) -> BTreeMap<String, BTreeSet<String>> {
    let child = |module: &Module| module.starts_with(parent).then(|| module.get(parent.len()).cloned()).flatten();
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in arrows(imports) {
        if let (Some(from), Some(to)) = (child(from), child(to))
            && from != to
        {
            graph.entry(from).or_default().insert(to);
        }
    }
    graph
}

/// A circle at each level of a crate that has one.
fn circles(imports: &Imports) -> Vec<String> {
    let levels: BTreeSet<Module> =
        imports.keys().flat_map(|module| (0..module.len()).map(|n| module[..n].to_vec())).collect();
    levels.iter().filter_map(|level| circle(&children(imports, level))).collect()
}

/// A circle of a graph, in words.
fn circle(graph: &BTreeMap<String, BTreeSet<String>>) -> Option<String> {
    fn walk<'a>(
        graph: &'a BTreeMap<String, BTreeSet<String>>,
        path: &mut Vec<&'a str>,
        done: &mut BTreeSet<&'a str>,
        node: &'a str,
    ) -> Option<String> {
        if let Some(start) = path.iter().position(|&other| other == node) {
            path.push(node);
            return Some(path[start..].join(" -> "));
        }
        if done.contains(node) {
            return None;
        }
        path.push(node);
        for next in graph.get(node).into_iter().flatten() {
            if let Some(found) = walk(graph, path, done, next) {
                return Some(found);
            }
        }
        path.pop();
        done.insert(node);
        None
    }
    let mut done = BTreeSet::new();
    graph.keys().find_map(|node| walk(graph, &mut Vec::new(), &mut done, node))
}

fn shared() -> Sources {
    let sources = sources(&Paths::of_checkout().root().join("shared/src"));
    assert!(sources.len() > 100, "only {} sources were found", sources.len());
    sources
}

/// The crates of the workspace's packages, by folder: each library with its modules, and each executable.
fn crates() -> BTreeMap<String, Sources> {
    let root = Paths::of_checkout().root().to_owned();
    let folders = ["benches", "clients", "functions", "local", "openapi", "shared"];
    let manifests = folders.iter().flat_map(|folder| files(&root.join(folder), "toml"));
    let packages = manifests.filter(|file| file.ends_with("Cargo.toml")).map(|file| file.with_file_name("src"));
    let roots = packages.filter(|sources| sources.is_dir()).flat_map(|sources| {
        let executables = fs::read_dir(sources.join("bin")).into_iter().flatten();
        let executables: Vec<_> = executables.map(|entry| entry.expect("an entry").path()).collect();
        executables.into_iter().filter(|path| path.is_dir()).chain([sources])
    });
    let name = |folder: &Path| folder.strip_prefix(&root).expect("below it").display().to_string();
    let crates = roots.map(|folder| (name(&folder), sources(&folder)));
    let crates: BTreeMap<_, _> = crates.filter(|(_, sources)| !sources.is_empty()).collect();
    assert!(crates.len() > 80, "only {} crates were found", crates.len());
    crates
}

/// The sources below a crate's folder, without those of executables in `bin`.
fn sources(root: &Path) -> Sources {
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a source");
        let parsed = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        (module(file.strip_prefix(root).expect("below it")), parsed)
    };
    let (bin, library) = (root.join("bin"), root.join("lib.rs"));
    // A library's `main.rs` is another crate, of one file.
    let other_main = library.is_file().then(|| root.join("main.rs"));
    let is_of_it = |file: &PathBuf| !file.starts_with(&bin) && other_main.as_ref() != Some(file);
    files(root, "rs").into_iter().filter(is_of_it).map(read).collect()
}

fn module(file: &Path) -> Module {
    let path = file.with_extension("");
    let names = path.components().map(|name| name.as_os_str().to_string_lossy().into_owned());
    names.filter(|name| !["mod", "lib", "main"].contains(&name.as_str())).collect()
}

fn imports(sources: &Sources) -> Imports {
    let modules: BTreeSet<Module> = sources.keys().cloned().collect();
    let read = |(module, file): (&Module, &syn::File)| {
        let mut reader = Reader { module: module.clone(), modules: &modules, found: BTreeSet::new() };
        reader.visit_file(file);
        reader.found.remove(module);
        (module.clone(), reader.found)
    };
    sources.iter().map(read).collect()
}

fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    // Sources alone: no dependencies that were installed, nothing that was built.
    let is_source =
        |path: &PathBuf| !path.ends_with("node_modules") && !path.ends_with("target") && !path.ends_with(".venv");
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).filter(is_source);
    let below = entries.flat_map(|path| if path.is_dir() { files(&path, extension) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|it| it == extension)).collect()
}

/// Gathers the modules that a file's code names, its tests left out.
struct Reader<'a> {
    module: Module,
    modules: &'a BTreeSet<Module>,
    found: BTreeSet<Module>,
}

impl Reader<'_> {
    fn note(&mut self, path: &[String]) {
        let mut absolute = self.module.clone();
        let mut rest = path;
        match path.first().map(String::as_str) {
            Some("crate") => (absolute, rest) = (Vec::new(), &path[1..]),
            Some("self") => rest = &path[1..],
            Some("super") => {
                while rest.first().is_some_and(|name| name == "super") {
                    absolute.pop();
                    rest = &rest[1..];
                }
            }
            // A child of this module, or a crate.
            Some(name) => {
                let child = [self.module.as_slice(), &[name.to_owned()]].concat();
                if !self.modules.contains(&child) {
                    return;
                }
            }
            None => return,
        }
        absolute.extend_from_slice(rest);
        while !self.modules.contains(&absolute) {
            absolute.pop();
        }
        self.found.insert(absolute);
    }

    fn note_tree(&mut self, path: &mut Vec<String>, tree: &syn::UseTree) {
        match tree {
            syn::UseTree::Path(inner) => {
                path.push(inner.ident.to_string());
                self.note_tree(path, &inner.tree);
                path.pop();
            }
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.note_tree(path, tree)),
            syn::UseTree::Name(name) if name.ident == "self" => self.note(path),
            syn::UseTree::Name(syn::UseName { ident }) | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
                path.push(ident.to_string());
                self.note(path);
                path.pop();
            }
            syn::UseTree::Glob(_) => self.note(path),
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        let is_test = item.attrs.iter().any(|attribute| attribute.path().is_ident("cfg"));
        if !is_test {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.note_tree(&mut Vec::new(), &item.tree);
    }

    // `pub(in crate::store)` imports nothing.
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if matches!(names.first().map(String::as_str), Some("crate" | "super" | "self")) && names.len() > 1 {
            self.note(&names);
        }
        visit::visit_path(self, path);
    }
}
