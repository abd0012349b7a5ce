//! The bodies of requests that publish something.

use std::str::FromStr;

use alloy::primitives;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, Ref, RefOr, Schema, Type,
        schema::{AnyOfBuilder, OneOfBuilder},
    },
};

use crate::{
    http::{Field, Fields, Form, FromField, FromFields, Scalar},
    model::{
        Address, Amount, ChainId, CheckedAddress, CollectionName, Invalid, MetadataUri, NewMoment, OPEN_EDITION, Sale,
        SaleTerms, SaleType, Share, Split, TargetCollection, Whole,
    },
};

/// Longest body of a request for many moments: fifty with the longest URIs.
pub const MAX_MOMENTS_BYTES: usize = 256 * 1024;

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
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// A new moment.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateMomentRequest {
    /// Its collection.
    #[schema(value_type = MomentContract)]
    pub contract: TargetCollection,
    /// The moment.
    #[schema(value_type = MomentToken)]
    pub token: NewMoment,
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
    /// Their collection.
    #[schema(value_type = MomentContract)]
    pub contract: TargetCollection,
    /// The moments.
    #[schema(value_type = Vec<MomentToken>, min_items = 1, max_items = 50)]
    pub tokens: Vec<NewMoment>,
    /// Recipient of their proceeds, royalties and first tokens: one of your own wallets; the embedded one by default.
    pub account: Option<CheckedAddress>,
    /// Recipients of the proceeds: none, or at least two different ones with 100 percent together.
    #[schema(value_type = Option<Vec<SplitRecipient>>, max_items = 100)]
    pub splits: Splits,
    /// The collection's chain.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    pub chain_id: ChainId,
}

/// A moment.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
#[field(check)]
pub struct MomentToken {
    /// Metadata of the moment.
    #[schema(rename = "tokenMetadataURI")]
    token_metadata_uri: MetadataUri,
    /// Its sale.
    #[schema(value_type = SalesConfig)]
    sales_config: Sale,
    /// Recipient of the protocol's referral reward, by default nobody. Needs the EIP-55 checksum in mixed case.
    #[schema(value_type = Option<Address>)]
    create_referral: Option<Referral>,
    /// Maximum supply, at least 1; an open edition by default.
    #[schema(schema_with = max_supply, required = false)]
    #[field(default = OPEN_EDITION)]
    max_supply: MaxSupply,
    /// Tokens that the creator gets immediately, at most `maxSupply`.
    #[schema(value_type = Option<Whole>, default = 0)]
    mint_to_creator_count: Whole,
    /// Recipient of the proceeds and royalties, if there are no `splits`.
    payout_recipient: Option<CheckedAddress>,
}

impl MomentToken {
    fn check(&self, fields: &Fields<'_>) {
        if self.mint_to_creator_count.0 > self.max_supply.0 {
            fields.field("mintToCreatorCount").refuse(&Invalid("must not be more than maxSupply"));
        }
    }
}

impl FromField for NewMoment {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let token: MomentToken = field.read()?;
        Some(Self {
            uri: token.token_metadata_uri,
            max_supply: token.max_supply.0,
            create_referral: token.create_referral.map_or(Address::ZERO, |referral| referral.0),
            sale: token.sales_config,
            payout_recipient: token.payout_recipient.map(|CheckedAddress(recipient)| recipient),
            mint_to_creator: token.mint_to_creator_count.0,
        })
    }
}

struct MaxSupply(u64);

impl Scalar for MaxSupply {
    const FORM: Form = Form::Exact;
}

impl FromStr for MaxSupply {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse()? {
            Whole(0) => Err(Invalid("must be at least 1: leave it out for an open edition")),
            Whole(most) => Ok(Self(most)),
        }
    }
}

fn max_supply() -> RefOr<Schema> {
    let description = "Maximum supply, at least 1; an open edition by default.";
    let nothing = ObjectBuilder::new().schema_type(Type::Null);
    Whole::positive().item(nothing).description(Some(description)).default(Some(OPEN_EDITION.to_string().into())).into()
}

