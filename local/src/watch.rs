//! Builds the functions again when a source changes. The emulated Lambda service takes up what was built with the next
//! request; what doesn't compile changes nothing.

use std::{
    convert::Infallible,
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use tokio::process::Command;

use crate::{Error, paths::Paths};

/// Pause between two looks at the sources.
const PAUSE: Duration = Duration::from_millis(300);

/// What functions are built from, in the checkout.
const SOURCES: [&str; 4] = ["functions", "shared", "Cargo.toml", "Cargo.lock"];

/// Follows the sources until the service ends.
pub async fn rebuild(paths: &Paths) -> Result<Infallible, Error> {
    let sources = SOURCES.map(|name| paths.root().join(name));
    let mut built = Sources::read(&sources)?;
    loop {
        tokio::time::sleep(PAUSE).await;
        // A file that an editor replaces may be missing for a moment.
        let Ok(sources) = Sources::read(&sources) else { continue };
        if sources == built {
            continue;
        }
        built = sources;
        println!("\nA source changed: building.");
        let build = Command::new("make")
            .args(["--no-print-directory", "binaries"])
            .current_dir(paths.root())
            .env_remove("MAKEFLAGS")
            .kill_on_drop(true)
            .status()
            .await;
        match build {
            Ok(status) if status.success() => println!("Built: requests are answered by the new code."),
            Ok(_) => println!("Not built: the service goes on with the old code."),
            Err(error) => println!("make can't be started ({error}): the service goes on with the old code."),
        }
    }
}

/// Sources at a time: two that differ in a file are different.
#[derive(Debug, PartialEq, Eq)]
struct Sources {
    files: usize,
    newest: SystemTime,
}

impl Sources {
    fn read(roots: &[PathBuf]) -> io::Result<Self> {
        let mut sources = Self { files: 0, newest: SystemTime::UNIX_EPOCH };
        roots.iter().try_for_each(|root| sources.add(root))?;
        Ok(sources)
    }

    fn add(&mut self, path: &Path) -> io::Result<()> {
        let metadata = fs::metadata(path)?;
        if metadata.is_dir() {
            return fs::read_dir(path)?.try_for_each(|entry| self.add(&entry?.path()));
        }
        self.files += 1;
        self.newest = self.newest.max(metadata.modified()?);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_added_and_removed_files_are_noticed() -> io::Result<()> {
        let folder = std::env::temp_dir().join(format!("sources-{}", std::process::id()));
        fs::create_dir_all(folder.join("src"))?;
        let (main, other, roots) = (folder.join("src/main.rs"), folder.join("src/other.rs"), [folder.clone()]);
        fs::write(&main, "fn main() {}")?;
        let first = Sources::read(&roots)?;
        assert_eq!(first, Sources::read(&roots)?);
        fs::File::options().write(true).open(&main)?.set_modified(first.newest + Duration::from_secs(1))?;
        let written = Sources::read(&roots)?;
        assert_ne!(written, first);
        fs::write(&other, "")?;
        let added = Sources::read(&roots)?;
        assert_ne!(added, written);
        fs::remove_file(&other)?;
        assert_eq!(Sources::read(&roots)?, written);
        fs::remove_dir_all(&folder)
    }
}
