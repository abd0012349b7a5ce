use std::{str::FromStr, sync::LazyLock};

use serde_json::{Number, Value};

use super::fields::{Field, FromField};
use crate::{
    config::{self, ConfigError},
    model::{
        ActivityId, Address, Amount, ArtistName, AvatarUri, Bio, CaipContract, CaipNetwork, CeremonyId, ChainId,
        CheckedAddress, Cid, ClaimId, ClaimToken, CollectionName, CommentId, CommentText, ContentType, CurrencyName,
        DailyLimit, DeliveryId, DeviceId, DeviceToken, Email, EventId, EventKind, EventKinds, EventsAfter,
        ExportCursor, FileHash, Flag, GiftRecipient, Invalid, KeyDays, KeyId, KeyName, LongText, MediaType,
        MetadataUri, NewsMails, Nonce, OneTimeCode, PageLimit, PageNumber, PasskeyId, PasskeyName, Period,
        PreviewWidth, ProofAct, ProofId, ProofSubject, ProofWay, Protocol, RankedBy, RawFormat, Reason, Recipient,
        RoyaltyBps, SaleTime, SaleType, Scope, SessionId, Share, SignInLink, SocialUsername, SortOrder, Statement,
        Title, TokenId, TransactionId, TransferType, UnsubscribeToken, Until, UploadId, UploadSize, UploadType,
        Username, Wait, WebUrl, WebhookDescription, WebhookId, WebhookUrl, Whole,
    },
};

/// A type that is one JSON string or number, parsed by `FromStr`.
pub trait Scalar: FromStr<Err = Invalid> {
    /// Form in JSON; a string by default. Queries and paths have text only.
    const FORM: Form = Form::Text;
}

/// Form of a value in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A string.
    Text,
    /// A number.
    Number,
    /// A number, or its digits in a string: many languages' JSON numbers have neither 64 bits nor exact decimals.
    Exact,
}

macro_rules! scalars {
    ($($form:ident: $($type:ident),+;)+) => {$($(
        impl Scalar for $type {
            const FORM: Form = Form::$form;
        }
    )+)+};
}

scalars! {
    Text: ActivityId, Address, Amount, ArtistName, AvatarUri, Bio, CaipContract, CheckedAddress, Cid, ClaimId, ClaimToken, CollectionName,
        CommentId, CommentText, ContentType, CurrencyName, DailyLimit, DeliveryId, DeviceId, DeviceToken, Email, EventId, EventKind, EventKinds, EventsAfter, ExportCursor,
        FileHash, Flag, GiftRecipient, KeyId,
        KeyName, CeremonyId, PasskeyId, PasskeyName, LongText, MediaType, MetadataUri, NewsMails, Nonce, OneTimeCode, Period, ProofAct, ProofId, ProofSubject, ProofWay, Protocol, RankedBy, RawFormat, Reason, Recipient, SaleType, Scope,
        SessionId, SignInLink, SocialUsername, SortOrder, Statement, Title, TokenId, TransactionId, TransferType, UploadId, UploadType, UnsubscribeToken, Until, Username,
        WebUrl, WebhookDescription, WebhookId, WebhookUrl;
    Number: KeyDays, PageLimit, PageNumber, PreviewWidth, RoyaltyBps, Wait;
    Exact: SaleTime, Share, UploadSize, Whole;
}

impl<T: Scalar> FromField for T {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        parse(field, T::FORM)
    }
}

impl FromField for bool {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        field.boolean()
    }
}

impl FromField for ChainId {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let given = parse(field, Form::Number)?;
        let chosen = || default_chain().map_err(|_| Invalid("is required"));
        field.allowed(if field.is_default() { field.note(chosen())? } else { given })
    }
}

impl FromField for CaipNetwork {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        let Self(chain) = parse(field, Form::Text)?;
        field.allowed(chain).map(Self)
    }
}

/// The chain of a request that names none: `DEFAULT_CHAIN`. `serve` starts no function that has a wrong one.
pub(super) fn default_chain() -> Result<ChainId, &'static ConfigError> {
    static CHOSEN: LazyLock<Result<ChainId, ConfigError>> =
        LazyLock::new(|| config::parsed(config::variables::DEFAULT_CHAIN));
    CHOSEN.as_ref().copied()
}

fn parse<T: FromStr<Err = Invalid>>(field: &Field<'_>, form: Form) -> Option<T> {
    let parsed = match (form, field.given()?) {
        (Form::Text | Form::Exact, Value::String(text)) => text.parse(),
        (Form::Number, Value::String(digits)) if field.is_text() => digits.parse(),
        (Form::Exact, Value::Number(number)) => exact_digits(number).and_then(|digits| digits.parse()),
        (Form::Number, Value::Number(number)) => digits(number).parse(),
        (Form::Text, _) => Err(Invalid("must be a string")),
        (Form::Number, _) => Err(Invalid("must be a number")),
        (Form::Exact, _) => Err(Invalid("must be a number, or its digits as text")),
    };
    field.note(parsed)
}

