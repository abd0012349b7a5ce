//! The bodies of requests that publish something.

use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, Ref, RefOr, Schema, Type,
        schema::{AnyOfBuilder, OneOfBuilder},
    },
};

use super::token::{PublishedToken, RequestedMoment, WritingToken};
use crate::{
    http::{Field, Fields, FromField, FromFields},
    model::{
        Address, ChainId, CheckedAddress, CollectionName, Invalid, LongText, MetadataUri, RoyaltyBps, Share, Split,
        TargetCollection, Title,
    },
};

/// A new collection.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateCollectionRequest {
    /// Name, without control characters; surrounding spaces are removed.
    #[schema(
        value_type = String,
        min_length = 1,
        max_length = 200,
        pattern = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$"
    )]
    pub name: CollectionName,
    /// Metadata of the collection.
    pub uri: MetadataUri,
    /// Its admin: one of your own wallets; the embedded one by default.
    pub account: Option<CheckedAddress>,
    /// Recipients of the proceeds: none, or at least two different ones with 100 percent together.
    #[schema(value_type = Option<Vec<SplitRecipient>>, max_items = 100)]
    pub splits: Splits,
    /// Royalty on resale of tokens without one of their own, in hundredths of a percent: 500 is 5 %.
    #[schema(value_type = Option<RoyaltyBps>, default = 1000)]
    pub royalty_bps: RoyaltyBps,
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// A new moment.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateMomentRequest {
    /// Its collection; by default your own one on the chain, which the first such request creates.
    #[schema(value_type = Option<MomentContract>)]
    pub contract: Option<TargetCollection>,
    /// The moment.
    #[schema(value_type = PublishedToken)]
    pub token: RequestedMoment,
    /// Recipient of its proceeds, royalties and first tokens: one of your own wallets; the embedded one by default.
    pub account: Option<CheckedAddress>,
    /// Recipients of the proceeds: none, or at least two different ones with 100 percent together.
    #[schema(value_type = Option<Vec<SplitRecipient>>, max_items = 100)]
    pub splits: Splits,
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// New moments, in one collection and one transaction.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateMomentsRequest {
    /// Their collection; by default your own one on the chain, as for a single moment.
    #[schema(value_type = Option<MomentContract>)]
    pub contract: Option<TargetCollection>,
    /// The moments.
    #[schema(value_type = Vec<PublishedToken>, min_items = 1, max_items = 50)]
    pub tokens: Vec<RequestedMoment>,
    /// Recipient of their proceeds, royalties and first tokens: one of your own wallets; the embedded one by default.
    pub account: Option<CheckedAddress>,
    /// Recipients of the proceeds: none, or at least two different ones with 100 percent together.
    #[schema(value_type = Option<Vec<SplitRecipient>>, max_items = 100)]
    pub splits: Splits,
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// A new moment that is a text.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
#[field(check)]
pub struct CreateWritingRequest {
    /// Its collection; by default your own one on the chain, as for other moments.
    #[schema(value_type = Option<MomentContract>)]
    pub contract: Option<TargetCollection>,
    /// Its title.
    pub title: Title,
    /// Its text; `token.tokenContent` means the same.
    pub text: Option<LongText>,
    /// Its sale, and what else a moment has.
    pub token: WritingToken,
    /// Recipient of its proceeds, royalties and first tokens: one of your own wallets; the embedded one by default.
    pub account: Option<CheckedAddress>,
    /// Recipients of the proceeds: none, or at least two different ones with 100 percent together.
    #[schema(value_type = Option<Vec<SplitRecipient>>, max_items = 100)]
    pub splits: Splits,
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

impl CreateWritingRequest {
    fn check(&self, fields: &Fields<'_>) {
        if self.text.is_none() && self.token.content.is_none() {
            fields.field("text").refuse(&Invalid("is required, or token.tokenContent in its place"));
        }
    }
}

/// A new split.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
#[field(check)]
pub struct CreateSplitRequest {
    /// Its recipients: at least two different ones with 100 percent together.
    #[schema(value_type = Vec<SplitRecipient>, min_items = 2, max_items = 100)]
    pub splits: Splits,
    /// Its chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

impl CreateSplitRequest {
    fn check(&self, fields: &Fields<'_>) {
        if self.splits.0.is_none() {
            fields.field("splits").refuse(&Invalid("must have at least 2 recipients"));
        }
    }
}

/// A recipient of proceeds.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SplitRecipient {
    /// Recipient.
    address: CheckedAddress,
    /// Percent.
    #[schema(schema_with = percent_allocation)]
    percent_allocation: Share,
}

/// A missing or empty list is no split.
#[derive(Debug, PartialEq, Eq)]
pub struct Splits(pub Option<Split>);

impl FromField for Splits {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let recipients: Vec<SplitRecipient> = field.read::<Option<_>>()?.unwrap_or_default();
        if recipients.is_empty() {
            return Some(Self(None));
        }
        let recipients = recipients.into_iter().map(|recipient| (recipient.address.0, recipient.percent_allocation));
        field.note(Split::new(recipients.collect())).map(|split| Self(Some(split)))
    }
}

