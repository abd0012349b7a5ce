//! What a sign-in leaves on this machine: `moments/credentials.json` in the user's folder of settings.

use std::{
    env, fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{address::ApiAddress, failure::Failure};

/// A service and the way into it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Credentials {
    /// The service that the rest is for: it is sent nowhere else.
    pub api: ApiAddress,
    /// The API key.
    pub key: String,
    /// The token of the sign-in that made the key, valid for an hour; none for a key that was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The id of the key that the sign-in made, by which it is revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_id: Option<String>,
}

/// The file of the credentials.
pub struct CredentialsFile(PathBuf);

impl CredentialsFile {
    /// Below `XDG_CONFIG_HOME` if that is an absolute path, else below `~/.config`.
    pub fn of_user() -> Result<Self, Failure> {
        let absolute = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let settings = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")));
        let settings = settings.ok_or_else(|| {
            Failure::Here("No folder for settings is known: set HOME or XDG_CONFIG_HOME to an absolute path".to_owned())
        })?;
        Ok(Self(settings.join("moments/credentials.json")))
    }

    /// The stored credentials; `None` without a file.
    pub fn read(&self) -> Result<Option<Credentials>, Failure> {
        let text = match fs::read_to_string(&self.0) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::file(&self.0, &error)),
        };
        serde_json::from_str(&text).map(Some).map_err(|error| {
            let remedy = "delete the file and sign in again";
            Failure::Here(format!("{} can't be understood ({error}): {remedy}", self.0.display()))
        })
    }

    /// Replaces the file in one step, readable by its owner alone.
    pub fn write(&self, credentials: &Credentials) -> Result<(), Failure> {
        self.replace(credentials).map_err(|error| Failure::file(&self.0, &error))
    }

    /// Removes the file, if it is there.
    pub fn remove(&self) -> Result<(), Failure> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Failure::file(&self.0, &error)),
            _ => Ok(()),
        }
    }

    fn replace(&self, credentials: &Credentials) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            make_folder(folder)?;
        }
        let new = self.0.with_extension(format!("{}.new", uuid::Uuid::new_v4().simple()));
        let written = own_file(&new).and_then(|mut file| {
            file.write_all(&serde_json::to_vec_pretty(credentials)?)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&new, &self.0)
        });
        if written.is_err() {
            // The error that matters is the first one.
            let _ = fs::remove_file(&new);
        }
        written
    }
}

/// Creates a file that only its owner reads.
fn own_file(path: &Path) -> io::Result<fs::File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Creates a folder that only its owner reads, and those above it.
fn make_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn credentials(key: &str) -> Credentials {
        let api = "https://a.example/api".parse().expect("an address");
        Credentials { api, key: key.to_owned(), token: None, key_id: None }
    }

    #[test]
    fn credentials_are_replaced_and_removed() {
        let folder = env::temp_dir().join(format!("moments-{}", uuid::Uuid::new_v4()));
        let file = CredentialsFile(folder.join("moments/credentials.json"));
        assert!(file.read().expect("no file").is_none());
        for key in ["one", "two"] {
            file.write(&credentials(key)).expect("it is written");
            let read = file.read().expect("it is read").expect("credentials");
            assert!(read == credentials(key));
        }
        let names = fs::read_dir(folder.join("moments")).expect("a folder").count();
        assert_eq!(names, 1, "nothing else is left");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = fs::metadata(&file.0).expect("a file").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        file.remove().expect("it is removed");
        file.remove().expect("it stays removed");
        fs::write(&file.0, "{").expect("it is written");
        let message = file.read().err().map(|failure| failure.to_string()).unwrap_or_default();
        assert!(message.contains("sign in again"), "{message}");
        fs::remove_dir_all(folder).expect("the folder is removed");
    }
}
