//! Amounts, times and addresses as people say them.

use std::time::SystemTimeError;

use maud::{Markup, html};
use shared::{
    api::read::MomentView,
    chain::Chain,
    clock,
    model::{Address, Amount, SaleType, SaleView},
};
use time::{
    OffsetDateTime, format_description::BorrowedFormatItem, format_description::well_known::Rfc3339,
    macros::format_description,
};

/// The moment at which a page is made, from which "3 hours ago" counts.
#[derive(Clone, Copy, Debug)]
pub struct Clock(u64);

const DAY: &[BorrowedFormatItem<'_>] = format_description!("[day padding:none] [month repr:long] [year]");
const EXACT: &[BorrowedFormatItem<'_>] =
    format_description!("[day padding:none] [month repr:long] [year], [hour]:[minute] UTC");

impl Clock {
    /// Now.
    pub fn now() -> Result<Self, SystemTimeError> {
        Ok(Self(clock::now()?.as_secs()))
    }

    /// A clock that stands at a Unix time in seconds.
    pub fn at(seconds: u64) -> Self {
        Self(seconds)
    }

    /// A time in ISO 8601 as people say it, with the exact one in its title.
    pub fn show(self, iso: &str) -> Markup {
        let parsed = OffsetDateTime::parse(iso, &Rfc3339).ok();
        let exact = parsed.and_then(|time| time.format(EXACT).ok()).unwrap_or_else(|| iso.to_owned());
        let unix = parsed.and_then(|time| u64::try_from(time.unix_timestamp()).ok());
        html! { time datetime=(iso) title=(exact) { (unix.map_or_else(|| exact.clone(), |unix| self.ago(unix))) } }
    }

    /// The same of a Unix time in seconds.
    pub fn show_unix(self, seconds: u64) -> Markup {
        self.show(&clock::iso_8601(seconds).unwrap_or_default())
    }

    /// `3 hours ago`, `in 2 days`; a date from a month on.
    fn ago(self, seconds: u64) -> String {
        const UNITS: [(u64, &str); 4] = [(86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")];
        let apart = self.0.abs_diff(seconds);
        if apart >= 30 * 86_400 {
            return date(seconds);
        }
        if apart < 10 {
            return "just now".to_owned();
        }
        let (length, unit) = UNITS.into_iter().find(|(length, _)| apart >= *length).unwrap_or((1, "second"));
        let span = counted(apart / length, unit);
        if seconds > self.0 { format!("in {span}") } else { format!("{span} ago") }
    }

    /// A time to come with the day and the minute, and how far off it is: both as a page shows them before its script counts.
    pub fn until(self, seconds: u64) -> Markup {
        let iso = clock::iso_8601(seconds).unwrap_or_default();
        let exact = OffsetDateTime::parse(&iso, &Rfc3339).ok().and_then(|time| time.format(EXACT).ok());
        html! {
            time datetime=(iso) { (exact.unwrap_or_else(|| date(seconds))) }
            " " span .count { (if self.0.abs_diff(seconds) < 30 * 86_400 { self.ago(seconds) } else { String::new() }) }
        }
    }

    fn is_after(self, seconds: u64) -> bool {
        self.0 >= seconds
    }
}

/// `17 March 2026`.
pub fn date(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| OffsetDateTime::from_unix_timestamp(seconds).ok());
    time.and_then(|time| time.format(DAY).ok()).unwrap_or_else(|| "a date beyond the calendar".to_owned())
}

/// `1 comment`, `2 comments`.
pub fn counted(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `0x7099…79c8`.
pub fn short(address: Address) -> String {
    let text = address.to_string();
    format!("{}…{}", text.get(..6).unwrap_or_default(), text.get(text.len() - 4..).unwrap_or_default())
}

/// What a sale asks for, and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Such as `0.01 ETH`, `Free`.
    pub price: String,
    /// What is paid besides, or when it is for sale; empty if there is nothing to say.
    pub note: String,
    /// Whether it can be collected now, as far as its times tell, if only by the accounts of a list.
    pub is_open: bool,
    /// When a sale starts that is to come, in Unix seconds.
    pub opens: Option<u64>,
}

impl Offer {
    /// Of a moment's sale in force, `None` for one that isn't for sale.
    pub fn of(sale: Option<&SaleView>, chain: &Chain, sold_out: bool, clock: Clock) -> Self {
        let Some(sale) = sale else {
            return Self { price: "Not for sale".to_owned(), note: String::new(), is_open: false, opens: None };
        };
        let price = price(sale, chain);
        if sold_out {
            return Self { price: "Sold out".to_owned(), note: price, is_open: false, opens: None };
        }
        let (start, end) = (sale.sale_start.0, sale.sale_end.0);
        if !clock.is_after(start) {
            return Self { price, note: format!("opens {}", clock.ago(start)), is_open: false, opens: Some(start) };
        }
        if end != u64::MAX && clock.is_after(end) {
            return Self { price: "Ended".to_owned(), note: price, is_open: false, opens: None };
        }
        let fee = if sale.r#type == SaleType::Erc20 { "" } else { "plus the protocol’s fee" };
        let until = if end == u64::MAX { String::new() } else { format!("until {}", date(end)) };
        let note = [fee, until.as_str()].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ");
        Self { price, note, is_open: true, opens: None }
    }

    /// Of a moment with its sale to a list, where that is what it can be had by, or will be first.
    pub fn of_moment(moment: &MomentView, chain: &Chain, clock: Clock) -> Self {
        let open = Self::of(moment.sale.as_ref(), chain, moment.sold_out, clock);
        let list = moment.allow_list.as_ref().filter(|_| !moment.sold_out && !open.is_open);
        let Some((start, end)) = list.map(|list| (list.sale_start.0, list.sale_end.0)) else { return open };
        if clock.is_after(end) {
            return open;
        }
        // Each account has a price of its own.
        let price = if open.opens.is_some() { open.price } else { "For a list".to_owned() };
        if clock.is_after(start) {
            let already = "accounts on a list can collect already".to_owned();
            let note = open.opens.map_or_else(|| format!("until {}", date(end)), |_| already);
            return Self { price, note, is_open: true, opens: open.opens };
        }
        let opens = open.opens.map_or(start, |other| other.min(start));
        Self { price, note: format!("opens {}", clock.ago(opens)), is_open: false, opens: Some(opens) }
    }
}

/// The number and the currency's symbol of a sale's price; `None` in a currency that isn't known.
pub fn asked(sale: &SaleView, chain: &Chain) -> Option<(String, String)> {
    let currency = chain.currency(&sale.currency.to_string()).ok()?;
    Some((sale.price_per_token.decimal(currency.decimals.into()), currency.symbol.to_owned()))
}

/// A sale's price per token.
pub fn price(sale: &SaleView, chain: &Chain) -> String {
    if sale.r#type == SaleType::Timed || (sale.price_per_token == Amount::default() && sale.r#type != SaleType::Erc20) {
        return "Free".to_owned();
    }
    match asked(sale, chain) {
        Some((price, symbol)) => format!("{price} {symbol}"),
        None => format!("{} of {}", sale.price_per_token, short(sale.currency)),
    }
}

#[cfg(test)]
mod tests {
    use shared::chain::Chains;
    use shared::model::ChainId;

    use super::*;

    #[test]
    fn times_are_said_from_now() {
        let clock = Clock::at(1_000_000_000);
        for (seconds, said) in [
            (1_000_000_000, "just now"),
            (999_999_941, "59 seconds ago"),
            (999_999_940, "1 minute ago"),
            (999_989_200, "3 hours ago"),
            (999_827_200, "2 days ago"),
            (1_000_172_800, "in 2 days"),
            (0, "1 January 1970"),
        ] {
            assert_eq!(clock.ago(seconds), said, "{seconds}");
        }
        assert!(clock.show("2001-09-09T01:46:30Z").into_string().contains("title=\"9 September 2001, 01:46 UTC\""));
    }

    #[test]
    fn prices_are_said_in_their_currency() {
        let chains: Chains = r#"[{"id": 8453}]"#.parse().unwrap();
        let chain = chains.get(ChainId(8453)).unwrap();
        let usdc = chain.addresses.usdc.into();
        let sale = |r#type, price: &str, currency, start, end| SaleView {
            r#type,
            price_per_token: price.parse().unwrap(),
            sale_start: shared::model::WholeText(start),
            sale_end: shared::model::WholeText(end),
            max_tokens_per_address: shared::model::WholeText(0),
            funds_recipient: None,
            currency,
        };
        let (eth, clock) = (Address::from(alloy::primitives::Address::ZERO), Clock::at(1_000_000_000));
        let offer = |sale: &SaleView| Offer::of(Some(sale), chain, false, clock);
        let open = offer(&sale(SaleType::FixedPrice, "10000000000000000", eth, 0, u64::MAX));
        assert_eq!((open.price.as_str(), open.note.as_str()), ("0.01 ETH", "plus the protocol’s fee"));
        assert_eq!(offer(&sale(SaleType::FixedPrice, "0", eth, 0, u64::MAX)).price, "Free");
        assert_eq!(offer(&sale(SaleType::Erc20, "5000000", usdc, 0, u64::MAX)).price, "5 USDC");
        let later = offer(&sale(SaleType::FixedPrice, "1", eth, 1_000_172_800, u64::MAX));
        assert_eq!((later.note.as_str(), later.is_open, later.opens), ("opens in 2 days", false, Some(1_000_172_800)));
        let words = clock.until(1_000_172_800).into_string();
        assert!(words.contains(">11 September 2001, 01:46 UTC</time> <span class=\"count\">in 2 days<"), "{words}");
        assert_eq!(offer(&sale(SaleType::FixedPrice, "1", eth, 0, 5)).price, "Ended");
        assert_eq!(Offer::of(None, chain, false, clock).price, "Not for sale");
    }
}