fn percent_allocation() -> OneOfBuilder {
    let number = ObjectBuilder::new().schema_type(Type::Number).exclusive_minimum(Some(0)).maximum(Some(100));
    let pattern = concat!(
        r"^(0?(0?[1-9]|[1-9][0-9])(\.[0-9]{1,4}0*)?",
        r"|0{1,3}\.([1-9][0-9]{0,3}|0[1-9][0-9]{0,2}|00[1-9][0-9]?|000[1-9])0*|100(\.0+)?)$",
    );
    let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern));
    let description = "Percent, more than 0 and with at most 4 decimals: as a number, or as text in decimal digits.";
    OneOfBuilder::new().item(number).item(text).description(Some(description)).examples([50])
}

/// The moments' collection: an `address`, or a `name` and a `uri`.
pub struct MomentContract;

/// A collection that is there.
#[derive(FromFields, ToSchema)]
struct ExistingContract {
    /// Its contract.
    address: Address,
}

/// A collection that the same transaction creates.
#[derive(FromFields, ToSchema)]
struct NewContract {
    /// Its name.
    name: CollectionName,
    /// Its metadata.
    uri: MetadataUri,
}

impl FromField for TargetCollection {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let fields = field.object()?;
        let is_given = |name: &str| fields.field(name).is_given();
        if is_given("address") {
            for name in ["name", "uri"].into_iter().filter(|&name| is_given(name)) {
                let words = "belongs to a new collection: leave it out beside the address of one that is there";
                fields.field(name).refuse(&Invalid(words));
            }
            let ExistingContract { address } = FromFields::from_fields(&fields)?;
            return Some(Self::Existing(address));
        }
        if !is_given("name") && !is_given("uri") {
            return field.note(Err(Invalid("must have either an address, or a name and a uri")));
        }
        let NewContract { name: CollectionName(name), uri } = FromFields::from_fields(&fields)?;
        Some(Self::New { name, uri })
    }
}

impl ToSchema for MomentContract {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((ExistingContract::name().into_owned(), ExistingContract::schema()));
        schemas.push((NewContract::name().into_owned(), NewContract::schema()));
        ExistingContract::schemas(schemas);
        NewContract::schemas(schemas);
    }
}

impl PartialSchema for MomentContract {
    fn schema() -> RefOr<Schema> {
        let either = [ExistingContract::name(), NewContract::name()].map(Ref::from_schema_name);
        let description = "The moments' collection: an `address`, or a `name` and a `uri`.";
        either.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item).description(Some(description)).into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::{
        http::Input,
        model::{Amount, NewMoment, Sale, SaleTerms},
    };

    const CURRENCY: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

    #[derive(FromFields)]
    struct Body<T: FromField> {
        part: T,
    }

    /// The part of a body that is read, or its wrong fields.
    fn read<T: FromField>(part: Value) -> Result<T, Vec<String>> {
        let body = Input::of_object(Map::from_iter([("part".to_owned(), part)]));
        body.read::<Body<T>>().map(|body| body.part).map_err(|error| {
            let answer: Value = serde_json::from_str(&error.body()).unwrap();
            let fields = answer["errors"].as_array().unwrap().iter().map(|error| error["field"].as_str().unwrap());
            fields.map(|field| field.trim_start_matches("part").trim_start_matches('.').to_owned()).collect()
        })
    }

    fn sale(value: Value) -> Result<Sale, Vec<String>> {
        read(value)
    }

    #[test]
    fn the_price_decides_between_timed_and_fixed() {
        let config = |r#type: &str, price: &str| json!({"type": r#type, "pricePerToken": price, "saleStart": "7", "saleEnd": u64::MAX});
        assert_eq!(sale(config("timed", "0")), Ok(Sale::Timed { start: 7 }));
        assert_eq!(sale(config("PartnerTimedSaleStrategy", "0")), Ok(Sale::Timed { start: 7 }));
        assert!(matches!(sale(config("timed", "1")), Ok(Sale::FixedPrice { .. })));
        assert!(matches!(sale(config("fixedPrice", "0")), Ok(Sale::FixedPrice { .. })));
        assert_eq!(sale(config("allowlistMint", "0")), Err(vec!["type".to_owned()]));
    }

