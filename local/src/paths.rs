//! Paths in the checkout.

use std::{
    env,
    path::{Path, PathBuf},
    thread,
};

use template::{Template, TemplateError};

/// The checkout's folders and programs.
#[derive(Clone, Debug)]
pub struct Paths {
    root: PathBuf,
}

impl Paths {
    /// Paths of the checkout that this crate was built in.
    pub fn of_checkout() -> Self {
        let local = Path::new(env!("CARGO_MANIFEST_DIR"));
        Self { root: local.parent().unwrap_or(local).to_owned() }
    }

    /// The checkout's root.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The application's template, of all its stacks.
    pub fn template(&self) -> Result<Template, TemplateError> {
        Template::of(&self.root)
    }

    /// A file or folder under `.local`: logs, compiled contracts, `stack.json`.
    pub fn local(&self, name: &str) -> PathBuf {
        self.root.join(".local").join(name)
    }

    /// Folder of the logs of the test that runs here; `name` is what it starts.
    pub fn workshop(&self, name: &str) -> PathBuf {
        self.local("workshops").join(running_test()).join(name)
    }

    /// Folder of the demo's catalogue and works.
    pub fn demo(&self) -> PathBuf {
        self.root.join("local/demo")
    }

    /// Folder of the installed npm packages.
    pub fn node_modules(&self) -> PathBuf {
        self.root.join("local/node_modules")
    }

    /// A program that pip installed.
    pub fn python_program(&self, name: &str) -> PathBuf {
        self.root.join("local/.venv/bin").join(name)
    }

    /// The anvil program for this operating system and processor, from its npm package.
    pub fn anvil(&self) -> PathBuf {
        let system = match env::consts::OS {
            "macos" => "darwin",
            other => other,
        };
        let processor = match env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        self.node_modules().join(format!("@foundry-rs/anvil-{system}-{processor}/bin/anvil"))
    }

    /// A binary of the workspace, in its debug build unless `FUNCTIONS_PROFILE` names another.
    pub fn binary(&self, name: &str) -> PathBuf {
        self.target(&env::var("FUNCTIONS_PROFILE").unwrap_or_else(|_| "debug".to_owned())).join(name)
    }

    /// Cargo's output folder for a profile.
    pub fn target(&self, profile: &str) -> PathBuf {
        self.built().join(profile)
    }

    /// Cargo's output folder for all profiles, found by the running program, which is in it. A relative `CARGO_TARGET_DIR`
    /// would mislead tests, which run in another folder than cargo.
    pub fn built(&self) -> PathBuf {
        let program = env::current_exe().ok();
        program.as_deref().and_then(folder_of).map_or_else(|| self.root.join("target"), Path::to_owned)
    }
}

/// Cargo's output folder that a program is in. Tests and examples are one level further down.
fn folder_of(program: &Path) -> Option<&Path> {
    let folder = program.parent()?;
    let is_further_down = folder.ends_with("deps") || folder.ends_with("examples");
    let profile = if is_further_down { folder.parent()? } else { folder };
    profile.parent()
}

/// The running test as the name of a folder, or else the program's. A test is in a process or in a thread of its own.
pub fn running_test() -> String {
    let name = env::var("NEXTEST_TEST_NAME").ok().or_else(|| thread::current().name().map(str::to_owned));
    name.unwrap_or_default().replace("::", ".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binaries_are_looked_for_where_the_program_was_built() {
        for program in ["/a b/debug/local", "/a b/debug/deps/end_to_end-1", "/a b/measure/examples/probe"] {
            assert_eq!(folder_of(Path::new(program)), Some(Path::new("/a b")), "{program}");
        }
    }
}
