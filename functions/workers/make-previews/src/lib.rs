//! Makes previews of pictures. Anyone can put any URI on a chain: what is behind it is decoded by a process that has nothing.
#![warn(missing_docs)]

mod decode;
mod decoder;
mod encode;
mod queue;
mod raster;
mod svg;

pub use decode::run as decode;
pub use decoder::{Decoded, Decoder, DecoderError};
pub use queue::{DOWNLOAD, LONGEST_DOCUMENT, Previewed, Queue, QueueError};
