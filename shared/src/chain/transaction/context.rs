use super::policy::Policy;
use crate::chain::{chains::Chain, node::Node, wallet::LaneSigners};

#[derive(Clone)]
pub(super) struct Context {
    pub(super) chain: Chain,
    pub(super) node: Node,
    pub(super) signers: LaneSigners,
    pub(super) policy: Policy,
}
