use serde::{Deserialize, Serialize};
use serde_bytes::ByteArray;

use super::cid::Cid;

/// Bytes of a leaf: what kubo cuts files into.
pub const LEAF: usize = 256 * 1024;

/// Most links of a node (<https://github.com/ipfs/boxo/blob/main/ipld/unixfs/importer/helpers/helpers.go>).
const LINKS: usize = 174;

/// A file's tree as it grows, as `ipfs add --cid-version=1 --raw-leaves` builds it: balanced, with raw leaves. It holds
/// hashes only, some 60 bytes a link, and can be stored between two leaves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Dag {
    /// From the leaves up: links that have no node yet.
    levels: Vec<Vec<Link>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Link {
    cid: ByteArray<36>,
    /// Bytes of the file below it.
    size: u64,
    /// The same with the nodes' own bytes.
    total: u64,
}

impl Dag {
    /// The CID of a whole file.
    pub fn cid_of(content: &[u8]) -> Cid {
        let mut dag = Self::default();
        content.chunks(LEAF).for_each(|leaf| dag.push(leaf));
        dag.finish()
    }

    /// Adds the next leaf; all but a file's last one have [`LEAF`] bytes.
    pub fn push(&mut self, leaf: &[u8]) {
        self.push_with(leaf, &mut |_, _| ());
    }

    /// [`Dag::push`] that hands over the nodes that are complete by then, and returns the leaf's CID.
    pub fn push_with(&mut self, leaf: &[u8], nodes: &mut dyn FnMut(Cid, Vec<u8>)) -> Cid {
        let (cid, size) = (Cid::of_raw(leaf), leaf.len() as u64);
        self.add(0, Link { cid: cid.to_array(), size, total: size }, nodes);
        cid
    }

    /// Bytes of the file so far.
    pub fn size(&self) -> u64 {
        self.levels.iter().flatten().map(|link| link.size).sum()
    }

    /// The CID of the file.
    pub fn finish(self) -> Cid {
        self.finish_with(&mut |_, _| ())
    }

    /// [`Dag::finish`] that hands over the nodes that were left.
    pub fn finish_with(mut self, nodes: &mut dyn FnMut(Cid, Vec<u8>)) -> Cid {
        let mut level = 0;
        loop {
            let links = self.levels.get_mut(level).map(std::mem::take).unwrap_or_default();
            match (links.as_slice(), level + 1 >= self.levels.len()) {
                ([], _) => return Cid::of_raw(&[]),
                ([only], true) => return Cid::from_array(&only.cid).unwrap_or_else(|| Cid::of_raw(&[])),
                _ => self.add(level + 1, node(&links, nodes), nodes),
            }
            level += 1;
        }
    }

    fn add(&mut self, level: usize, link: Link, nodes: &mut dyn FnMut(Cid, Vec<u8>)) {
        if self.levels.len() == level {
            self.levels.push(Vec::new());
        }
        if self.levels[level].len() == LINKS {
            let full = std::mem::take(&mut self.levels[level]);
            self.add(level + 1, node(&full, nodes), nodes);
        }
        self.levels[level].push(link);
    }
}

/// The node over `links`: dag-pb (<https://ipld.io/specs/codecs/dag-pb/spec/>) around UnixFS
/// (<https://specs.ipfs.tech/unixfs/>).
fn node(links: &[Link], nodes: &mut dyn FnMut(Cid, Vec<u8>)) -> Link {
    const FILE: u64 = 2;
    let size = links.iter().map(|link| link.size).sum();
    let mut data = Vec::new();
    number(&mut data, 1, FILE);
    number(&mut data, 3, size);
    links.iter().for_each(|link| number(&mut data, 4, link.size));
    let mut block = Vec::new();
    for link in links {
        let mut inner = Vec::new();
        bytes(&mut inner, 1, link.cid.as_slice());
        bytes(&mut inner, 2, &[]);
        number(&mut inner, 3, link.total);
        bytes(&mut block, 2, &inner);
    }
    bytes(&mut block, 1, &data);
    let total = links.iter().map(|link| link.total).sum::<u64>() + block.len() as u64;
    let cid = Cid::of_node(&block);
    nodes(cid, block);
    Link { cid: cid.to_array(), size, total }
}

fn number(message: &mut Vec<u8>, field: u8, value: u64) {
    message.push(field << 3);
    varint(message, value);
}

fn bytes(message: &mut Vec<u8>, field: u8, value: &[u8]) {
    message.push(field << 3 | 2);
    varint(message, value.len() as u64);
    message.extend_from_slice(value);
}

fn varint(message: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        message.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    message.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of a published implementation: ipfs-unixfs-importer 17, with raw leaves of 256 KiB and 174 links a node.
    #[test]
    fn files_have_the_cids_of_a_published_implementation() {
        for (size, expected) in [
            (0, "bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku"),
            (11, "bafkreidyuyttca6rpq42bnqsnyrgz3dq4mztp5f4ni4am5abwvfdhz4ovu"),
            (LEAF, "bafkreibruh455iawsviqslif5c7uurdcfdemh22mtnytyzvnzn75kpejxy"),
            (LEAF + 1, "bafybeiexg2oqkfnj56l7fcmawswqbijt5shq4b5rg6a546uwpkqqzwjioi"),
            (2 * LEAF + 1, "bafybeib2ym6g3qle2co2mwlypyzu65jqcpnkt5r7i7dijhq5echor6grza"),
            (LINKS * LEAF, "bafybeihpe5snhzneq7xs53nivmsopto5lrogo3wjynauqylqeym5a3irbm"),
            (LINKS * LEAF + 1, "bafybeib4y7ghw2rq7bracc4xwtxrbzo7cfvagdpte2tmrkgwl6dyard3cm"),
            (175 * LEAF + 5, "bafybeig3ditv32awk5ax5w3lwugydoz5vhxs6vsycpmyv4qdosmpgv47da"),
            (351 * LEAF + 77, "bafybeidrlafjh2t7czixmtihxn6goxhecicrakcpymmgqakvxo6vt7ylda"),
        ] {
            let content: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            assert_eq!(Dag::cid_of(&content).to_string(), expected, "{size} bytes");
        }
    }
}