/// A number's digits, those of a whole one without decimals: to JSON Schema, 1.0 is the integer 1. A number with decimals
/// or an exponent has the precision of an `f64` (RFC 8259, section 6); digits alone are exact.
fn digits(number: &Number) -> String {
    let whole = number.as_f64().filter(|value| number.is_f64() && value.fract() == 0.0);
    // Adding nothing makes -0 into 0.
    whole.map_or_else(|| number.to_string(), |value| format!("{:.0}", value + 0.0))
}

/// The digits of a number that no double has rounded, or of the largest 64-bit number, which rounds to 2^64.
fn exact_digits(number: &Number) -> Result<String, Invalid> {
    const TWO_TO_THE_64: f64 = 18_446_744_073_709_551_616.0;
    match number.as_u64() {
        Some(u64::MAX) => Ok(u64::MAX.to_string()),
        Some(value) if value > Whole::MOST_SAFE => Err(Invalid("must be digits as text from 9007199254740992 on")),
        None if number.as_f64() == Some(TWO_TO_THE_64) => Ok(u64::MAX.to_string()),
        _ => Ok(digits(number)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};
    use utoipa::ToSchema;

    use super::*;
    use crate::http::{AnyChain, ApiError, FromFields, input::Input};

    fn body(value: Value) -> Input {
        let Value::Object(values) = value else { panic!("not an object") };
        Input::of_object(values)
    }

    fn errors<T>(read: Result<T, ApiError>) -> Vec<(String, String)> {
        let Err(error) = read else { return Vec::new() };
        let body: Value = serde_json::from_str(&error.body()).unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let errors = body["errors"].as_array().unwrap().iter();
        errors.map(|error| (text(&error["field"]), text(&error["message"]))).collect()
    }

    #[derive(Debug, PartialEq, FromFields, ToSchema)]
    #[schema(rename_all = "camelCase")]
    struct Order {
        moment: Place,
        contract: Option<Place>,
        #[schema(min_items = 2, max_items = 9)]
        splits: Vec<Part>,
        #[schema(min_items = 1, max_items = 9)]
        tokens: Option<Vec<TokenId>>,
        #[schema(rename = "maxURI", default = json!(Whole(7).0))]
        max: Whole,
    }

    #[derive(Debug, PartialEq, FromFields, ToSchema)]
    #[schema(rename_all = "camelCase")]
    struct Place {
        collection_address: Address,
        token_id: TokenId,
        #[schema(default = 8453)]
        chain_id: ChainId,
    }

    #[derive(Debug, PartialEq, FromFields, ToSchema)]
    struct Part {
        address: CheckedAddress,
    }

    #[test]
    fn every_wrong_field_is_reported_in_the_order_of_declaration() {
        let order = body(json!({
            "maxURI": true,
            "tokens": [],
            "splits": [{"address": 7}, 8, null],
            "contract": 7,
            "moment": {"tokenId": null, "collectionAddress": "0x1", "chainId": "base"},
        }));
        let errors = errors(order.read_for::<Order>(&AnyChain));
        let expected = [
            ("moment.collectionAddress", "must be an address: 0x and 40 hexadecimal digits"),
            ("moment.tokenId", "is required"),
            ("moment.chainId", "must be a number"),
            ("contract", "must be an object with chainId, collectionAddress, tokenId"),
            ("splits.0.address", "must be a string"),
            ("splits.1", "must be an object with address"),
            ("splits.2", "must be an object with address"),
            ("tokens", "has too few entries: give at least 1"),
            ("maxURI", "must be a number, or its digits as text"),
        ];
        assert_eq!(errors, expected.map(|(field, message)| (field.to_owned(), message.to_owned())));
        let short = body(json!({"splits": [{}], "tokens": "1", "moment": null}));
        let fields: Vec<_> = super::tests::errors(short.read_for::<Order>(&AnyChain));
        let fields: Vec<_> = fields.iter().map(|(field, message)| (field.as_str(), message.as_str())).collect();
        let expected = [
            ("moment", "is required"),
            ("splits", "has too few entries: give at least 2"),
            ("tokens", "must be a list"),
        ];
        assert_eq!(fields, expected);
    }

    #[test]
    fn missing_fields_have_their_defaults_and_chains_are_checked() {
        let address = format!("0x{}", "1".repeat(40));
        let order = json!({"moment": {"collectionAddress": address, "tokenId": "1"}, "splits": [{"address": address},
            {"address": address}], "tokens": null});
        let read: Order = body(order.clone()).read_for(&AnyChain).unwrap();
        assert_eq!((read.moment.chain_id, read.max, read.tokens), (ChainId::DEFAULT, Whole(7), None));
        assert_eq!(errors(body(order).read::<Order>())[0].0, "moment.chainId");
    }

    #[test]
    fn unknown_fields_of_a_body_are_refused_with_the_nearest_known_one() {
        let address = format!("0x{}", "1".repeat(40));
        let order = body(json!({
            "account": address, "chanel": "web",
            "moment": {"collectionAddress": address, "tokenId": "1", "token_id": "1", "chainid": 1},
            "splits": [{"address": address}, {"address": address, "adress": address}],
        }));
        let expected = [
            ("chanel", "is not a field here"),
            ("moment.chainid", "is not a field here; did you mean chainId?"),
            ("moment.token_id", "is not a field here; did you mean tokenId?"),
            ("splits.1.adress", "is not a field here; did you mean address?"),
        ];
        let found = errors(order.read_for::<Order>(&AnyChain));
        assert_eq!(found, expected.map(|(field, message)| (field.to_owned(), message.to_owned())));
    }

    #[test]
    fn empty_parameter_is_a_missing_one() {
        assert_eq!(parameter::<Option<Whole>>(""), Some(None));
        assert_eq!(number::<Option<Whole>>(json!("")), None, "in a body it is a text");
    }

    #[derive(FromFields)]
    struct Number<T: FromField> {
        number: T,
    }

    fn number<T: FromField>(value: Value) -> Option<T> {
        let values = Map::from_iter([("number".to_owned(), value)]);
        Input::of_object(values).read_for::<Number<T>>(&AnyChain).map(|read| read.number).ok()
    }

    fn parameter<T: FromField>(value: &str) -> Option<T> {
        let parameters = [("number".to_owned(), value.to_owned())];
        Input::of_parameters(parameters.into_iter()).read_for::<Number<T>>(&AnyChain).map(|read| read.number).ok()
    }

    #[test]
    fn numbers_are_numbers_and_in_a_query_their_digits() {
        for (value, chain) in [
            (json!(8453), 8453),
            (json!(8453.0), 8453),
            (json!(Whole::MOST_SAFE), Whole::MOST_SAFE),
            (json!(-0.0), 0),
            (json!(9_007_199_254_740_991.0), Whole::MOST_SAFE),
        ] {
            assert_eq!(number(value.clone()), Some(ChainId(chain)), "{value}");
        }
        for value in
            [json!("8453"), json!(8453.5), json!(-1), json!(true), json!(9_007_199_254_740_992.0), json!(1e300)]
        {
            assert_eq!(number::<ChainId>(value.clone()), None, "{value}");
        }
        assert_eq!(parameter("8453"), Some(ChainId::DEFAULT));
        assert_eq!(parameter::<ChainId>("8453.0"), None);
    }

    #[test]
    fn exact_numbers_may_be_text() {
        for value in [json!(u64::MAX), json!(u64::MAX.to_string()), json!(18_446_744_073_709_552_000.0)] {
            assert_eq!(number(value), Some(Whole(u64::MAX)));
        }
        let safe = Whole::MOST_SAFE;
        assert_eq!((number(json!(safe)), number(json!(safe as f64))), (Some(Whole(safe)), Some(Whole(safe))));
        for value in [safe + 1, u64::MAX - 1] {
            assert_eq!(number::<Whole>(json!(value)), None, "{value} may have been rounded");
            assert_eq!(number(json!(value.to_string())), Some(Whole(value)));
        }
        assert_eq!(number::<Whole>(json!(18_446_744_073_709_556_000.0)), None);
        assert_eq!((number::<Whole>(json!("1.0")), number::<Whole>(json!(true))), (None, None));
        assert_eq!(parameter("7"), Some(Whole(7)));
    }

    #[test]
    fn numbers_with_decimals_are_read_as_the_nearest_double() {
        for (text, nearest) in [("3934984543088178.0", 3_934_984_543_088_178), ("9007199254740991.0", Whole::MOST_SAFE)]
        {
            let value = serde_json::from_str(text).unwrap();
            assert_eq!(number(value), Some(Whole(nearest)), "{text}");
        }
    }

    #[test]
    fn a_repeated_parameter_is_refused_before_all_others() {
        let parameters = [("number", "x"), ("other", "1"), ("other", "2")].map(|(a, b)| (a.to_owned(), b.to_owned()));
        let read = Input::of_parameters(parameters.into_iter()).read::<Number<Whole>>();
        let errors: Vec<_> = errors(read).into_iter().map(|(field, _)| field).collect();
        assert_eq!(errors, ["other", "number"]);
    }
}
