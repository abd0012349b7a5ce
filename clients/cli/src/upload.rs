//! A file on its way to the service: announced, sent in parts, hashed there.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    num::NonZeroU64,
    path::{Path, PathBuf},
};

use bytes::Bytes;
use futures::stream;
use indicatif::ProgressBar;
use moments_client::types::{CreateUploadRequest, StoredMedia, UploadPart, UploadType};
use reqwest::{Body, StatusCode, header::CONTENT_LENGTH};

use crate::{
    failure::{Failure, Refusal},
    output,
    service::{Repeat, Service, ask, finish, pause},
};

/// Bytes that are read at once.
const CHUNK: u64 = 64 << 10;

/// What the endings of files are called elsewhere, and here.
const OTHER_NAMES: [(&str, UploadType); 5] = [
    ("image/heic", UploadType::ImageHeif),
    ("audio/m4a", UploadType::AudioMp4),
    ("audio/x-flac", UploadType::AudioFlac),
    ("video/x-m4v", UploadType::VideoMp4),
    ("text/markdown", UploadType::TextPlain),
];

/// A file that can be uploaded.
#[derive(Debug)]
pub struct Source {
    path: PathBuf,
    /// In bytes.
    size: NonZeroU64,
    kind: UploadType,
}

impl Source {
    /// A file that is there and has content.
    pub fn open(path: &Path) -> Result<Self, Failure> {
        let metadata = path.metadata().map_err(|error| Failure::file(path, &error))?;
        if !metadata.is_file() {
            return Err(Failure::Here(format!("{} is no file: name the files one by one", path.display())));
        }
        let size = NonZeroU64::new(metadata.len())
            .ok_or_else(|| Failure::Here(format!("{} is empty: publish a file with content", path.display())))?;
        Ok(Self { path: path.to_owned(), size, kind: kind(path) })
    }

    /// The file's name without its ending.
    pub fn title(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Uploads the file, with a bar for the person at the terminal.
    pub async fn upload(&self, service: &Service) -> Result<StoredMedia, Failure> {
        let bar = output::bar(&self.path.file_name().unwrap_or_default().to_string_lossy(), self.size.get());
        let stored = self.upload_with(service, &bar).await;
        bar.finish_and_clear();
        stored.map_err(|failure| failure.about(&self.path.to_string_lossy()))
    }

    async fn upload_with(&self, service: &Service, bar: &ProgressBar) -> Result<StoredMedia, Failure> {
        let client = &service.client;
        let file = CreateUploadRequest::builder().content_type(self.kind).size(self.size);
        let begun = ask(Repeat::IfUndone, || client.create_upload().body(file.clone()).send()).await?;
        // A part takes as long as the network lets it.
        let http = reqwest::Client::new();
        for part in &begun.parts {
            self.send_part(&http, part, bar).await?;
        }
        let hashed = |body: &serde_json::Value| {
            bar.set_message("sent, being hashed");
            bar.set_position(body["hashed"].as_u64().unwrap_or_default());
        };
        let id = &*begun.upload_id;
        finish(Repeat::Safely, hashed, || client.complete_upload().id(*id).send()).await
    }

    /// Sends a part; a part that comes twice is one.
    async fn send_part(&self, http: &reqwest::Client, part: &UploadPart, bar: &ProgressBar) -> Result<(), Failure> {
        let mut tried = 0;
        loop {
            bar.set_position(part.offset.unsigned_abs());
            let Err(failure) = self.try_part(http, part, bar).await else { return Ok(()) };
            let Some(pause) = pause(&failure, Repeat::Safely, tried) else { return Err(failure) };
            tokio::time::sleep(pause).await;
            tried += 1;
        }
    }

    async fn try_part(&self, http: &reqwest::Client, part: &UploadPart, bar: &ProgressBar) -> Result<(), Failure> {
        let size = part.size.unsigned_abs();
        let opened = File::open(&self.path).and_then(|mut file| {
            file.seek(SeekFrom::Start(part.offset.unsigned_abs()))?;
            Ok(file)
        });
        let file = opened.map_err(|error| Failure::file(&self.path, &error))?;
        let body = body(file, size, bar.clone());
        // The store takes a part of a known length alone.
        let response = http.put(&part.url).header(CONTENT_LENGTH, size).body(body).send().await?;
        match response.status() {
            status if status.is_success() => Ok(()),
            StatusCode::FORBIDDEN => {
                Err(Failure::Here(format!("{} can't be stored any more: publish it again", self.path.display())))
            }
            _ => Err(Failure::Refused(Refusal::read(response).await)),
        }
    }
}

/// The next bytes of a file, so many.
fn body(file: File, size: u64, bar: ProgressBar) -> Body {
    Body::wrap_stream(stream::try_unfold((file, size), move |(mut file, left)| {
        let bar = bar.clone();
        async move {
            if left == 0 {
                return Ok::<_, io::Error>(None);
            }
            let length = left.min(CHUNK);
            let mut chunk = Vec::new();
            file.by_ref().take(length).read_to_end(&mut chunk)?;
            if chunk.len() as u64 != length {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter"));
            }
            bar.inc(length);
            Ok(Some((Bytes::from(chunk), (file, left - length))))
        }
    }))
}

/// The type of a file by its ending. Where that says nothing, the service looks at the content.
fn kind(path: &Path) -> UploadType {
    let Some(name) = mime_guess::from_path(path).first_raw() else { return UploadType::ApplicationOctetStream };
    let other = OTHER_NAMES.iter().find(|(other, _)| *other == name).map(|(_, kind)| *kind);
    other.or_else(|| name.parse().ok()).unwrap_or(UploadType::ApplicationOctetStream)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_those_of_the_service() {
        for (name, expected) in [
            ("a.png", "image/png"),
            ("a.JPG", "image/jpeg"),
            ("a.heic", "image/heif"),
            ("a.svg", "image/svg+xml"),
            ("a.mp4", "video/mp4"),
            ("a.mov", "video/quicktime"),
            ("a.mp3", "audio/mpeg"),
            ("a.m4a", "audio/mp4"),
            ("a.wav", "audio/wav"),
            ("a.flac", "audio/flac"),
            ("a.glb", "model/gltf-binary"),
            ("a.pdf", "application/pdf"),
            ("a.txt", "text/plain"),
            ("a.md", "text/plain"),
            ("a.html", "application/octet-stream"),
            ("a.unknown", "application/octet-stream"),
            ("a", "application/octet-stream"),
        ] {
            assert_eq!(kind(Path::new(name)).to_string(), expected, "{name}");
        }
    }

    #[test]
    fn only_files_with_content_are_taken() {
        assert!(Source::open(Path::new("/nowhere/a.png")).is_err());
        assert!(Source::open(&std::env::temp_dir()).is_err());
    }
}
