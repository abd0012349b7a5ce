//! Receipts in blocks of the OP stack, each of which begins with a deposit.

use alloy::{
    consensus::{Header, TxEnvelope},
    eips::{eip2718::Decodable2718, eip7685::EMPTY_REQUESTS_HASH},
    hex,
    primitives::{B256, Bloom, address, b256, bytes},
    rpc::types,
};
use local::patience::PATIENCE;
use serde_json::{Value, json};
use shared::{
    chain::node::{Node, NodeError, Standing},
    model::ChainId,
};

use crate::{
    proxy::{self, Act},
    support::Error,
};

/// Unichain Sepolia, whose sequencer told this block of two transactions before it added more (flashblock 0):
/// <https://github.com/ethereum-optimism/optimism/blob/develop/rust/op-alloy/crates/rpc-types-engine/src/envelope.rs>
/// The receipts are in a test of reth's, `convert_unichain_payload` of `crates/optimism/flashblocks`. Neither tells the
/// root of the transactions, which the block's hash proves.
const CHAIN: ChainId = ChainId(1301);
const NUMBER: u64 = 35_535_698;
const BLOCK: B256 = b256!("a66f8562a861f906a2438d7d6ba79495640d98d9c6922b9605c54b57f97a345c");

/// The block's second transaction, which somebody signed.
const SIGNED: &str = "02f87e8205158401c8ea9180338255789400000000000000000000000000000000000000008096426c6f636b204e756d6\
    265723a203335353335363938c080a091f83058c881d9ad71c179ce680326501702eb68150d20b2bf7786e388f954a2a0180185d83e503f11bf\
    3c265c1f9296ed8d3d7c04031cd8bb30509ad188ce7bbc";
const HASH: B256 = b256!("89f7852587dca7dd2f31b02f3a93f47669a82784025d607ec7c336b66af84a19");

/// Call data of its first one, the deposit.
const ATTRIBUTES: &str = "0x098999be000007d0000dbba0000000000000000800000000690be848000000000092042e0000000000000000000\
    00000000000000000000000000000000000000000000900000000000000000000000000000000000000000000000000000000000000010ffd7e\
    2fb2c36e5f27c015872ce733a7b4f3fc0f4ee668d7469c557c48f8250f0000000000000000000000004ab3387810ef500bfe05a49dc53a44c22\
    2cbab3e000000000000000000000000";

/// The block as nodes tell it.
fn block() -> Result<Value, Error> {
    let header = types::Header::new(Header {
        parent_hash: b256!("06ff95a9cd23b0328da74a984aa986b2e01d377dab1825f1029e39ece6c4a3ea"),
        beneficiary: address!("4200000000000000000000000000000000000011"),
        state_root: b256!("b29a9bcae8cf3ae6d68985fcd70db80b3818cd629c9d5da0bb116451739b2078"),
        transactions_root: b256!("e98e69a220bc81ee612ccfcd34e91df88d016c1d918db545239d4e89e35ca52d"),
        receipts_root: b256!("91d8ad10740ccfc1bd848fba0e02668d95769c08eeea30f10698692ba86c6159"),
        number: NUMBER,
        gas_limit: 60_000_000,
        gas_used: 67_988,
        timestamp: 1_762_388_126,
        extra_data: bytes!("00000000320000000c"),
        mix_hash: b256!("8beee738d20a9d77c5f27e9cb799ebe5b536f0985efad5f7d77ebff47f092c4a"),
        base_fee_per_gas: Some(51),
        withdrawals_root: Some(b256!("62ed62e0391b081bf172f287fbbe75e87d8a6c22f1d3b1f1aef4788c134633d2")),
        blob_gas_used: Some(0),
        excess_blob_gas: Some(0),
        parent_beacon_block_root: Some(b256!("f6d335a6b2b4fd8fb539cd51a49769df4d53c31a90c54dd270e54542638ff101")),
        requests_hash: Some(EMPTY_REQUESTS_HASH),
        ..Header::default()
    });
    assert_eq!(header.hash, BLOCK);
    let deposit = json!({
        "type": "0x7e", "sourceHash": "0x35dd2ec802504a143048c7830f8f570e0d6cf5147217af869939c6b4ba710a36",
        "from": "0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001", "to": "0x4200000000000000000000000000000000000015",
        "mint": "0x0", "value": "0x0", "gas": "0xf4240", "input": ATTRIBUTES,
    });
    let signed = TxEnvelope::decode_2718_exact(&hex::decode(SIGNED)?)?;
    let mut block = serde_json::to_value(&header)?;
    block["transactions"] = json!([deposit, signed]);
    Ok(block)
}

/// The deposit's receipt and the other one, as nodes tell them.
fn receipts() -> [Value; 2] {
    let receipt = |kind: &str, total: &str| {
        let bloom = Bloom::ZERO;
        json!({"type": kind, "status": "0x1", "cumulativeGasUsed": total, "logsBloom": bloom, "logs": []})
    };
    let mut deposit = receipt("0x7e", "0xb41c");
    (deposit["depositNonce"], deposit["depositReceiptVersion"]) = (json!("0x21e3b52"), json!("0x1"));
    [deposit, receipt("0x2", "0x10994")]
}

/// A node with these receipts of the block.
async fn node_with(receipts: [Value; 2]) -> Result<Node, Error> {
    let block = block()?;
    let claim = json!({"transactionHash": HASH, "blockNumber": block["number"], "blockHash": BLOCK});
    let url = proxy::start("", move |request| match &*request.operation {
        "eth_getTransactionReceipt" => Act::Say(claim.clone()),
        "eth_getBlockByNumber" => Act::Say(block.clone()),
        "eth_getBlockReceipts" => Act::Say(json!(receipts)),
        _ => Act::Refuse("the method does not exist"),
    })
    .await?;
    let urls = json!({ CHAIN.to_string(): [url] }).to_string().parse()?;
    Ok(Node::with_timeout(&urls, CHAIN, PATIENCE)?)
}

#[tokio::test]
async fn receipt_behind_a_deposit_is_proved_by_its_block() -> Result<(), Error> {
    let node = node_with(receipts()).await?;

    let (receipt, standing) = node.receipt(&[HASH]).await?.ok_or("no receipt")?;

    assert_eq!((receipt.block, receipt.block_hash, standing), (NUMBER, BLOCK, Standing::Held));
    assert_eq!((receipt.succeeded, receipt.gas_used, receipt.gas_price), (true, 21_880, 51));
    Ok(())
}

#[tokio::test]
async fn receipts_prove_nothing_unless_the_deposits_is_whole() -> Result<(), Error> {
    let [deposit, signed] = receipts();
    let with = |field: &str, value: Value| {
        let mut changed = deposit.clone();
        changed[field] = value;
        changed
    };
    for (what, told) in [
        ("no nonce", [with("depositNonce", Value::Null), signed.clone()]),
        ("another nonce", [with("depositNonce", json!("0x21e3b53")), signed.clone()]),
        ("no version", [with("depositReceiptVersion", Value::Null), signed.clone()]),
        ("another type", [with("type", json!("0x2")), signed.clone()]),
        ("another order", [signed.clone(), deposit.clone()]),
    ] {
        let answer = node_with(told).await?.receipt(&[HASH]).await;
        assert!(matches!(answer, Err(NodeError::Wrong(_))), "{what}: {answer:?}");
    }
    Ok(())
}
