//! Request, answer and description of `POST /moment/claims`.

use std::str::FromStr;

use serde::Serialize;
use shared::{
    http::{Form, FromFields, Scalar},
    model::{ClaimId, Invalid, MomentRef, SaleTime, Whole},
};
use utoipa::ToSchema;

/// Seconds after which a link ends by default.
const DEFAULT_LIFETIME: u64 = 90 * 24 * 60 * 60;
/// Seconds after which it ends at the latest.
const MAX_LIFETIME: u64 = 366 * 24 * 60 * 60;

/// What to give away.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateClaimLinkRequest {
    /// The moment.
    pub moment: MomentRef,
    /// Number of tokens to give away.
    #[schema(value_type = u16, minimum = 1, maximum = 10_000)]
    pub count: ClaimCount,
    /// Most tokens that a person may claim, one at a time.
    #[schema(value_type = Option<u8>, default = 1, minimum = 1, maximum = 20)]
    pub per_person: PerPerson,
    /// When the link ends, in Unix seconds: within a year; in 90 days by default.
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 9_007_199_254_740_991_i64)]
    pub until: Option<SaleTime>,
}

/// Tokens of a link: 1 to 10,000.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimCount(pub u64);

/// Tokens of a person: 1 to 20.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PerPerson(pub u64);

impl Scalar for ClaimCount {
    const FORM: Form = Form::Number;
}

impl Scalar for PerPerson {
    const FORM: Form = Form::Number;
}

impl FromStr for ClaimCount {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(Whole(number @ 1..=10_000)) => Ok(Self(number)),
            _ => Err(Invalid("must be a whole number from 1 to 10000")),
        }
    }
}

impl FromStr for PerPerson {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse() {
            Ok(Whole(number @ 1..=20)) => Ok(Self(number)),
            _ => Err(Invalid("must be a whole number from 1 to 20")),
        }
    }
}

impl CreateClaimLinkRequest {
    /// When the link ends, both in Unix seconds.
    pub fn end(&self, now: u64) -> Result<u64, Invalid> {
        match self.until {
            None => Ok(now + DEFAULT_LIFETIME),
            Some(SaleTime(until)) if until > now && until <= now + MAX_LIFETIME => Ok(until),
            Some(_) => Err(Invalid("must be to come, within a year: a time in Unix seconds")),
        }
    }
}

/// The link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateClaimLinkResponse {
    pub claim_id: ClaimId,
    /// The page to claim on, to be sent or printed. It is shown this once, and whoever has it may claim.
    #[schema(format = "uri", examples("https://moments.example/claim/n4dMF6szORUwX3KWL9LwNQ"))]
    pub url: String,
}

/// Make a claim link
///
/// Whoever has the link gets a token of the moment, minted at the expense of your budget for fees, until `count` are
/// claimed. Needs the permission MINTER, or ADMIN, on the moment or its collection, then and at each claim. At most 100
/// links.
#[utoipa::path(
    post,
    path = "/moment/claims",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = CreateClaimLinkRequest, example = json!({"moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"}, "count": 100})),
    responses((status = 200, description = "The link.", body = CreateClaimLinkResponse)),
    extensions(("x-errors" = json!([403, 404, 409, 422, 429, 502, 503]))),
)]
pub fn create_claim_link() {}

#[cfg(test)]
mod tests {
    use shared::model::Address;

    use super::*;

    #[test]
    fn links_end_within_a_year() {
        let ends = |until: Option<u64>| {
            let moment = MomentRef::whole("8453".parse().unwrap(), Address::ZERO);
            let (count, per_person, until) = (ClaimCount(1), PerPerson(1), until.map(SaleTime));
            CreateClaimLinkRequest { moment, count, per_person, until }.end(1_800_000_000).ok()
        };
        assert_eq!(ends(None), Some(1_800_000_000 + DEFAULT_LIFETIME));
        assert_eq!(ends(Some(1_800_000_001)), Some(1_800_000_001));
        for until in [0, 1_800_000_000, 1_800_000_000 + MAX_LIFETIME + 1, u64::MAX] {
            assert_eq!(ends(Some(until)), None, "{until}");
        }
    }
}
