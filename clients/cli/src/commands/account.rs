//! `moments whoami` and `moments transactions`: what the service knows of the artist.

use moments_client::types::{DailySpend, ReadMeResponse, Transaction};

use crate::{
    address::ApiAddress,
    amount::Currency,
    arguments::Transactions,
    failure::Failure,
    output::Output,
    service::{Repeat, ask},
    session,
};

/// Prints whose the key is and what it may do.
pub async fn whoami(api: Option<&ApiAddress>, output: Output) -> Result<(), Failure> {
    let service = session::signed_in(api)?;
    let me = ask(Repeat::Safely, || service.client.read_me().send()).await?;
    output.answer(&me, |me| {
        let mut lines = described(me);
        lines.push(format!("service: {}", service.address()));
        lines
    })
}

/// Lines about an artist and their key.
pub fn described(me: &ReadMeResponse) -> Vec<String> {
    let name = if me.artist.username.is_empty() { "(no username)" } else { &me.artist.username };
    let scopes: Vec<_> = me.scopes.iter().map(ToString::to_string).collect();
    let until = me.expires_at.map_or("without an end".to_owned(), |end| format!("until {end:?}"));
    let spend =
        |spend: &DailySpend| format!("{} and {}", Currency::Eth.shown(&spend.eth), Currency::Usdc.shown(&spend.usdc));
    let mut lines = vec![
        format!("artist: {name}"),
        format!("account: {}", *me.artist.address),
        format!("{}: may {}, {until}", me.credential, scopes.join(", ")),
    ];
    if let Some(left) = &me.left_today {
        let most = me.daily_spend.as_ref().map(|most| format!(" of {}", spend(most))).unwrap_or_default();
        lines.push(format!("may spend today: {}{most}", spend(left)));
    }
    lines
}

/// Lists transactions.
pub async fn transactions(arguments: &Transactions, api: Option<&ApiAddress>, output: Output) -> Result<(), Failure> {
    let service = session::signed_in(api)?;
    let list = || {
        let list = service.client.list_transactions().limit(arguments.limit);
        match &arguments.before {
            Some(id) => list.before(id.clone()),
            None => list,
        }
        .send()
    };
    let page = ask(Repeat::Safely, list).await?;
    output.answer(&page, |page| page.transactions.iter().map(line).collect())
}

/// A transaction in one line: when, what became of it, chain, id, hash, reason.
fn line(transaction: &Transaction) -> String {
    let time = &transaction.created_at;
    let hash = transaction.hash.as_ref().map_or("-", |hash| hash.as_str());
    let reason = transaction.reason.as_deref().unwrap_or_default();
    let (status, chain, id) = (transaction.status, &transaction.chain_id, &transaction.id);
    format!("{time:?}  {status:9}  {chain}  {id}  {hash}  {reason}").trim_end().to_owned()
}
