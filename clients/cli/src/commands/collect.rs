//! `moments collect`: buys copies of a moment.

use moments_client::types::{Amount, CollectMomentRequest, CollectMomentRequestComment};
use uuid::Uuid;

use crate::{
    address::ApiAddress,
    amount::Price,
    arguments::Collect,
    failure::Failure,
    moment::Named,
    output::{self, Output},
    service::{Repeat, Service, ask, finish},
    session,
};

/// Collects, and prints the transaction.
pub async fn run(arguments: Collect, api: Option<&ApiAddress>, output: Output) -> Result<(), Failure> {
    let service = session::signed_in(api)?;
    let moment = &arguments.moment;
    let comment: CollectMomentRequestComment =
        arguments.comment.parse().map_err(|error| Failure::option("--comment", error))?;
    let most = match arguments.max_price {
        Some(price) => Some(most(&service, moment, price).await?),
        None => None,
    };
    let order: CollectMomentRequest = CollectMomentRequest::builder()
        .moment(moment.reference().map_err(|error| Failure::option("the moment", error))?)
        .amount(arguments.amount)
        .comment(Some(comment))
        .max_price(most)
        .referral(moment.referral.clone())
        .try_into()
        .map_err(|error| Failure::option("the order", error))?;
    let (key, spinner) = (Uuid::new_v4().to_string(), output::spinner("Waiting until it is mined"));
    let send = || service.client.collect_moment().idempotency_key(key.as_str()).body(order.clone()).send();
    let mined = finish(Repeat::Safely, |_| (), send).await;
    spinner.finish_and_clear();
    output.answer(&mined?, |mined| {
        vec![format!(
            "Collected {} of {moment}: transaction {} on chain {}",
            arguments.amount, *mined.hash, mined.chain_id
        )]
    })
}

/// The most that an order may cost, if that is in the currency of the moment's sale. One read, or two.
async fn most(service: &Service, named: &Named, price: Price) -> Result<Amount, Failure> {
    let read = || {
        let read =
            service.client.read_moment().collection_address(named.collection.clone()).token_id(named.token.clone());
        match named.chain.clone() {
            Some(chain) => read.chain_id(chain),
            None => read,
        }
        .send()
    };
    let moment = ask(Repeat::Safely, read).await?;
    if let Some(sale) = moment.sale {
        let currency = service.currency(price.currency, Some(&moment.chain_id)).await?;
        if !sale.currency.eq_ignore_ascii_case(&currency) {
            let (symbol, sold) = (price.currency.symbol(), sale.currency.as_str());
            return Err(Failure::Usage(format!(
                "--max-price is in {symbol}, and {named} is sold in another currency ({sold})"
            )));
        }
    }
    Amount::try_from(price.amount.to_string()).map_err(|error| Failure::option("--max-price", error))
}