    #[test]
    fn a_sale_that_its_strategy_cannot_express_is_refused() {
        let fixed = |price: &str, start: u64, end: u64| json!({"type": "fixedPrice", "pricePerToken": price, "saleStart": start, "saleEnd": end});
        assert!(sale(fixed("79228162514264337593543950335", 0, u64::MAX)).is_ok());
        assert_eq!(sale(fixed("79228162514264337593543950336", 0, u64::MAX)), Err(vec!["pricePerToken".to_owned()]));
        assert_eq!(sale(fixed("1", 0, 0)), Err(vec!["saleEnd".to_owned()]));
        assert_eq!(sale(fixed("1", 9, 8)), Err(vec!["saleEnd".to_owned()]));
        let mut erc20 = json!({"type": "erc20Mint", "pricePerToken": "10000", "saleStart": 0, "saleEnd": u64::MAX, "currency": CURRENCY});
        assert!(matches!(sale(erc20.clone()), Ok(Sale::Erc20 { .. })));
        erc20["pricePerToken"] = json!("9999");
        erc20["currency"] = Value::Null;
        assert_eq!(sale(erc20), Err(vec!["pricePerToken".to_owned(), "currency".to_owned()]));
    }

    #[test]
    fn sale_that_its_artist_cannot_mean_is_refused() {
        for (config, field) in [
            (json!({"pricePerToken": "5000000", "currency": CURRENCY}), "currency"),
            (json!({"type": "timed", "currency": CURRENCY}), "currency"),
            (json!({"type": "timed", "maxTokensPerAddress": 1}), "maxTokensPerAddress"),
            (json!({"saleStart": 1_795_551_618_000_u64}), "saleStart"),
            (json!({"saleEnd": 1_795_551_618_000_u64}), "saleEnd"),
            (json!({"saleEnd": 100}), "saleEnd"),
            (json!({"pricePerTokn": "1"}), "pricePerTokn"),
        ] {
            assert_eq!(sale(config.clone()), Err(vec![field.to_owned()]), "{config}");
        }
    }

    #[test]
    fn sale_is_free_from_now_on_and_without_an_end_by_default() {
        let terms = SaleTerms { start: 0, end: u64::MAX, max_per_address: 0 };
        let free = Sale::FixedPrice { terms, price: Amount::default() };
        assert_eq!(sale(json!({})), Ok(free));
        let zero = json!({"currency": "0x0000000000000000000000000000000000000000"});
        assert!(sale(zero).is_ok(), "clients send the zero address for the chain's own currency");
    }

    #[test]
    fn a_split_is_read_without_rounding() {
        let of = |percentages: [f64; 3]| {
            let entry = |(n, percent): (usize, f64)| json!({"address": format!("0x{:040x}", n + 1), "percentAllocation": percent});
            let entries: Vec<_> = percentages.into_iter().enumerate().map(entry).collect();
            read::<Splits>(json!(entries)).map(|Splits(split)| split.is_some())
        };
        let refused = || Err(vec![String::new()]);
        assert_eq!(of([33.3333, 33.3333, 33.3334]), Ok(true));
        assert_eq!(of([33.33, 33.33, 33.33]), refused());
        assert_eq!(of([50.0, 49.9999, 0.0]), Err(vec!["2.percentAllocation".to_owned()]));
        assert_eq!(of([50.0, 49.9999999, 0.0000001]).unwrap_err(), ["1.percentAllocation", "2.percentAllocation"]);
        assert_eq!(read(json!([])), Ok(Splits(None)));
        assert_eq!(read(Value::Null), Ok(Splits(None)));
    }

    #[test]
    fn collection_is_an_address_or_a_name_and_a_uri() {
        let refused = |value: Value| read::<TargetCollection>(value).unwrap_err();
        let existing = read(json!({"address": CURRENCY}));
        assert_eq!(existing, Ok(TargetCollection::Existing(CURRENCY.parse().unwrap())));
        assert_eq!(refused(json!({"address": CURRENCY, "name": "x", "uri": "ar://x"})), ["name", "uri"]);
        assert!(matches!(read(json!({"name": "x", "uri": "ar://x"})), Ok(TargetCollection::New { .. })));
        assert_eq!(refused(json!({"address": "x"})), ["address"]);
        assert_eq!(refused(json!({"name": ""})), ["name", "uri"]);
        assert_eq!(refused(json!({"address": null})), [""]);
    }

    #[test]
    fn a_creator_gets_no_more_than_there_are() {
        let token = |max: u64, mint: u64| {
            let sale = json!({"type": "timed", "pricePerToken": "0", "saleStart": 0, "saleEnd": 0});
            let token = json!({"tokenMetadataURI": "ar://x", "salesConfig": sale, "maxSupply": max, "mintToCreatorCount": mint});
            read::<NewMoment>(token).map(|token| token.max_supply)
        };
        assert_eq!(token(2, 2), Ok(2));
        assert_eq!(token(2, 3).unwrap_err(), ["mintToCreatorCount"]);
        assert_eq!(token(0, 0).unwrap_err(), ["maxSupply"]);
    }
}
