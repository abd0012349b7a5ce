//! Request and description of `POST /moment/allow-list`.

use std::collections::HashMap;

use shared::{
    api::transact::SentTransaction,
    http::{ApiError, FieldError, FromFields},
    model::{
        Address, AllowList, Amount, CheckedAddress, Invalid, ListedAccount, MomentRef, Recipient, Sale, SaleTime, Whole,
    },
};
use utoipa::ToSchema;

/// Seconds after which a sale to a list ends by default.
const DEFAULT_LENGTH: u64 = 90 * 24 * 60 * 60;
/// Seconds after which it ends at the latest: its list is kept no longer.
const MAX_LENGTH: u64 = 366 * 24 * 60 * 60;
/// Wrong entries that an answer names.
const MAX_NAMED: usize = 20;

/// Who may collect, when, and for what.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SetAllowListRequest {
    /// The moment.
    pub moment: MomentRef,
    /// Who may collect, each account once, 200 at most by username; none at all end the sale.
    #[schema(max_items = 10_000)]
    pub entries: Vec<ListEntry>,
    /// Most tokens of an account whose entry says nothing else, with those that it has had of an earlier list; 0 means
    /// unlimited.
    #[schema(value_type = Option<Whole>, default = 1)]
    pub max_amount: Whole,
    /// Wei per token for an account whose entry says nothing else; less than 2^96.
    #[schema(value_type = Option<Amount>, default = "0")]
    pub price: Amount,
    /// Unix time in seconds.
    #[schema(value_type = Option<Whole>, default = 0)]
    pub sale_start: SaleTime,
    /// Unix time in seconds: within 15 months, not before `saleStart`; in 90 days by default.
    #[schema(value_type = Option<Whole>)]
    pub sale_end: Option<SaleTime>,
    /// Recipient of the proceeds; that of the sale to everybody by default, else your account.
    pub funds_recipient: Option<CheckedAddress>,
}

/// An account of a list.
#[derive(FromFields, ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ListEntry {
    /// By address or username.
    pub account: Recipient,
    /// Most tokens; 0 means unlimited.
    pub max_amount: Option<Whole>,
    /// Wei per token.
    pub price: Option<Amount>,
}

impl SetAllowListRequest {
    /// Start and end of the sale at the time `now`, all in Unix seconds; 400 for times at which nothing could be sold.
    pub fn times(&self, now: u64) -> Result<(u64, u64), ApiError> {
        let start = self.sale_start.0;
        let end = self.sale_end.map_or(now.max(start) + DEFAULT_LENGTH, |SaleTime(end)| end);
        let wrong = match end {
            _ if start > now + MAX_LENGTH => Some(("saleStart", "must be within a year: Unix time in seconds")),
            end if end <= now || end > now + MAX_LENGTH + DEFAULT_LENGTH => {
                Some(("saleEnd", "must be to come, within 15 months: Unix time in seconds"))
            }
            end if end < start => Some(("saleEnd", "must not be before saleStart")),
            _ => None,
        };
        wrong.map_or(Ok((start, end)), |(field, words)| Err(ApiError::invalid_field(field, words)))
    }

    /// The list of these accounts, which are the entries' in their order; 400 that names entries of the same account,
    /// and prices that no sale has.
    pub fn list(&self, accounts: &[Address]) -> Result<AllowList, ApiError> {
        let (mut seen, mut errors, mut listed) = (HashMap::new(), Vec::new(), Vec::with_capacity(accounts.len()));
        let price_holds = |price: Amount| Sale::check_fixed_price(price);
        if let Err(Invalid(words)) = price_holds(self.price) {
            return Err(ApiError::invalid_field("price", words));
        }
        for (place, (entry, account)) in self.entries.iter().zip(accounts).enumerate() {
            let mut refuse = |field: &str, message: String| {
                errors.push(FieldError { field: format!("entries.{place}.{field}"), message });
            };
            if let Some(first) = seen.insert(*account, place) {
                refuse("account", format!("is the same account as entry {first}"));
            }
            let (price, Whole(max_amount)) =
                (entry.price.unwrap_or(self.price), entry.max_amount.unwrap_or(self.max_amount));
            if let Err(Invalid(words)) = price_holds(price) {
                refuse("price", words.to_owned());
            }
            listed.push(ListedAccount { account: *account, max_amount, price });
        }
        if !errors.is_empty() {
            errors.truncate(MAX_NAMED);
            return Err(ApiError::invalid_fields(errors));
        }
        AllowList::new(listed).map_err(|Invalid(words)| ApiError::invalid_field("entries", words))
    }
}

/// Sell a moment to a list
///
/// Only these accounts can collect then, each at its price, beside the sale to everybody, if there is one. An earlier
/// list is replaced. Needs the permission SALES on the moment or its collection, and ADMIN where the chain's strategy
/// for lists may not mint yet. The body may have 640 KiB; 50,000 entries in a day.
#[utoipa::path(
    post,
    path = "/moment/allow-list",
    tag = "Moments",
    security(("apiKey" = []), ("token" = [])),
    request_body(content = SetAllowListRequest, example = json!({
        "moment": {"collectionAddress": "0x540c18b7f99b3b599c6feb99964498931c211858", "tokenId": "1"},
        "entries": [{"account": "0x00000000000000000000000000000000000000a1"}, {"account": "0x00000000000000000000000000000000000000a2", "maxAmount": 3}],
        "price": "1000000000000000",
    })),
    responses((status = 200, description = "The transaction.", body = SentTransaction)),
    extensions(("x-effect" = json!("write")), ("x-body" = json!("large")), ("x-errors" = json!([404]))),
)]
pub fn set_allow_list() {}

#[cfg(test)]
mod tests {
    use shared::model::ChainId;

    use super::*;

    const NOW: u64 = 1_800_000_000;

    fn request(start: u64, end: Option<u64>) -> SetAllowListRequest {
        SetAllowListRequest {
            moment: MomentRef::whole(ChainId::DEFAULT, Address::ZERO),
            entries: Vec::new(),
            max_amount: Whole(1),
            price: Amount::default(),
            sale_start: SaleTime(start),
            sale_end: end.map(SaleTime),
            funds_recipient: None,
        }
    }

    #[test]
    fn sales_to_lists_end_in_time() {
        let times = |start, end| request(start, end).times(NOW).ok();
        assert_eq!(times(0, None), Some((0, NOW + DEFAULT_LENGTH)));
        assert_eq!(times(NOW + 9, None), Some((NOW + 9, NOW + 9 + DEFAULT_LENGTH)));
        assert_eq!(times(NOW + 9, Some(NOW + 9)), Some((NOW + 9, NOW + 9)));
        for (start, end) in
            [(0, 0), (0, NOW), (NOW + 9, NOW + 8), (0, u64::MAX), (NOW + MAX_LENGTH + 1, NOW + MAX_LENGTH + 2)]
        {
            assert_eq!(times(start, Some(end)), None, "{start} to {end}");
        }
    }
}
