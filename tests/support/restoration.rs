//! `local/sam/restore`, run on tables here.

use aws_sdk_dynamodb::{
    Client,
    types::{AttributeDefinition, BillingMode, KeySchemaElement, KeyType, ScalarAttributeType},
};
use shared::store::engine::Item;
use uuid::Uuid;

use crate::{Error, python};

/// Creates a table with these rows, as if a copy were restored. Returns its name.
pub async fn restored_table(database: &Client, rows: &[Item]) -> Result<String, Error> {
    let name = format!("restored-{}", Uuid::new_v4().simple());
    let mut table = database.create_table().table_name(&name).billing_mode(BillingMode::PayPerRequest);
    for (key, kind) in [("pk", KeyType::Hash), ("sk", KeyType::Range)] {
        let field = AttributeDefinition::builder().attribute_name(key).attribute_type(ScalarAttributeType::S);
        let part = KeySchemaElement::builder().attribute_name(key).key_type(kind);
        table = table.attribute_definitions(field.build()?).key_schema(part.build()?);
    }
    table.send().await?;
    for row in rows {
        database.put_item().table_name(&name).set_item(Some(row.clone())).send().await?;
    }
    Ok(name)
}

/// Copies what a table has lost, in partitions that begin so, from a restored one. Returns what the command prints.
pub async fn restore(endpoint: &str, from: &str, to: &str, partitions: &[&str]) -> Result<String, Error> {
    let arguments = [&["local/sam/restore", from, to], partitions].concat();
    let output = python(endpoint, &arguments).await?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}
