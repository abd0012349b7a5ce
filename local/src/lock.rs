//! Locks that hold between processes.

use std::{
    fs::{self, File, TryLockError},
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
        let file = open(&path)?;
        file.lock()?;
        Ok::<_, io::Error>(file)
    });
    Ok(locked.await??)
}

/// The same without waiting: `None` while somebody else holds it.
pub fn try_lock(path: &Path) -> Result<Option<File>, Error> {
    let file = open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error.into()),
    }
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    File::options().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_at_a_time_holds_a_lock() -> Result<(), Error> {
        let path = std::env::temp_dir().join(format!("moments-{}.lock", std::process::id()));
        let first = lock(&path).await?;
        assert!(try_lock(&path)?.is_none());
        drop(first);
        drop(try_lock(&path)?.ok_or("it is still held")?);
        drop(lock(&path).await?);
        Ok(fs::remove_file(path)?)
    }
}
