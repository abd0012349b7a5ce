//! Which moment is meant: the address of its page, or its collection and token.

use std::{fmt, str::FromStr};

use moments_client::types::{Address, ChainId, MomentRef, Recipient, TokenId, error::ConversionError};
use url::Url;

/// A moment as a person names it.
#[derive(Clone, Debug)]
pub struct Named {
    /// Chain id; none means the service's default.
    pub chain: Option<ChainId>,
    /// The collection's contract.
    pub collection: Address,
    /// The token's id, in decimal digits.
    pub token: TokenId,
    /// Who sent the collector, as the page's `?ref=` says.
    pub referral: Option<Recipient>,
}

impl Named {
    /// The moment in a request.
    pub fn reference(&self) -> Result<MomentRef, ConversionError> {
        let reference = MomentRef::builder().collection_address(self.collection.clone()).token_id(self.token.clone());
        match self.chain.clone() {
            Some(chain) => reference.chain_id(chain).try_into(),
            None => reference.try_into(),
        }
    }
}

impl fmt::Display for Named {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", *self.collection, *self.token)
    }
}

/// A text names no moment.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be the address of a moment's page, or a collection and a token, such as 0x540c…1858/1")]
pub struct NotNamed;

impl FromStr for Named {
    type Err = NotNamed;

    fn from_str(text: &str) -> Result<Self, NotNamed> {
        let text = text.trim();
        let Some(page) = Url::parse(text).ok().filter(|url| ["http", "https"].contains(&url.scheme())) else {
            return by_parts(&text.split('/').collect::<Vec<_>>());
        };
        let parts: Vec<_> = page.path().trim_end_matches('/').split('/').collect();
        // However deep the pages are on their host, a moment's ends like this.
        let [.., "m", chain, collection, token] = parts.as_slice() else { return Err(NotNamed) };
        let named = by_parts(&[chain, collection, token])?;
        let referral = page.query_pairs().find(|(name, _)| name == "ref").and_then(|(_, name)| name.parse().ok());
        Ok(Self { referral, ..named })
    }
}

/// `[collection, token]`, or the chain's id before them.
fn by_parts(parts: &[&str]) -> Result<Named, NotNamed> {
    let (chain, collection, token) = match *parts {
        [collection, token] => (None, collection, token),
        [chain, collection, token] => (Some(chain_id(chain).ok_or(NotNamed)?), collection, token),
        _ => return Err(NotNamed),
    };
    let collection = collection.parse().map_err(|_| NotNamed)?;
    let token = token.parse().map_err(|_| NotNamed)?;
    Ok(Named { chain, collection, token, referral: None })
}

fn chain_id(text: &str) -> Option<ChainId> {
    let are_digits = text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTRACT: &str = "0x540c18b7f99b3b599c6feb99964498931c211858";

    fn parsed(text: &str) -> Option<(Option<i64>, String, String)> {
        text.parse::<Named>()
            .ok()
            .map(|named| (named.chain.map(|chain| *chain), named.collection.to_string(), named.token.to_string()))
    }

    #[test]
    fn pages_and_parts_name_a_moment() {
        let expected = |chain| Some((chain, CONTRACT.to_owned(), "7".to_owned()));
        assert_eq!(parsed(&format!("{CONTRACT}/7")), expected(None));
        assert_eq!(parsed(&format!(" 8453/{CONTRACT}/7")), expected(Some(8453)));
        for page in ["https://a.example/m", "http://127.0.0.1:3000/api/pages/m", "https://a.example/embed/m"] {
            assert_eq!(parsed(&format!("{page}/8453/{CONTRACT}/7?from=feed#top")), expected(Some(8453)), "{page}");
            assert_eq!(parsed(&format!("{page}/8453/{CONTRACT}/7/")), expected(Some(8453)), "{page}");
        }
    }

    #[test]
    fn a_page_says_who_sent_the_collector() {
        let page = format!("https://a.example/m/8453/{CONTRACT}/7?ref={CONTRACT}");
        let named: Named = page.parse().expect("a moment");
        assert_eq!(named.referral.map(|referral| referral.to_string()), Some(CONTRACT.to_owned()));
    }

    #[test]
    fn other_texts_name_none() {
        for text in [
            String::new(),
            CONTRACT.to_owned(),
            format!("{CONTRACT}/"),
            format!("{CONTRACT}/x"),
            format!("{CONTRACT}/-1"),
            format!("base/{CONTRACT}/1"),
            format!("-1/{CONTRACT}/1"),
            "0x1/1".to_owned(),
            format!("https://a.example/c/8453/{CONTRACT}"),
            format!("https://a.example/m/8453/{CONTRACT}/7/8"),
            format!("ftp://a.example/m/8453/{CONTRACT}/7"),
        ] {
            assert_eq!(parsed(&text), None, "{text}");
        }
    }
}
