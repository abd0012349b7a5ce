//! What somebody puts into queues who has taken over a function that may: the relay has nothing but its row.

use alloy::{
    primitives::{Address, B256, U256},
    providers::{Provider, ext::AnvilApi},
    sol_types::SolValue,
};
use local::workshop::Workshop;
use shared::{
    chain::contracts::{
        native::{CommentsProtocol, Creator1155, Erc20, Erc20Minter, TimedMinter},
        third_party::RegistryCollection,
    },
    model::{Call, TransactionStatus, WriteKind},
};

use crate::support::{Error, RENAMING_GAS, assert_done_once, calls, queue, relay, renaming, run, stage, transaction};

const GRANT: &str = "a permission";

/// Calls of which a stranger has something, by what that is.
fn forgeries(workshop: &Workshop, collection: Address, stranger: Address) -> Vec<(&'static str, Call)> {
    let addresses = &workshop.chain.addresses;
    let one = U256::ONE;
    let mint = |minter, arguments: Vec<u8>| {
        let mint = Creator1155::mintCall {
            minter,
            tokenId: one,
            quantity: one,
            rewardsRecipients: Vec::new(),
            minterArguments: arguments.into(),
        };
        Call::new(collection, &mint).with_value(one)
    };
    let for_usdc = Erc20Minter::mintCall {
        mintTo: stranger,
        quantity: one,
        tokenAddress: collection,
        tokenId: one,
        totalValue: one,
        currency: addresses.usdc,
        mintReferral: Address::ZERO,
        comment: String::new(),
    };
    let timed = TimedMinter::mintCall {
        mintTo: stranger,
        quantity: one,
        collection,
        tokenId: one,
        mintReferral: Address::ZERO,
        comment: String::new(),
    };
    let release = RegistryCollection::purchaseTokenWithValueCall {
        to: stranger,
        tokenId: one,
        amount: one,
        value: one,
        referrer0: Address::ZERO,
        referrer1: Address::ZERO,
    };
    let comment = CommentsProtocol::commentCall {
        commenter: stranger,
        contractAddress: collection,
        tokenId: one,
        text: String::new(),
        replyTo: CommentsProtocol::CommentIdentifier {
            commenter: Address::ZERO,
            contractAddress: Address::ZERO,
            tokenId: U256::ZERO,
            nonce: B256::ZERO,
        },
        commenterSmartWallet: Address::ZERO,
        referrer: Address::ZERO,
    };
    let listed = (stranger, one, U256::ZERO, Vec::<B256>::new()).abi_encode_params();
    let give = Creator1155::addPermissionCall { tokenId: one, user: stranger, permissionBits: U256::from(2) };
    let mut forgeries = vec![
        ("money", Call::payment(stranger, one)),
        ("USDC", Call::new(addresses.usdc, &Erc20::transferCall { to: stranger, amount: one })),
        ("an allowance", Call::new(addresses.usdc, &Erc20::approveCall { spender: stranger, amount: one })),
        ("a token", mint(addresses.fixed_price_minter, (stranger, String::new()).abi_encode_params())),
        ("a token for USDC", Call::new(addresses.erc20_minter, &for_usdc).with_value(one)),
        ("a token of a timed sale", Call::new(addresses.timed_minter, &timed).with_value(one)),
        ("a token of a release", Call::new(collection, &release)),
        ("a comment", Call::new(addresses.comments, &comment).with_value(one)),
        (GRANT, Call::new(collection, &give)),
    ];
    forgeries.extend(addresses.merkle_minter.map(|minter| ("a token of a list", mint(minter, listed))));
    forgeries
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_for_a_stranger_is_signed_from_any_queue() -> Result<(), Error> {
    let (workshop, artists, collection) = stage("relay-forged", 2).await?;
    let (victim, other) = (artists[0], artists[1]);
    let node = workshop.node().await?;
    let account: Address = victim.embedded_wallet.into();
    node.anvil_set_balance(account, U256::from(1_000_000)).await?;
    let (mut forged, mut granted) = (Vec::new(), Vec::new());
    for kind in WriteKind::ALL {
        for (what, call) in forgeries(&workshop, collection, Address::repeat_byte(7)) {
            let mut admission = workshop.admission(&victim, vec![calls(vec![call], RENAMING_GAS)]).await?;
            for new in &mut admission.transactions {
                new.kind = kind;
            }
            let ids = workshop.admit(&admission).await?;
            // What this queue is there for: whoever may put it there gives a permission to anybody.
            let is_meant = kind == WriteKind::Grant && what == GRANT;
            let queued = if is_meant { &mut granted } else { &mut forged };
            queued.push((kind, what, ids[0]));
        }
    }
    queue(&workshop, &other, vec![renaming(collection, "ar://honest")]).await?;

    run(&relay(&workshop, &workshop.rpc_url)?).await?;

    for (kind, what, id) in forged {
        let row = transaction(&workshop, &victim, id).await?;
        assert_eq!((row.status, row.hashes.len()), (TransactionStatus::Failed, 0), "{what} from {kind}: {row:?}");
        assert!(row.reason.is_some_and(|reason| reason.contains("policy")), "{what} from {kind}");
    }
    for (kind, what, id) in granted {
        let row = transaction(&workshop, &victim, id).await?;
        assert_eq!(row.status, TransactionStatus::Mined, "{what} from {kind}: {row:?}");
    }
    assert_eq!(node.get_balance(account).await?, U256::from(1_000_000));
    assert_done_once(&workshop, collection, &["ar://honest".to_owned()]).await
}