/// The sale of a moment.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SalesConfig {
    /// `fixedPrice` sells for the chain's own currency, `erc20Mint` for another, `timed` for the protocol's fee alone until
    /// a market opens. With a price over 0, `timed` means `fixedPrice`.
    r#type: SaleType,
    /// Less than 2^96 wei; at least 10000 for `erc20Mint`.
    price_per_token: Amount,
    /// Unix time in seconds.
    sale_start: Whole,
    /// Unix time in seconds, not 0 and not before `saleStart`; the largest value, 18446744073709551615, means no end.
    /// A `timed` sale ignores it.
    sale_end: Whole,
    /// Most tokens per address; 0 means unlimited.
    #[schema(value_type = Option<Whole>, default = 0)]
    max_tokens_per_address: Whole,
    /// The currency's contract; required for `erc20Mint`.
    currency: Option<CheckedAddress>,
}

impl FromField for Sale {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let fields = field.object()?;
        SalesConfig::from_fields(&fields)?.sale(&fields)
    }
}

impl SalesConfig {
    /// The sale, unless its strategy can't express it.
    fn sale(self, fields: &Fields<'_>) -> Option<Sale> {
        let Self { r#type, price_per_token: price, sale_start, sale_end, max_tokens_per_address, currency } = self;
        if r#type == SaleType::Timed && price == Amount::default() {
            return Some(Sale::Timed { start: sale_start.0 });
        }
        let terms = SaleTerms { start: sale_start.0, end: sale_end.0, max_per_address: max_tokens_per_address.0 };
        let terms_hold = fields.field("saleEnd").note(terms.check());
        if r#type != SaleType::Erc20 {
            let price_holds = fields.field("pricePerToken").note(Sale::check_fixed_price(price));
            return terms_hold.and(price_holds).map(|()| Sale::FixedPrice { terms, price });
        }
        let price_holds = fields.field("pricePerToken").note(Sale::check_erc20_price(price));
        let currency = currency.ok_or(Invalid("is required for a sale in an ERC-20 currency"));
        let CheckedAddress(currency) = fields.field("currency").note(currency)?;
        terms_hold.and(price_holds).map(|()| Sale::Erc20 { terms, price, currency })
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
    let pattern = r"^(0?[0-9]{1,2}(\.[0-9]{1,4}0*)?|100(\.0+)?)$";
    let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern));
    let description = "Percent, more than 0 and with at most 4 decimals: as a number, or as text in decimal digits.";
    OneOfBuilder::new().item(number).item(text).description(Some(description)).examples([50])
}

/// The moments' collection: an `address`, or a `name` and a `uri`.
pub struct MomentContract;

/// A collection that is there.
#[derive(FromFields, ToSchema)]
struct ExistingContract {
    /// Its contract. A name and a URI beside it are ignored.
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

/// A checked address, or the zero address.
struct Referral(Address);

impl Scalar for Referral {}

impl FromStr for Referral {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let address: Address = text.parse()?;
        if primitives::Address::from(address).is_zero() {
            Ok(Self(address))
        } else {
            text.parse().map(|CheckedAddress(a)| Self(a))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::http::Input;

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
        assert!(sale(fixed("79228162514264337593543950335", 0, 1)).is_ok());
        assert_eq!(sale(fixed("79228162514264337593543950336", 0, 1)), Err(vec!["pricePerToken".to_owned()]));
        assert_eq!(sale(fixed("1", 0, 0)), Err(vec!["saleEnd".to_owned()]));
        assert_eq!(sale(fixed("1", 9, 8)), Err(vec!["saleEnd".to_owned()]));
        let mut erc20 =
            json!({"type": "erc20Mint", "pricePerToken": "10000", "saleStart": 0, "saleEnd": 1, "currency": CURRENCY});
        assert!(matches!(sale(erc20.clone()), Ok(Sale::Erc20 { .. })));
        erc20["pricePerToken"] = json!("9999");
        erc20["currency"] = Value::Null;
        assert_eq!(sale(erc20), Err(vec!["pricePerToken".to_owned(), "currency".to_owned()]));
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
    fn an_address_makes_a_name_and_a_uri_irrelevant() {
        let refused = |value: Value| read::<TargetCollection>(value).unwrap_err();
        let existing = read(json!({"address": CURRENCY, "name": 7, "uri": ""}));
        assert_eq!(existing, Ok(TargetCollection::Existing(CURRENCY.parse().unwrap())));
        assert!(matches!(read(json!({"name": "x", "uri": "ar://x"})), Ok(TargetCollection::New { .. })));
        assert_eq!(refused(json!({"address": "x", "name": "x", "uri": "ar://x"})), ["address"]);
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
