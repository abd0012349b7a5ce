use std::{fmt, str::FromStr};

use aws_lc_rs::digest;
use serde_bytes::ByteArray;

use super::{invalid::Invalid, schema::text_schema, text::serde_as_text};

/// Content identifier of a file: version 1, SHA-256, of raw bytes or a tree of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cid {
    codec: Codec,
    digest: [u8; 32],
}

/// Form of the block that a [`Cid`] is the hash of (<https://github.com/multiformats/multicodec>).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Codec {
    Raw = 0x55,
    DagPb = 0x70,
}

/// Bytes of a CID: version, codec, hash function, length, digest.
const BYTES: usize = 36;

const BASE32: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

impl Cid {
    pub(super) fn of_raw(block: &[u8]) -> Self {
        Self::of(Codec::Raw, block)
    }

    pub(super) fn of_node(block: &[u8]) -> Self {
        Self::of(Codec::DagPb, block)
    }

    /// The URI of the whole file.
    pub fn uri(self) -> String {
        format!("ipfs://{self}")
    }

    /// The key of the file's object in the bucket, which is its path where files are served.
    pub fn object(self) -> String {
        format!("ipfs/{self}")
    }

    /// The CID in such a URI.
    pub fn in_uri(uri: &str) -> Option<Self> {
        uri.strip_prefix("ipfs://")?.parse().ok()
    }

    /// Whether the block is the file's bytes themselves.
    pub fn is_raw(self) -> bool {
        self.codec == Codec::Raw
    }

    fn of(codec: Codec, block: &[u8]) -> Self {
        let hash = digest::digest(&digest::SHA256, block);
        let mut digest = [0; 32];
        digest.copy_from_slice(hash.as_ref());
        Self { codec, digest }
    }

    pub(super) fn to_bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..4].copy_from_slice(&[1, self.codec as u8, 0x12, 0x20]);
        bytes[4..].copy_from_slice(&self.digest);
        bytes
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (&[1, codec, 0x12, 0x20], rest) = bytes.split_first_chunk()? else { return None };
        let codec = [Codec::Raw, Codec::DagPb].into_iter().find(|known| *known as u8 == codec)?;
        Some(Self { codec, digest: rest.try_into().ok()? })
    }

    /// The compact form that hashing in parts is stored in.
    pub(super) fn to_array(self) -> ByteArray<BYTES> {
        ByteArray::new(self.to_bytes())
    }

    pub(super) fn from_array(bytes: &ByteArray<BYTES>) -> Option<Self> {
        Self::from_bytes(bytes.as_slice())
    }
}

impl fmt::Display for Cid {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut text, mut bits, mut held) = (String::from("b"), 0_u32, 0);
        for byte in self.to_bytes() {
            (bits, held) = (bits << 8 | u32::from(byte), held + 8);
            while held >= 5 {
                held -= 5;
                text.push(char::from(BASE32[(bits >> held) as usize & 31]));
            }
        }
        text.push(char::from(BASE32[(bits << (5 - held)) as usize & 31]));
        formatter.pad(&text)
    }
}

impl FromStr for Cid {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let parse = || {
            let (mut bytes, mut bits, mut held) = (Vec::with_capacity(BYTES), 0_u32, 0);
            for letter in text.strip_prefix('b')?.bytes() {
                let value = BASE32.iter().position(|known| *known == letter)?;
                (bits, held) = (bits << 5 | u32::try_from(value).ok()?, held + 5);
                if held >= 8 {
                    held -= 8;
                    bytes.push((bits >> held & 0xff) as u8);
                }
            }
            // Spare bits must be zero, so that a file has one name.
            (bits & ((1 << held) - 1) == 0 && held < 5).then_some(())?;
            Self::from_bytes(&bytes)
        };
        parse().ok_or(Invalid("must be a CID of version 1 in base32, such as bafkrei… or bafybei…"))
    }
}

serde_as_text!(Cid);

text_schema!(
    Cid,
    "Content identifier of a file: version 1 in base32, as `ipfs add --cid-version=1 --raw-leaves` gives it.",
    "bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy",
    pattern = "^baf(kr|yb)ei[a-h][a-z2-7]{50}[aeimquy4]$",
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_one_block_has_the_published_cid() {
        for (content, expected) in [
            ("", "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"),
            ("hello world", "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e"),
        ] {
            let cid = Cid::of_raw(content.as_bytes());
            assert_eq!(cid.to_string(), expected);
            assert_eq!(expected.parse(), Ok(cid));
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let good = Cid::of_raw(b"x").to_string();
        let (last, start) = (good.as_bytes()[58], &good[..58]);
        let spare = char::from(BASE32[BASE32.iter().position(|known| *known == last).unwrap() + 1]);
        for text in [
            "",
            "b",
            "QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG",
            start,
            &format!("{start}{spare}"),
            &format!("{good}a"),
            &good.to_uppercase(),
            &format!("z{}", &good[1..]),
            "bafybeidemofirstlight",
            "../../etc/passwd",
        ] {
            assert!(text.parse::<Cid>().is_err(), "{text:?} was accepted");
        }
    }
}
