//! The bodies that publish something, as the contract shows them. They are parsed field by field, in `publication.rs`;
//! the tests of the contract send what these forms allow and what they don't.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        AllOfBuilder, ObjectBuilder, RefOr, Schema,
        schema::{AnyOfBuilder, OneOfBuilder, SchemaType},
    },
};

use crate::model::{
    Address, Amount, ChainId, CheckedAddress, CollectionName, MetadataUri, OPEN_EDITION, SaleType, Share, Whole,
};

/// A collection that is to be.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateCollectionRequest {
    /// What it is called: without control characters, kept without the spaces around it.
    #[schema(
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$"
    )]
    pub name: String,
    /// Its metadata.
    pub uri: MetadataUri,
    /// Who administers it: one of your own wallets; the one that the service keeps unless given.
    pub account: Option<CheckedAddress>,
    /// Who shares the proceeds: nobody, or at least two different recipients who get 100 percent together.
    #[schema(max_items = 100)]
    pub splits: Option<Vec<SplitRecipient>>,
    /// Its chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// A moment that is to be.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateMomentRequest {
    /// Where it goes.
    pub contract: MomentContract,
    /// What it is.
    pub token: MomentToken,
    /// Who gets its proceeds, royalties and first tokens: one of your own wallets; the one that the service keeps unless
    /// given.
    pub account: Option<CheckedAddress>,
    /// Who shares the proceeds: nobody, or at least two different recipients who get 100 percent together.
    #[schema(max_items = 100)]
    pub splits: Option<Vec<SplitRecipient>>,
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// Moments that are to be, all in one collection and one transaction.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateMomentsRequest {
    /// Where they go.
    pub contract: MomentContract,
    /// What they are.
    #[schema(min_items = 1, max_items = 50)]
    pub tokens: Vec<MomentToken>,
    /// Who gets their proceeds, royalties and first tokens: one of your own wallets; the one that the service keeps
    /// unless given.
    pub account: Option<CheckedAddress>,
    /// Who shares the proceeds: nobody, or at least two different recipients who get 100 percent together.
    #[schema(max_items = 100)]
    pub splits: Option<Vec<SplitRecipient>>,
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// One moment.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct MomentToken {
    /// Its metadata.
    #[schema(rename = "tokenMetadataURI")]
    pub token_metadata_uri: MetadataUri,
    /// How it is sold.
    pub sales_config: SalesConfig,
    /// Who gets the protocol's reward for bringing it about; the zero address, which is nobody's, unless given. In mixed
    /// case it must carry the checksum of EIP-55.
    pub create_referral: Option<Address>,
    /// Most tokens that can be collected, 1 at least; an open edition unless given.
    #[schema(schema_with = max_supply)]
    pub max_supply: Option<Whole>,
    /// How many tokens the creator gets at once, not more than `maxSupply`.
    #[schema(value_type = Option<Whole>, default = 0)]
    pub mint_to_creator_count: Whole,
    /// Who gets the proceeds and royalties, where there are no `splits`.
    pub payout_recipient: Option<CheckedAddress>,
}

fn max_supply() -> RefOr<Schema> {
    let description = "Most tokens that can be collected, 1 at least; an open edition unless given.";
    let nothing = ObjectBuilder::new().schema_type(utoipa::openapi::Type::Null);
    OneOfBuilder::new()
        .item(nothing)
        .item(Whole::positive())
        .description(Some(description))
        .default(Some(OPEN_EDITION.into()))
        .into()
}

/// How a moment is sold.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SalesConfig {
    /// `fixedPrice` sells for the chain's own currency, `erc20Mint` for another, `timed` for the protocol's fee alone until
    /// there is a market. A price over 0 makes a `timed` sale one at a fixed price.
    pub r#type: SaleType,
    /// Under 2^96 wei; from 10000 on for `erc20Mint`.
    pub price_per_token: Amount,
    /// Unix time in seconds.
    pub sale_start: Whole,
    /// Unix time in seconds, not 0 and not before `saleStart`; the largest value, 18446744073709551615, means no end.
    /// A `timed` sale passes it over.
    pub sale_end: Whole,
    /// How many tokens one address can get; 0 means as many as one likes.
    #[schema(value_type = Option<Whole>, default = 0)]
    pub max_tokens_per_address: Whole,
    /// The currency's contract, for `erc20Mint`, which needs it.
    pub currency: Option<CheckedAddress>,
}

/// Who gets which part of the proceeds.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SplitRecipient {
    /// Who.
    pub address: CheckedAddress,
    /// Percent.
    #[schema(schema_with = percent_allocation)]
    pub percent_allocation: Share,
}

fn percent_allocation() -> ObjectBuilder {
    let types = SchemaType::from_iter([utoipa::openapi::Type::Number, utoipa::openapi::Type::String]);
    ObjectBuilder::new()
        .schema_type(types)
        .description(Some(
            "Percent, more than 0 and with at most 4 decimals: as a number, or as text in decimal digits.",
        ))
        .exclusive_minimum(Some(0))
        .maximum(Some(100))
        .pattern(Some(r"^(0?[0-9]{1,2}(\.[0-9]{1,4}0*)?|100(\.0+)?)$"))
        .examples([50])
}

/// Where moments go: an `address`, or a `name` and a `uri`.
pub struct MomentContract;

/// What a new collection is called, or where an existing one is.
#[derive(ToSchema)]
struct MomentContractFields {
    /// A collection that is there. Name and URI are then passed over.
    #[expect(dead_code, reason = "describes what is parsed elsewhere")]
    address: Option<Address>,
    /// What a new collection is called.
    #[expect(dead_code, reason = "describes what is parsed elsewhere")]
    name: Option<CollectionName>,
    /// A new collection's metadata.
    #[expect(dead_code, reason = "describes what is parsed elsewhere")]
    uri: Option<MetadataUri>,
}

impl ToSchema for MomentContract {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        MomentContractFields::schemas(schemas);
    }
}

impl PartialSchema for MomentContract {
    fn schema() -> RefOr<Schema> {
        let with = |names: &[(&str, &str)]| {
            names.iter().fold(ObjectBuilder::new(), |object, (name, pattern)| {
                let text = ObjectBuilder::new().schema_type(utoipa::openapi::Type::String).pattern(Some(*pattern));
                object.property(*name, text).required(*name)
            })
        };
        let either = AnyOfBuilder::new().item(with(&[("address", ".")])).item(with(&[("name", "."), ("uri", ".")]));
        AllOfBuilder::new()
            .description(Some("Where moments go: an `address`, or a `name` and a `uri`."))
            .item(MomentContractFields::schema())
            .item(either)
            .into()
    }
}
