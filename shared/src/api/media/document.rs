use crate::model::{Cid, Dag, Invalid, MetadataUri};

/// A small file that the service writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its media type.
    pub mime: &'static str,
    /// Its bytes.
    pub content: Vec<u8>,
}

impl Document {
    /// Its CID.
    pub fn cid(&self) -> Cid {
        Dag::cid_of(&self.content)
    }

    /// Its URI.
    pub fn uri(&self) -> Result<MetadataUri, Invalid> {
        uri_of(self.cid())
    }
}

pub(super) fn uri_of(cid: Cid) -> Result<MetadataUri, Invalid> {
    cid.uri().parse()
}
