use std::{
    any::type_name,
    sync::{Mutex, PoisonError},
};

use aws_config::Region;
use aws_sdk_dynamodb::{
    operation::{
        batch_get_item::BatchGetItemInput, batch_write_item::BatchWriteItemInput, delete_item::DeleteItemInput,
        get_item::GetItemInput, put_item::PutItemInput, query::QueryInput,
        transact_write_items::TransactWriteItemsInput, update_item::UpdateItemInput,
    },
    types::TransactWriteItem,
};
use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        interceptors::{
            Intercept,
            context::{BeforeSerializationInterceptorContextRef, FinalizerInterceptorContextRef, Input},
            dyn_dispatch_hint,
        },
        orchestrator::{HttpResponse, Metadata},
        retries::RequestAttempts,
        runtime_components::RuntimeComponents,
    },
};
use aws_smithy_types::config_bag::{ConfigBag, Storable, StoreReplace};
use serde::Deserialize;
use serde_json::Map;

use super::{document::Subsegment, invocation::call};

/// Names of the header with AWS's id of a request.
const REQUEST_IDS: [&str; 2] = ["x-amzn-requestid", "x-amz-request-id"];

/// Interceptor that makes a subsegment of each call of an AWS service. Its table's name is in it, its keys aren't.
#[derive(Debug)]
pub struct AwsCalls;

/// The call that is under way; dropped with it when its time is up.
#[derive(Debug)]
struct Call(Mutex<Option<Subsegment>>);

impl Storable for Call {
    type Storer = StoreReplace<Self>;
}

#[dyn_dispatch_hint]
impl Intercept for AwsCalls {
    fn name(&self) -> &'static str {
        type_name::<Self>()
    }

    fn read_before_serialization(
        &self,
        context: &BeforeSerializationInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let Some(metadata) = cfg.load::<Metadata>() else { return Ok(()) };
        let Some(mut call) = call(metadata.service()) else { return Ok(()) };
        let mut aws = Map::from_iter([("operation".to_owned(), metadata.name().into())]);
        if let Some(region) = cfg.load::<Region>() {
            aws.insert("region".to_owned(), region.as_ref().into());
        }
        match tables(context.input()).as_slice() {
            [] => {}
            [table] => drop(aws.insert("table_name".to_owned(), (*table).into())),
            tables => drop(aws.insert("table_names".to_owned(), tables.into())),
        }
        call.set("namespace", "aws");
        call.set("aws", aws);
        // Until an answer comes: a call whose time is up has none.
        call.set("fault", true);
        cfg.interceptor_state().store_put(Call(Mutex::new(Some(call))));
        Ok(())
    }

    fn read_after_execution(
        &self,
        context: &FinalizerInterceptorContextRef<'_>,
        _: &RuntimeComponents,
        cfg: &mut ConfigBag,
    ) -> Result<(), BoxError> {
        let call = cfg.load::<Call>().and_then(|call| call.0.lock().unwrap_or_else(PoisonError::into_inner).take());
        let Some(mut call) = call else { return Ok(()) };
        if context.output_or_error().is_none() {
            // A URL was signed, and nothing called.
            call.discard();
            return Ok(());
        }
        let retries = cfg.load::<RequestAttempts>().map_or(0, |attempts| attempts.attempts().saturating_sub(1));
        call.add_to("aws", "retries", retries);
        let Some(response) = context.response() else { return Ok(()) };
        call.set("fault", false);
        if let Some(id) = REQUEST_IDS.iter().find_map(|name| response.headers().get(name)) {
            call.add_to("aws", "request_id", id);
        }
        call.answered(response.status().as_u16());
        if let Some(kind) = error_of(response) {
            if kind.contains("Throttl") || kind.contains("ThroughputExceeded") || kind.contains("LimitExceeded") {
                call.set("throttle", true);
            }
            call.annotate("aws_error", kind);
        }
        Ok(())
    }
}

/// Name of an error in an answer of the JSON protocols, such as `ConditionalCheckFailedException`.
fn error_of(response: &HttpResponse) -> Option<String> {
    #[derive(Deserialize)]
    struct Failure {
        #[serde(rename = "__type")]
        kind: String,
    }
    if response.status().is_success() {
        return None;
    }
    let Failure { kind } = serde_json::from_slice(response.body().bytes()?).ok()?;
    Some(kind.rsplit('#').next().unwrap_or_default().to_owned())
}

/// The tables that a call of DynamoDB reads or writes.
fn tables(input: &Input) -> Vec<&str> {
    macro_rules! table {
        ($($input:ty),+) => {
            $(if let Some(input) = input.downcast_ref::<$input>() {
                return input.table_name().into_iter().collect();
            })+
        };
    }
    table!(GetItemInput, QueryInput, UpdateItemInput, PutItemInput, DeleteItemInput);
    let mut tables: Vec<&str> = if let Some(input) = input.downcast_ref::<BatchGetItemInput>() {
        input.request_items().into_iter().flat_map(|items| items.keys().map(String::as_str)).collect()
    } else if let Some(input) = input.downcast_ref::<BatchWriteItemInput>() {
        input.request_items().into_iter().flat_map(|items| items.keys().map(String::as_str)).collect()
    } else if let Some(input) = input.downcast_ref::<TransactWriteItemsInput>() {
        input.transact_items().iter().flat_map(written).collect()
    } else {
        Vec::new()
    };
    tables.sort_unstable();
    tables.dedup();
    tables
}

/// The table of one part of a transaction.
fn written(item: &TransactWriteItem) -> Option<&str> {
    let update = || Some(item.update()?.table_name());
    let put = || Some(item.put()?.table_name());
    let delete = || Some(item.delete()?.table_name());
    let check = || Some(item.condition_check()?.table_name());
    update().or_else(put).or_else(delete).or_else(check)
}
