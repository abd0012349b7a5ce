//! Hashes an object as a stream, leaf by leaf, with little memory, until the request's time is up.

use std::time::Duration;

use media::content::{self, Found};
use sha2_resumable::{Digest, Sha256, digest::common::hazmat::SerializableState};
use shared::{
    bucket::{Bucket, BucketError},
    deadline,
    http::ApiError,
    model::{Cid, LEAF},
    store::artist::{HashProgress, Upload},
    telemetry,
};

/// Time that is left for what comes after a part of the hashing.
const RESERVE: Duration = Duration::from_secs(8);

/// What became of an object.
pub enum Hashed {
    /// It doesn't exist.
    Missing,
    /// The time was up.
    InPart(HashProgress),
    /// It isn't taken, for this reason.
    Refused(String),
    /// It has a CID.
    Whole {
        /// Of all of it.
        cid: Cid,
        /// Its type.
        mime: String,
    },
}

/// Hashes from where the upload's progress ends.
pub async fn hash(bucket: &Bucket, object: &str, upload: &Upload) -> Result<Hashed, ApiError> {
    let mut work = Work::of(upload);
    let Some(mut stream) = bucket.read(object, work.progress.dag.size(), None).await? else {
        return Ok(Hashed::Missing);
    };
    let mut leaf = Vec::with_capacity(LEAF);
    loop {
        let chunk = match stream.try_next().await {
            Ok(chunk) => chunk,
            Err(error) if work.can_pause() => {
                tracing::warn!(error = telemetry::chain(&error), "an object was read in part");
                return Ok(work.pause());
            }
            Err(error) => return Err(BucketError::from(error).into()),
        };
        let Some(mut rest) = chunk.as_deref() else { break };
        while !rest.is_empty() {
            let (taken, later) = rest.split_at(rest.len().min(LEAF - leaf.len()));
            leaf.extend_from_slice(taken);
            rest = later;
            if leaf.len() == LEAF {
                if let Some(reason) = work.take(&leaf) {
                    return Ok(Hashed::Refused(reason));
                }
                leaf.clear();
            }
        }
        if deadline::is_within(RESERVE) && work.can_pause() {
            return Ok(work.pause());
        }
    }
    if !leaf.is_empty()
        && let Some(reason) = work.take(&leaf)
    {
        return Ok(Hashed::Refused(reason));
    }
    Ok(work.finish())
}

struct Work<'a> {
    upload: &'a Upload,
    progress: HashProgress,
    sha256: Sha256,
    /// The content of a type that is checked as a whole.
    text: Option<Vec<u8>>,
    /// Bytes that earlier calls hashed.
    earlier: u64,
}

impl<'a> Work<'a> {
    fn of(upload: &'a Upload) -> Self {
        let progress = upload.progress.clone().unwrap_or_default();
        let state = progress.sha256.as_slice().try_into().ok();
        let sha256 = state.and_then(|state| Sha256::deserialize(state).ok()).unwrap_or_default();
        let earlier = progress.dag.size();
        Self { upload, progress, sha256, text: None, earlier }
    }

    /// A text isn't stored in part, and each call goes on by a leaf at least.
    fn can_pause(&self) -> bool {
        self.text.is_none() && self.progress.dag.size() > self.earlier
    }

    fn pause(mut self) -> Hashed {
        self.progress.sha256 = self.sha256.serialize().to_vec().into();
        Hashed::InPart(self.progress)
    }

    /// Takes the next leaf, or says why the content is refused.
    fn take(&mut self, leaf: &[u8]) -> Option<String> {
        if self.progress.dag.size() == 0 {
            match content::look(self.upload.declared, self.upload.size, leaf) {
                Ok(Found { mime, is_text }) => {
                    mime.clone_into(&mut self.progress.mime);
                    self.text = is_text.then(Vec::new);
                }
                Err(reason) => return Some(reason),
            }
        }
        self.progress.dag.push(leaf);
        if self.upload.sha256.is_some() {
            self.sha256.update(leaf);
        }
        if let Some(text) = &mut self.text {
            text.extend_from_slice(leaf);
        }
        None
    }

    fn finish(self) -> Hashed {
        let (found, size) = (self.progress.dag.size(), self.upload.size);
        if found != size {
            return Hashed::Refused(format!("The file has {found} bytes, and {size} were announced"));
        }
        if let Some(announced) = &self.upload.sha256 {
            let found: String = self.sha256.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
            if found != announced.to_string() {
                return Hashed::Refused(format!("The file's SHA-256 is {found}, and {announced} was announced"));
            }
        }
        if let Some(Err(reason)) = self.text.map(|text| content::check_text(self.upload.declared, &text)) {
            return Hashed::Refused(reason);
        }
        Hashed::Whole { cid: self.progress.dag.finish(), mime: self.progress.mime }
    }
}
