//! Locks that hold between processes.

use std::{
    fs::{self, File},
    io,
    path::Path,
};

use tokio::task::spawn_blocking;

use crate::Error;

/// Waits until nobody else holds the lock of a file, neither in another process nor in this one. Dropping the result gives it
/// back.
pub async fn lock(path: &Path) -> Result<File, Error> {
    let path = path.to_owned();
    let locked = spawn_blocking(move || {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let file = File::options().create(true).append(true).open(path)?;
        file.lock()?;
        Ok::<_, io::Error>(file)
    });
    Ok(locked.await??)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_at_a_time_holds_a_lock() -> Result<(), Error> {
        let path = std::env::temp_dir().join(format!("moments-{}.lock", std::process::id()));
        let first = lock(&path).await?;
        assert!(File::open(&path)?.try_lock().is_err());
        drop(first);
        drop(lock(&path).await?);
        Ok(fs::remove_file(path)?)
    }
}
