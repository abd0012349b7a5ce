//! X-Ray's daemon as functions see it: takes their subsegments by UDP and appends them to a file, a JSON object per line.

use std::{
    io::SeekFrom,
    path::{Path, PathBuf},
};

use tokio::{
    fs::File,
    io::{AsyncSeekExt, AsyncWriteExt},
    net::UdpSocket,
    task::JoinHandle,
};

use crate::Error;

/// Line in front of each document, which only its parts identify.
const FORMAT: &str = "\"format\"";

/// Most bytes of the file. Then it begins anew.
const MAX_FILE: u64 = 32 << 20;

/// Largest datagram.
const MAX_DATAGRAM: usize = 64 << 10;

/// The daemon; dropping it stops it.
pub struct Traces {
    /// Its address, for `AWS_XRAY_DAEMON_ADDRESS`.
    pub address: String,
    task: JoinHandle<()>,
}

impl Traces {
    /// The file's name, beside the stack's map.
    pub const FILE: &str = "traces.jsonl";

    /// Starts it with an empty file in `folder`.
    pub async fn collect(folder: &Path) -> Result<Self, Error> {
        Self::collect_up_to(MAX_FILE, folder.join(Self::FILE)).await
    }

    async fn collect_up_to(max: u64, path: PathBuf) -> Result<Self, Error> {
        let (socket, file) = (UdpSocket::bind(("127.0.0.1", 0)).await?, File::create(path).await?);
        let address = socket.local_addr()?.to_string();
        let task = tokio::spawn(async move {
            if let Err(error) = follow(&socket, file, max).await {
                eprintln!("traces are no longer collected: {error}");
            }
        });
        Ok(Self { address, task })
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn follow(socket: &UdpSocket, mut file: File, max: u64) -> Result<(), Error> {
    let (mut datagram, mut size) = (vec![0; MAX_DATAGRAM], 0);
    loop {
        let length = socket.recv(&mut datagram).await?;
        let text = String::from_utf8_lossy(&datagram[..length]);
        let Some((header, document)) = text.split_once('\n') else { continue };
        if !header.contains(FORMAT) || document.contains('\n') {
            continue;
        }
        let line = format!("{document}\n");
        size += line.len() as u64;
        if size > max {
            file.set_len(0).await?;
            file.seek(SeekFrom::Start(0)).await?;
            size = line.len() as u64;
        }
        file.write_all(line.as_bytes()).await?;
        file.flush().await?;
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::{paths::Paths, patience::eventually};

    #[tokio::test]
    async fn documents_are_kept_up_to_the_limit() -> Result<(), Error> {
        let folder = Paths::of_checkout().local("collected-traces");
        fs::create_dir_all(&folder)?;
        let file = folder.join(Traces::FILE);
        let traces = Traces::collect_up_to(12, file.clone()).await?;
        let client = UdpSocket::bind(("127.0.0.1", 0)).await?;
        let header = "{\"format\": \"json\", \"version\": 1}\n";
        for (sent, kept) in [("{\"n\":1}", "{\"n\":1}\n"), ("{\"n\":2}", "{\"n\":2}\n")] {
            client.send_to(b"no document", &traces.address).await?;
            client.send_to(format!("{header}{sent}").as_bytes(), &traces.address).await?;
            eventually(format!("{kept:?} is kept"), async || Ok((fs::read_to_string(&file)? == kept).then_some(())))
                .await?;
        }
        Ok(())
    }
}
