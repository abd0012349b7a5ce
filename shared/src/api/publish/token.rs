//! A moment in the bodies of requests that publish.

use std::str::FromStr;

use alloy::primitives;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, Ref, RefOr, Schema, Type, schema::AnyOfBuilder},
};

use crate::{
    api::media::MetadataRequest,
    clock,
    http::{Field, Fields, Form, FromField, FromFields, Scalar},
    model::{
        Address, Amount, CheckedAddress, Invalid, LongText, MetadataUri, NewMoment, NewSaleType, OPEN_EDITION,
        RoyaltyBps, Sale, SaleTerms, SaleTime, SaleType, Whole,
    },
};

/// A moment.
pub struct MomentToken;

struct TokenWithMetadata;

/// A moment, with its metadata or the URI of it.
pub struct PublishedToken;

/// A new moment as a request describes it.
pub struct RequestedMoment {
    /// The moment; its URI is that of the metadata, if there is any.
    pub moment: NewMoment,
    /// Metadata to store.
    pub metadata: Option<MetadataRequest>,
}

/// A moment that is a text.
pub struct WritingToken {
    /// The text, in the place where other clients put it.
    pub content: Option<LongText>,
    terms: MomentTerms,
}

#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
struct TokenContent {
    /// The same as `text`.
    token_content: Option<LongText>,
}

#[derive(FromFields, ToSchema)]
struct MetadataLink {
    /// Metadata of the moment.
    #[schema(rename = "tokenMetadataURI")]
    token_metadata_uri: MetadataUri,
}

#[derive(FromFields, ToSchema)]
struct MetadataInPlace {
    /// Its metadata in place of `tokenMetadataURI`: stored here first.
    metadata: MetadataRequest,
}

/// What a moment has besides its metadata.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
#[field(check)]
struct MomentTerms {
    /// Its sale; `{}` is free, from now on and without an end.
    #[schema(value_type = SalesConfig)]
    sales_config: Sale,
    /// Recipient of the protocol's referral reward, by default nobody. Needs the EIP-55 checksum in mixed case.
    #[schema(value_type = Option<Address>)]
    create_referral: Option<AddressOrZero>,
    /// Maximum supply, at least 1; an open edition by default.
    #[schema(schema_with = max_supply, required = false)]
    #[field(default = OPEN_EDITION)]
    max_supply: MaxSupply,
    /// Tokens that the creator gets immediately, at most `maxSupply`.
    #[schema(value_type = Option<Whole>, default = 0)]
    mint_to_creator_count: Whole,
    /// Recipient of the proceeds and royalties, if there are no `splits`.
    payout_recipient: Option<CheckedAddress>,
    /// Royalty on resale, in hundredths of a percent: 500 is 5 %.
    #[schema(value_type = Option<RoyaltyBps>, default = 1000)]
    royalty_bps: RoyaltyBps,
}

impl MomentTerms {
    fn check(&self, fields: &Fields<'_>) {
        if self.mint_to_creator_count.0 > self.max_supply.0 {
            fields.field("mintToCreatorCount").refuse(&Invalid("must not be more than maxSupply"));
        }
    }

    fn moment(self, uri: MetadataUri) -> NewMoment {
        NewMoment {
            uri,
            max_supply: self.max_supply.0,
            create_referral: self.create_referral.map_or(Address::ZERO, |AddressOrZero(referral)| referral),
            sale: self.sales_config,
            payout_recipient: self.payout_recipient.map(|CheckedAddress(recipient)| recipient),
            mint_to_creator: self.mint_to_creator_count.0,
            royalty: self.royalty_bps,
        }
    }
}

impl FromField for NewMoment {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let fields = field.object()?;
        let (link, terms) = (MetadataLink::from_fields(&fields), MomentTerms::from_fields(&fields));
        Some(terms?.moment(link?.token_metadata_uri))
    }
}

impl FromField for RequestedMoment {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let fields = field.object()?;
        if !fields.field("metadata").is_given() {
            return field.read().map(|moment| Self { moment, metadata: None });
        }
        if fields.field("tokenMetadataURI").is_given() {
            fields
                .field("tokenMetadataURI")
                .refuse(&Invalid("must be left out beside metadata, which gets a URI itself"));
        }
        let place = MetadataInPlace::from_fields(&fields);
        let terms = MomentTerms::from_fields(&fields);
        let metadata = place?.metadata;
        let uri = metadata.document().ok().and_then(|document| document.uri().ok());
        let uri = field.note(uri.ok_or(Invalid("has metadata that can't be stored")))?;
        Some(Self { moment: terms?.moment(uri), metadata: Some(metadata) })
    }
}

impl FromField for WritingToken {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let fields = field.object()?;
        let (content, terms) = (TokenContent::from_fields(&fields), MomentTerms::from_fields(&fields));
        Some(Self { content: content?.token_content, terms: terms? })
    }
}

impl WritingToken {
    /// The moment with this metadata.
    pub fn moment(self, uri: MetadataUri) -> NewMoment {
        self.terms.moment(uri)
    }
}

