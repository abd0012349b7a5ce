//! Has a picture decoded by another process, which may crash.

use std::{io, path::PathBuf, process::Stdio, time::Duration};

use shared::model::{Form, Picture};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::Command,
    sync::Semaphore,
};

use crate::raster::Header;

/// Longest time of the process's processor, in seconds.
const SECONDS: u64 = 10;

/// How many times as long previews are waited for.
const WAIT: u64 = 4;

/// Most bytes of all previews of a picture.
const MAX_OUTPUT: u64 = 8 << 20;

/// Longest reason that is logged, in bytes.
const MAX_REASON: u64 = 300;

/// Why a picture has no previews.
#[derive(Debug, thiserror::Error)]
pub enum DecoderError {
    /// The process can't be started or talked to: its picture is tried again.
    #[error("decoder's process")]
    Process(#[from] io::Error),
    /// It isn't a picture, takes more than it may, or crashed the process: it would again.
    #[error("picture refused: {0}")]
    Refused(String),
}

/// Decodes pictures, one at a time.
pub struct Decoder {
    program: PathBuf,
    one: Semaphore,
    seconds: u64,
}

/// A picture with its forms' bytes.
#[derive(Debug)]
pub struct Decoded {
    /// What is known of it.
    pub picture: Picture,
    /// Width and content of its forms.
    pub forms: Vec<(Form, Vec<u8>)>,
}

impl Decoder {
    /// A decoder that starts this program with the argument `decode`.
    pub fn new(program: PathBuf) -> Self {
        Self::within(program, SECONDS)
    }

    /// The same with so many seconds of the processor for a picture.
    pub fn within(program: PathBuf, seconds: u64) -> Self {
        Self { program, one: Semaphore::new(1), seconds }
    }

    /// Decodes the file that was at a URI.
    pub async fn decode(&self, uri: &str, file: &[u8]) -> Result<Decoded, DecoderError> {
        let refused = |reason: &str| DecoderError::Refused(reason.to_owned());
        let _one = self.one.acquire().await.map_err(|_| refused("closed"))?;
        let time = Duration::from_secs(WAIT * self.seconds);
        let output = tokio::time::timeout(time, self.run(file)).await.map_err(|_| refused("too slow"))??;
        read(uri, &output).ok_or_else(|| refused("unreadable previews"))
    }

    async fn run(&self, file: &[u8]) -> Result<Vec<u8>, DecoderError> {
        let mut process = Command::new(&self.program)
            .arg("decode")
            .arg(self.seconds.to_string())
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let (input, output, errors) = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let send = async {
            if let Some(mut input) = input {
                // One that refuses early doesn't read on.
                input.write_all(file).await.ok();
            }
        };
        let ((), bytes, reason) = tokio::join!(send, receive(output, MAX_OUTPUT), receive(errors, MAX_REASON));
        let (bytes, reason, status) = (bytes?, reason?, process.wait().await?);
        if status.success() {
            return Ok(bytes);
        }
        Err(DecoderError::Refused(format!("{status}: {}", String::from_utf8_lossy(&reason).trim())))
    }
}

/// Reads to the end, or as much as it may be: the stream is closed then, and its writer ends.
async fn receive(stream: Option<impl AsyncRead + Unpin>, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        stream.take(most).read_to_end(&mut bytes).await?;
    }
    Ok(bytes)
}

/// Nothing is taken from the process that isn't as it should be: it may have been taken over.
fn read(uri: &str, output: &[u8]) -> Option<Decoded> {
    let end = output.iter().position(|byte| *byte == b'\n')?;
    let header: Header = serde_json::from_slice(output.get(..end)?).ok()?;
    let mut rest = output.get(end + 1..)?;
    let mut forms = Vec::new();
    for (form, length) in header.forms {
        let (file, others) = rest.split_at_checked(length)?;
        if file.get(..4)? != b"RIFF" || file.get(8..12)? != b"WEBP" || form.width == 0 || form.height == 0 {
            return None;
        }
        forms.push((form, file.to_vec()));
        rest = others;
    }
    let is_color = |color: &String| {
        color.len() == 7 && color.starts_with('#') && color[1..].bytes().all(|digit| digit.is_ascii_hexdigit())
    };
    let is_base64 = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
    let is_right = (1..=3).contains(&forms.len())
        && rest.is_empty()
        && header.color.as_ref().is_none_or(is_color)
        && header.placeholder.len() <= 40
        && is_base64(&header.placeholder);
    is_right.then(|| Decoded {
        picture: Picture {
            uri: uri.to_owned(),
            width: header.width,
            height: header.height,
            forms: forms.iter().map(|(form, _)| *form).collect(),
            placeholder: header.placeholder,
            color: header.color,
            fingerprint: header.fingerprint,
        },
        forms,
    })
}
