//! The index equals the contracts' own answers and a naive evaluation of all logs.

use std::collections::{BTreeMap, BTreeSet};

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    rpc::types::{Filter, Log},
    sol,
    sol_types::SolEvent,
};
use shared::{
    chain::contracts::native::{
        CommentsProtocol::Commented,
        Creator1155::{self, Purchased, SetupNewToken, TransferSingle, UpdatedPermissions},
        CreatorFactory::SetupNewContract,
        Erc20Minter::{self, ERC20RewardsDeposit},
        FixedPriceMinter,
        MintCommenter::MintComment,
        ProtocolRewards::RewardsDeposit,
    },
    model::{self, ChainId, Counts, MomentRef, Payment, SaleType, StatsSubject},
    store::chain::{Moments, PaymentFilter, Payments, Statistics},
};
use tests::{Error, TestChain, history::History};

use crate::support::{Indexer, Rows};

sol! {
    #[sol(rpc)]
    interface Facts {
        struct TokenData {
            string uri;
            uint256 maxSupply;
            uint256 totalMinted;
        }
        struct Royalties {
            uint32 schedule;
            uint32 bps;
            address recipient;
        }

        function contractURI() external view returns (string);
        function getTokenInfo(uint256 token) external view returns (TokenData);
        function getRoyalties(uint256 token) external view returns (Royalties);
        function balanceOf(address account, uint256 token) external view returns (uint256);
    }

    event Transfer(address indexed from, address indexed to, uint256 value);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn index_equals_the_contracts_answers_and_logs() -> Result<(), Error> {
    let test_chain = TestChain::start("naive", 64).await?;
    let mut history = History::on(&test_chain, 7).await?;
    let mut indexer = Indexer::of(&test_chain, &[&test_chain.rpc_url]).await?;
    for round in 0..3 {
        history.go_on(120).await?;
        indexer.follow().await?;
        history.go_on(30).await?;
        if round == 1 {
            test_chain.reorganise(20).await?;
            history.forget_dropped().await?;
            history.go_on(30).await?;
        }
        indexer.follow().await?;
        let logs = test_chain.node.get_logs(&Filter::new().from_block(0)).await?;
        let moments = collections(&test_chain, &indexer, &logs).await?;
        assert!(moments > 5, "only {moments} moments");
        payments(&test_chain, &indexer, &logs).await?;
        statistics(&test_chain, &indexer, &logs).await?;
        comments(&indexer.rows().await?, &logs)?;
    }
    Ok(())
}

fn decoded<E: SolEvent>(logs: &[Log]) -> impl Iterator<Item = (&Log, E)> {
    logs.iter().filter_map(|log| Some((log, log.log_decode::<E>().ok()?.inner.data)))
}

/// Compares each collection and moment with its contract's answers. Returns the number of moments.
async fn collections(test_chain: &TestChain, indexer: &Indexer, logs: &[Log]) -> Result<usize, Error> {
    let (moments, chain) = (Moments::new(indexer.table.clone()), test_chain.chain.id);
    let known: BTreeSet<_> = moments.collection_addresses(chain).await?.into_iter().map(|(it, _)| it).collect();
    let created: Vec<SetupNewContract> = decoded(logs).map(|(_, event)| event).collect();
    assert_eq!(known, created.iter().map(|event| event.newContract.into()).collect());
    let mut count = 0;
    for created in &created {
        let collection = moments.collection(chain, created.newContract.into()).await?.ok_or("no collection")?;
        let (contract, facts) = (
            Creator1155::new(created.newContract, &test_chain.node),
            Facts::new(created.newContract, &test_chain.node),
        );
        assert_eq!(collection.name, contract.name().call().await?);
        assert_eq!(collection.uri, facts.contractURI().call().await?);
        assert_eq!(collection.creator, created.defaultAdmin.into());
        assert_eq!(collection.admins, admins(test_chain, logs, created.newContract, U256::ZERO).await?);
        let next: u64 = contract.nextTokenId().call().await?.to();
        for token in 1..next {
            let place = MomentRef { chain, collection: collection.address, token: U256::from(token).into() };
            let moment = moments.moment(&place).await?.ok_or_else(|| format!("no moment {place}"))?;
            same_as_onchain(test_chain, indexer, logs, &moment).await?;
            count += 1;
        }
        let beyond = MomentRef { chain, collection: collection.address, token: U256::from(next).into() };
        assert!(moments.moment(&beyond).await?.is_none());
    }
    Ok(count)
}

async fn same_as_onchain(
    test_chain: &TestChain,
    indexer: &Indexer,
    logs: &[Log],
    moment: &model::Moment,
) -> Result<(), Error> {
    let (address, token) = (Address::from(moment.collection), moment.token_id.into());
    let facts = Facts::new(address, &test_chain.node);
    let info = facts.getTokenInfo(token).call().await?;
    assert_eq!((&moment.uri, moment.max_supply.0, moment.minted.0), (&info.uri, info.maxSupply, info.totalMinted));
    assert_eq!(moment.admins, admins(test_chain, logs, address, token).await?);

    let known = &test_chain.chain.addresses;
    let fixed = FixedPriceMinter::new(known.fixed_price_minter, &test_chain.node).sale(address, token).call().await?;
    let indexed = |strategy| moment.sales.iter().find(move |sale| sale.strategy == strategy);
    let terms = indexed(SaleType::FixedPrice).map(|sale| (sale.start, sale.end, sale.max_per_address, sale.price.0));
    let expected = (fixed.saleStart, fixed.saleEnd, fixed.maxTokensPerAddress, U256::from(fixed.pricePerToken));
    assert_eq!(terms, (fixed.saleEnd > 0).then_some(expected));
    let erc20 = Erc20Minter::new(known.erc20_minter, &test_chain.node).sale(address, token).call().await?;
    let terms = indexed(SaleType::Erc20).map(|sale| (sale.start, sale.price.0, sale.currency, sale.funds_recipient));
    let expected = (erc20.saleStart, erc20.pricePerToken, erc20.currency.into(), Some(erc20.fundsRecipient.into()));
    assert_eq!(terms, (erc20.saleEnd > 0).then_some(expected));

    let collection = Moments::new(indexer.table.clone()).collection(moment.chain_id, moment.collection).await?;
    let royalty = moment.royalty.or(collection.and_then(|collection| collection.royalty)).ok_or("no royalties")?;
    let expected = facts.getRoyalties(token).call().await?;
    assert_eq!((royalty.bps, royalty.recipient), (expected.bps, expected.recipient.into()));

    Ok(())
}

/// Accounts that were given permissions and have the admin bit now, without the factory.
async fn admins(
    test_chain: &TestChain,
    logs: &[Log],
    collection: Address,
    token: U256,
) -> Result<Vec<model::Address>, Error> {
    let contract = Creator1155::new(collection, &test_chain.node);
    let mut admins = BTreeSet::new();
    for (log, event) in decoded::<UpdatedPermissions>(logs) {
        if log.address() != collection || event.tokenId != token || event.user == test_chain.chain.addresses.factory {
            continue;
        }
        let mask = contract.permissions(token, event.user).call().await?;
        if mask & U256::from(2) != U256::ZERO {
            admins.insert(model::Address::from(event.user));
        }
    }
    Ok(admins.into_iter().collect())
}

/// Compares payments with the value sent less the mint fee, and with the ERC-20 currency's own transfers.
async fn payments(test_chain: &TestChain, indexer: &Indexer, logs: &[Log]) -> Result<(), Error> {
    let known = &test_chain.chain.addresses;
    let mut expected = Vec::new();
    for log in logs {
        let in_transaction = || logs.iter().filter(|other| other.transaction_hash == log.transaction_hash);
        if let Ok(bought) = log.log_decode::<Purchased>() {
            let bought = bought.inner.data;
            let fee = Creator1155::new(log.address(), &test_chain.node).mintFee().call().await?;
            let amount = bought.value - fee * bought.quantity;
            if !amount.is_zero() {
                let is_its = |deposit: &RewardsDeposit| deposit.from == log.address();
                let before = in_transaction().filter(|other| other.log_index < log.log_index);
                let mut deposits = before.filter_map(|log| Some(log.log_decode::<RewardsDeposit>().ok()?.inner.data));
                let rewards = deposits.rfind(is_its).ok_or("no rewards")?;
                let sent_by = (rewards.mintReferral != rewards.zora)
                    .then_some((rewards.mintReferral, rewards.mintReferralReward));
                expected.push((amount, amount, Address::ZERO, bought.quantity, sent_by));
            }
        } else if let Ok(paid) = log.log_decode::<ERC20RewardsDeposit>() {
            let moved = in_transaction().filter(|log| log.address() == known.usdc);
            let moved: Vec<_> = moved.filter_map(|log| Some(log.log_decode::<Transfer>().ok()?.inner.data)).collect();
            let into = moved.iter().find(|moved| moved.to == known.erc20_minter).ok_or("nothing paid")?.value;
            let out = moved.iter().rfind(|moved| moved.from == known.erc20_minter).ok_or("nothing paid out")?.value;
            let minted = in_transaction().find_map(|log| log.log_decode::<TransferSingle>().ok()).ok_or("no mint")?;
            let rewards = paid.inner.data;
            let sent_by =
                (rewards.mintReferral != rewards.zora).then_some((rewards.mintReferral, rewards.mintReferralReward));
            expected.push((out, into, rewards.currency, minted.inner.data.value, sent_by));
        }
    }
    let payments: Vec<Payment> = indexer.list(&format!("PAYMENTS#{}", test_chain.chain.id)).await?;
    let sent_by = |it: &Payment| it.referral.map(|it| (Address::from(it.account), it.reward.0));
    let indexed: Vec<_> = payments
        .iter()
        .map(|it| (it.amount.0, it.paid.0, Address::from(it.currency), it.quantity.0, sent_by(it)))
        .collect();
    assert_eq!(indexed, expected);
    for payment in &payments {
        let parts: u32 = payment.fee_recipients.iter().map(|part| part.millionths).sum();
        assert_eq!(parts, 1_000_000, "{payment:?}");
    }
    payment_lists(indexer, test_chain.chain.id, &payments).await
}

/// Compares each collection's counts with its logs and its payments, and the sum of all artists' with that of all collections.
async fn statistics(test_chain: &TestChain, indexer: &Indexer, logs: &[Log]) -> Result<(), Error> {
    let (statistics, chain) = (Statistics::new(indexer.table.clone()), test_chain.chain.id);
    let payments: Vec<Payment> = indexer.list(&format!("PAYMENTS#{chain}")).await?;
    let mut creators = BTreeSet::new();
    let (mut of_collections, mut of_artists) = (Counts::default(), Counts::default());
    for (_, created) in decoded::<SetupNewContract>(logs) {
        let collection = created.newContract;
        let bought = logs.iter().filter_map(|log| {
            let rewards = log.log_decode::<ERC20RewardsDeposit>().ok().map(|log| log.inner.data.collection);
            let of = log.log_decode::<Purchased>().ok().map(|log| log.address()).or(rewards)?;
            let is_in = |other: &&Log| other.transaction_hash == log.transaction_hash && other.address() == of;
            let mint = logs.iter().filter(is_in).find_map(|log| log.log_decode::<TransferSingle>().ok())?;
            (of == collection).then_some((mint.inner.data.to, mint.inner.data.value))
        });
        let bought: Vec<_> = bought.collect();
        let tokens = decoded::<SetupNewToken>(logs).filter(|(log, _)| log.address() == collection);
        let earned = |currency: Address| {
            let its = payments.iter().filter(|it| Address::from(it.collection) == collection);
            its.filter(|it| Address::from(it.currency) == currency).map(|it| it.amount.0).sum::<U256>()
        };
        let subject = StatsSubject::Collection(collection.into());
        let counted = statistics.of([(chain, subject)]).await?.pop().unwrap_or_default().total;
        let expected = Counts {
            created: tokens.count().try_into()?,
            collects: bought.len().try_into()?,
            paid: payments.iter().filter(|it| Address::from(it.collection) == collection).count().try_into()?,
            tokens: model::Amount(bought.iter().map(|(_, quantity)| quantity).sum()),
            collectors: bought.iter().map(|(buyer, _)| buyer).collect::<BTreeSet<_>>().len().try_into()?,
            eth: model::Amount(earned(Address::ZERO)),
            usdc: model::Amount(earned(test_chain.chain.addresses.usdc)),
            ..Counts::default()
        };
        assert_eq!(Counts { referred: 0, ..counted }, expected, "{collection}");
        of_collections = of_collections.plus(counted);
        let moments: Vec<model::Moment> = indexer.list(&format!("MOMENTS#{chain}#{collection:#x}")).await?;
        creators.extend(moments.into_iter().map(|moment| moment.creator));
    }
    for creator in creators {
        let subject = (chain, StatsSubject::Artist(creator));
        of_artists = of_artists.plus(statistics.of([subject]).await?.pop().unwrap_or_default().total);
    }
    let shared = |counts: Counts| {
        (counts.created, counts.collects, counts.paid, counts.tokens, counts.eth, counts.usdc, counts.referred)
    };
    assert_eq!(shared(of_artists), shared(of_collections));
    Ok(())
}

/// Compares the lists of payments, read in pages, with the payments that belong into them.
pub async fn payment_lists(indexer: &Indexer, chain: ChainId, payments: &[Payment]) -> Result<(), Error> {
    const PAGE: usize = 7;
    let mut lists: Vec<PaymentFilter> = Vec::new();
    for payment in payments {
        let (of_artist, collector) = (PaymentFilter::of_artist(payment.creator), Some(payment.buyer));
        let moment = Some((payment.collection, payment.token_id));
        let of_collector = PaymentFilter { collector, ..PaymentFilter::default() };
        let of_moment = PaymentFilter { moment, ..PaymentFilter::default() };
        for list in [of_artist, of_collector, PaymentFilter { collector, ..of_artist }, of_moment] {
            if !lists.contains(&list) {
                lists.push(list);
            }
        }
    }
    let stored = Payments::new(indexer.table.clone());
    for list in lists {
        let PaymentFilter { artist, collector, moment } = list;
        let belongs = |it: &&Payment| {
            artist.is_none_or(|artist| artist == it.creator)
                && collector.is_none_or(|collector| collector == it.buyer)
                && moment.is_none_or(|moment| moment == (it.collection, it.token_id))
        };
        let expected: Vec<&Payment> = payments.iter().rev().filter(belongs).collect();
        for offset in (0..=expected.len()).step_by(PAGE) {
            let page = stored.newest(chain, list, offset as u64, PAGE).await?;
            assert_eq!(page.total, expected.len() as u64, "{list:?}");
            let wanted = expected.iter().skip(offset).take(PAGE).map(|it| it.id);
            assert!(page.payments.iter().map(|it| it.id).eq(wanted), "{list:?} from {offset} on");
        }
    }
    Ok(())
}

/// Compares the number of comments per moment and of replies per comment with the logs.
fn comments(rows: &Rows, logs: &[Log]) -> Result<(), Error> {
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for (_, said) in decoded::<MintComment>(logs) {
        let collection = model::Address::from(said.tokenContract);
        *expected.entry(format!("COMMENTS#8453#{collection}#{}", said.tokenId)).or_default() += 1;
    }
    for (_, said) in decoded::<Commented>(logs) {
        let on = &said.commentIdentifier;
        let moment = format!("8453#{}#{}", model::Address::from(on.contractAddress), on.tokenId);
        let list = if said.replyToId.is_zero() {
            format!("COMMENTS#{moment}")
        } else {
            format!("REPLIES#{moment}#{:#x}", said.replyToId)
        };
        *expected.entry(list).or_default() += 1;
    }
    let lists =
        rows.keys().filter(|(pk, sk)| (pk.starts_with("COMMENTS#") || pk.starts_with("REPLIES#")) && sk != "LENGTH");
    let mut indexed: BTreeMap<String, u64> = BTreeMap::new();
    for (list, _) in lists {
        *indexed.entry(list.clone()).or_default() += 1;
    }
    assert_eq!(indexed, expected);
    Ok(())
}
