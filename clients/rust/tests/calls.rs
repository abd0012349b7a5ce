//! One read, one paged read, one write under a key, one error, and a sale that is read, edited and sent back.

use std::{error::Error, num::NonZeroU64};

use moments_client::{Client, DESCRIPTION, types};
use progenitor_client::{Error as Refused, ResponseValue};
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::Value;
use tests::{Answer, Stack, eventually};

/// Repeats a write with an idempotency key until it is mined. Each call waits 20 seconds; its 202 is unexpected.
async fn mined<T, E>(call: impl AsyncFn() -> Result<ResponseValue<T>, Refused<E>>) -> Result<T, Box<dyn Error>>
where
    Refused<E>: Error + 'static,
{
    for _ in 0..9 {
        match call().await {
            Err(Refused::UnexpectedResponse(answer)) if answer.status() == 202 => {}
            answer => return Ok(answer?.into_inner()),
        }
    }
    Err("not mined within 180 s".into())
}

#[tokio::test]
async fn generated_client_reads_pages_writes_and_fails_as_described() -> Result<(), Box<dyn Error>> {
    let stack = Stack::connect();
    let served = Answer::of(stack.get("/openapi-3.0.json")).await.expect_success().body;
    let mut description: Value = serde_json::from_str(DESCRIPTION)?;
    // The service names its own chains.
    let chains = "/components/schemas/ChainId/description";
    if let Some(named) = description.pointer_mut(chains) {
        *named = served.pointer(chains).cloned().unwrap_or_default();
    }
    assert_eq!(description, served, "the service has another description");
    let key = stack.new_collector().await.key;
    let uris = ["ar://tides-1", "ar://tides-2", "ar://tides-3"].map(str::to_owned);
    let (collection, token) = (stack.release(&key, "Tides", &uris).await, "1");
    let listed = |body: &Value| body["moments"].as_array().is_some_and(|moments| moments.len() == uris.len());
    stack.wait_until(&format!("/timeline?collection={collection}"), listed).await;
    let credentials = HeaderMap::from_iter([("x-api-key".parse()?, HeaderValue::try_from(key)?)]);
    let http = reqwest::Client::builder().default_headers(credentials).build()?;
    let client = Client::new_with_client(&stack.map.api, http);

    let two = NonZeroU64::MIN.saturating_add(1);
    let (mut page, mut seen) = (NonZeroU64::MIN, 0);
    loop {
        let answer = client.list_timeline().limit(two).page(page).collection(collection.as_str()).send().await?;
        seen += answer.moments.len();
        if answer.headers().get("link").is_none() {
            break;
        }
        page = page.saturating_add(1);
    }
    assert!(page > NonZeroU64::MIN && seen > 2, "{seen} moments on {page} pages");

    let key = uuid::Uuid::new_v4().to_string();
    let body = types::CreateCollectionRequest::builder().name("Tides").uri("ar://tides");
    let create = client.create_collection().idempotency_key(key.as_str()).body(body);
    let first = mined(async || create.clone().send().await).await?;
    let again = create.send().await?.into_inner();
    assert_eq!(*first.hash, *again.hash, "written twice");

    let read = || client.read_moment().collection_address(collection.as_str()).token_id(token);
    let sale = read().send().await?.into_inner().sale.ok_or("no sale")?;
    let moment = types::MomentRef::builder().collection_address(collection.as_str()).token_id(token);
    let edited = types::UpdateSaleRequest::builder()
        .moment(moment)
        .price_per_token(Some("2000000000000000".parse::<types::Amount>()?))
        .sale_start(Some(sale.sale_start.parse::<types::Whole>()?))
        .sale_end(Some(sale.sale_end.parse::<types::Whole>()?))
        .max_tokens_per_address(Some(sale.max_tokens_per_address.parse::<types::Whole>()?));
    let update = client.update_sale().idempotency_key(uuid::Uuid::new_v4().to_string()).body(edited);
    mined(async || update.clone().send().await).await?;
    let changed = eventually("the new price", async || {
        let found = read().send().await.expect("a moment").into_inner().sale.expect("a sale");
        (*found.price_per_token != *sale.price_per_token).then_some(found)
    })
    .await;
    assert_eq!((*changed.price_per_token).as_str(), "2000000000000000");
    assert_eq!(*changed.sale_end, *sale.sale_end);

    let nowhere = format!("0x{}", "1".repeat(40));
    let missing = client.read_moment().collection_address(nowhere.as_str()).token_id("1").send().await;
    match missing {
        Err(Refused::ErrorResponse(answer)) => assert!(answer.status() == 404 && !answer.message.is_empty()),
        other => return Err(format!("no error: {other:?}").into()),
    }
    Ok(())
}