/// One object of several parts' fields.
fn joined(parts: impl IntoIterator<Item = RefOr<Schema>>) -> ObjectBuilder {
    parts.into_iter().fold(ObjectBuilder::new(), |all, part| match part {
        RefOr::T(Schema::Object(part)) => {
            let all = part.properties.into_iter().fold(all, |all, (name, field)| all.property(name, field));
            part.required.into_iter().fold(all, ObjectBuilder::required)
        }
        _ => all,
    })
}

impl ToSchema for MomentToken {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        MetadataLink::schemas(schemas);
        MomentTerms::schemas(schemas);
    }
}

impl PartialSchema for MomentToken {
    fn schema() -> RefOr<Schema> {
        joined([MetadataLink::schema(), MomentTerms::schema()]).description(Some("A moment.")).into()
    }
}

impl ToSchema for TokenWithMetadata {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        MetadataInPlace::schemas(schemas);
        MomentTerms::schemas(schemas);
    }
}

impl PartialSchema for TokenWithMetadata {
    fn schema() -> RefOr<Schema> {
        let fields = joined([MetadataInPlace::schema(), MomentTerms::schema()]);
        fields.description(Some("A moment whose metadata is stored here first.")).into()
    }
}

impl ToSchema for PublishedToken {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((MomentToken::name().into_owned(), MomentToken::schema()));
        schemas.push((TokenWithMetadata::name().into_owned(), TokenWithMetadata::schema()));
        MomentToken::schemas(schemas);
        TokenWithMetadata::schemas(schemas);
    }
}

impl PartialSchema for PublishedToken {
    fn schema() -> RefOr<Schema> {
        let either = [MomentToken::name(), TokenWithMetadata::name()].map(Ref::from_schema_name);
        let description = "A moment, with `metadata` or the URI of it.";
        either.into_iter().fold(AnyOfBuilder::new(), AnyOfBuilder::item).description(Some(description)).into()
    }
}

impl ToSchema for WritingToken {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        TokenContent::schemas(schemas);
        MomentTerms::schemas(schemas);
    }
}

impl PartialSchema for WritingToken {
    fn schema() -> RefOr<Schema> {
        let fields = joined([TokenContent::schema(), MomentTerms::schema()]);
        fields.description(Some("A moment that is a text.")).into()
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
    #[schema(value_type = Option<NewSaleType>, default = "fixedPrice")]
    r#type: SaleType,
    /// Less than 2^96 wei; at least 10000 for `erc20Mint`.
    #[schema(value_type = Option<Amount>, default = "0")]
    price_per_token: Amount,
    /// Unix time in seconds.
    #[schema(value_type = Option<Whole>, default = 0)]
    sale_start: SaleTime,
    /// Unix time in seconds, in the future and not before `saleStart`; the largest value, 18446744073709551615, means no
    /// end. A `timed` sale ignores it.
    #[schema(value_type = Option<Whole>, default = "18446744073709551615")]
    sale_end: SaleTime,
    /// Most tokens per address; 0 means unlimited. A `timed` sale has no limit.
    #[schema(value_type = Option<Whole>, default = 0)]
    max_tokens_per_address: Whole,
    /// The currency's contract; required for `erc20Mint`, and of no other type.
    #[schema(value_type = Option<CheckedAddress>)]
    currency: Option<AddressOrZero>,
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
        if r#type == SaleType::AllowList {
            let words = "is not for new moments: make the moment, then set its list with POST /moment/allow-list";
            return fields.field("type").note(Err(Invalid(words)));
        }
        let currency = currency.map(|AddressOrZero(address)| address).filter(|address| *address != Address::ZERO);
        if r#type != SaleType::Erc20 && currency.is_some() {
            let words = "belongs to the type erc20Mint: leave it out to sell for the chain's own currency";
            return fields.field("currency").note(Err(Invalid(words)));
        }
        if r#type == SaleType::Timed && price == Amount::default() {
            if max_tokens_per_address != Whole(0) {
                let words = "must be 0: a timed sale has no limit; use fixedPrice";
                return fields.field("maxTokensPerAddress").note(Err(Invalid(words)));
            }
            return Some(Sale::Timed { start: sale_start.0 });
        }
        let terms = SaleTerms { start: sale_start.0, end: sale_end.0, max_per_address: max_tokens_per_address.0 };
        let now = clock::now().map_or(0, |now| now.as_secs());
        let terms_hold = fields.field("saleEnd").note(terms.check().and_then(|()| sale_end.check_future(now)));
        if r#type != SaleType::Erc20 {
            let price_holds = fields.field("pricePerToken").note(Sale::check_fixed_price(price));
            return terms_hold.and(price_holds).map(|()| Sale::FixedPrice { terms, price });
        }
        let price_holds = fields.field("pricePerToken").note(Sale::check_erc20_price(price));
        let currency = currency.ok_or(Invalid("is required for a sale in an ERC-20 currency"));
        let currency = fields.field("currency").note(currency)?;
        terms_hold.and(price_holds).map(|()| Sale::Erc20 { terms, price, currency })
    }
}

/// A checked address, or the zero address.
struct AddressOrZero(Address);

impl Scalar for AddressOrZero {}

impl FromStr for AddressOrZero {
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
