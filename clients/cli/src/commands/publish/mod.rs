//! `moments publish`: files become moments.

mod page;
mod request;

use std::slice;

use moments_client::types::SalesConfig;
use uuid::Uuid;

use self::{page::Place, request::Work};
use crate::{
    address::ApiAddress,
    amount::Currency,
    arguments::Publish,
    failure::Failure,
    output::{self, Output},
    service::{Repeat, Service, ask, finish},
    session,
};

/// Publishes, and prints the address of each moment's page.
pub async fn run(arguments: &Publish, api: Option<&ApiAddress>, output: Output) -> Result<(), Failure> {
    let sources = request::sources(arguments)?;
    let service = session::signed_in(api)?;
    let works = request::works(arguments, sources, &sale(arguments, &service).await?)?;
    if arguments.dry_run {
        return try_out(arguments, works, &service, output).await;
    }
    let mut tokens = Vec::new();
    for Work { source, token } in works {
        tokens.push(request::with_file(token, source.upload(&service).await?));
    }
    let key = Uuid::new_v4().to_string();
    let spinner = output::spinner("Waiting until it is mined");
    match <[_; 1]>::try_from(tokens) {
        Ok([token]) => {
            let body = request::moment(arguments, token)?;
            let send = || service.client.create_moment().idempotency_key(key.as_str()).body(body.clone()).send();
            let mined = finish(Repeat::Safely, |_| (), send).await;
            spinner.finish_and_clear();
            let mined = mined?;
            let place = Place { chain: &mined.chain_id, collection: &mined.contract_address };
            let pages = page::wait_for(&service, &place, slice::from_ref(&mined.token_id), output).await;
            output.answer(&mined, |_| pages)
        }
        Err(tokens) => {
            let body = request::moments(arguments, tokens)?;
            let send = || service.client.create_moments().idempotency_key(key.as_str()).body(body.clone()).send();
            let mined = finish(Repeat::Safely, |_| (), send).await;
            spinner.finish_and_clear();
            let mined = mined?;
            let place = Place { chain: &mined.chain_id, collection: &mined.contract_address };
            let pages = page::wait_for(&service, &place, &mined.token_ids, output).await;
            output.answer(&mined, |_| pages)
        }
    }
}

/// The terms of the sale. One read where they are in another currency than the chain's own.
async fn sale(arguments: &Publish, service: &Service) -> Result<SalesConfig, Failure> {
    let contract = match arguments.price.currency {
        Currency::Eth => None,
        currency => Some(service.currency(currency, arguments.chain.as_ref()).await?),
    };
    request::sale(arguments, contract)
}

/// Asks for each work whether the chain would take it.
async fn try_out(arguments: &Publish, works: Vec<Work>, service: &Service, output: Output) -> Result<(), Failure> {
    for Work { token, .. } in works {
        let title = token.metadata.name.to_string();
        let body = request::moment(arguments, token)?;
        let tried = ask(Repeat::Safely, || service.client.simulate_moment().body(body.clone()).send()).await?;
        output.answer(&tried, |tried| vec![format!("{title} would be published, for {} gas", tried.gas)])?;
    }
    Ok(())
}
