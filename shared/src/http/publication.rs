//! The parts of a request that publish something, which creation and governance share.

use alloy::primitives::Address as RawAddress;

use super::Fields;
use crate::model::{
    Address, Amount, CheckedAddress, CollectionName, Invalid, MetadataUri, NewMoment, OPEN_EDITION, Sale, SaleTerms,
    SaleType, Share, Split, TargetCollection, Whole,
};

/// Longest body of a request for many moments: fifty whose URIs are as long as they may be.
pub const MAX_MOMENTS_BYTES: usize = 256 * 1024;

/// Most moments that one request can make.
const MAX_MOMENTS: usize = 50;

/// Most recipients of a split.
const MAX_RECIPIENTS: usize = 100;

impl Fields {
    /// `contract`: either `address`, or `name` and `uri`.
    pub fn target_collection(&mut self) -> Option<TargetCollection> {
        let mut contract = self.object("contract")?;
        if contract.has("address") {
            return contract.required::<Address>("address").map(TargetCollection::Existing);
        }
        if !contract.has("name") && !contract.has("uri") {
            self.refuse("contract", Invalid("must have either an address, or a name and a uri"));
            return None;
        }
        let name = contract.collection_name();
        let uri = contract.required::<MetadataUri>("uri");
        Some(TargetCollection::New { name: name?, uri: uri? })
    }

    /// `name` of a collection: 1 to 200 characters.
    pub fn collection_name(&mut self) -> Option<String> {
        self.required::<CollectionName>("name").map(|CollectionName(name)| name)
    }

    /// `tokens`: 1 to 50 moments.
    pub fn new_moments(&mut self) -> Option<Vec<NewMoment>> {
        let tokens = self.objects("tokens", 1..=MAX_MOMENTS)?;
        // Every one is read, so that what is wrong with each is told.
        let moments: Vec<_> = tokens.into_iter().map(|mut token| token.new_moment()).collect();
        moments.into_iter().collect()
    }

    /// One moment: `tokenMetadataURI`, `createReferral`, `salesConfig`, `mintToCreatorCount`, `payoutRecipient`,
    /// `maxSupply`.
    pub fn new_moment(&mut self) -> Option<NewMoment> {
        let uri = self.required::<MetadataUri>("tokenMetadataURI");
        let create_referral = self.optional_or("createReferral", Referral(RawAddress::ZERO.into()));
        let sale = self.object("salesConfig").and_then(|mut sale| sale.sale());
        let mint_to_creator = self.optional_exact_or("mintToCreatorCount", Whole(0));
        let max_supply = self.optional_exact_or("maxSupply", Whole(OPEN_EDITION));
        let payout_recipient = self.optional::<CheckedAddress>("payoutRecipient");
        if max_supply == Some(Whole(0)) {
            self.refuse("maxSupply", Invalid("must be at least 1: leave it out for an open edition"));
        } else if mint_to_creator > max_supply && max_supply.is_some() {
            self.refuse("mintToCreatorCount", Invalid("must not be more than maxSupply"));
        }
        Some(NewMoment {
            uri: uri?,
            max_supply: max_supply?.0,
            create_referral: create_referral?.0,
            sale: sale?,
            payout_recipient: payout_recipient.map(|recipient| recipient.0),
            mint_to_creator: mint_to_creator?.0,
        })
    }

    /// `splits`: a list of `{address, percentAllocation}`; `None` inside when it is left out or empty.
    pub fn split(&mut self) -> Option<Option<Split>> {
        if !self.has("splits") {
            return Some(None);
        }
        let entries = self.objects("splits", 0..=MAX_RECIPIENTS)?;
        if entries.is_empty() {
            return Some(None);
        }
        let entry = |mut entry: Fields| {
            let address = entry.required::<CheckedAddress>("address");
            let share = entry.required_exact::<Share>("percentAllocation");
            Some((address?.0, share?))
        };
        let parsed: Vec<_> = entries.into_iter().map(entry).collect();
        let recipients: Vec<_> = parsed.into_iter().collect::<Option<_>>()?;
        Split::new(recipients).map(Some).map_err(|error| self.refuse("splits", error)).ok()
    }

    /// The fields of `salesConfig`. A price over 0 means a fixed price, unless the type is ERC-20.
    fn sale(&mut self) -> Option<Sale> {
        let r#type = self.required::<SaleType>("type");
        let price = self.required::<Amount>("pricePerToken");
        let start = self.required_exact::<Whole>("saleStart");
        let end = self.required_exact::<Whole>("saleEnd");
        let max_per_address = self.optional_exact_or("maxTokensPerAddress", Whole(0));
        let currency = self.optional::<CheckedAddress>("currency");
        let (r#type, price) = (r#type?, price?);
        if r#type == SaleType::Timed && price == Amount::default() {
            return Some(Sale::Timed { start: start?.0 });
        }
        let terms = SaleTerms { start: start?.0, end: end?.0, max_per_address: max_per_address?.0 };
        let terms_hold = self.check("saleEnd", terms.check());
        if r#type != SaleType::Erc20 {
            let price_holds = self.check("pricePerToken", Sale::check_fixed_price(price));
            return (terms_hold && price_holds).then_some(Sale::FixedPrice { terms, price });
        }
        let price_holds = self.check("pricePerToken", Sale::check_erc20_price(price));
        if currency.is_none() && !self.has("currency") {
            self.refuse("currency", Invalid("is required for a sale in an ERC-20 currency"));
        }
        let currency = currency?.0;
        (terms_hold && price_holds).then_some(Sale::Erc20 { terms, price, currency })
    }

    fn check(&self, name: &str, outcome: Result<(), Invalid>) -> bool {
        outcome.map_err(|error| self.refuse(name, error)).is_ok()
    }
}

/// An address that may be nobody's.
struct Referral(Address);

impl std::str::FromStr for Referral {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let address: Address = text.parse()?;
        if RawAddress::from(address).is_zero() {
            Ok(Self(address))
        } else {
            text.parse().map(|CheckedAddress(a)| Self(a))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const CURRENCY: &str = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";

    fn fields(value: Value) -> Fields {
        let Value::Object(values) = value else { panic!("not an object") };
        Fields::from_object(values)
    }

    /// The sale that is read, or the fields that were refused.
    fn sale(value: Value) -> Result<Sale, Vec<String>> {
        let mut fields = fields(value);
        let sale = fields.sale();
        fields.finish(|| sale).map_err(|error| {
            let body: Value = serde_json::from_str(&error.body()).unwrap();
            body["errors"].as_array().unwrap().iter().map(|e| e["field"].as_str().unwrap().to_owned()).collect()
        })
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
    fn what_a_strategy_cannot_express_is_refused() {
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
            fields(json!({"splits": entries})).split()
        };
        assert!(of([33.3333, 33.3333, 33.3334]).is_some());
        assert!(of([33.33, 33.33, 33.33]).is_none());
        assert!(of([50.0, 49.9999999, 0.0000001]).is_none());
        assert_eq!(fields(json!({"splits": []})).split(), Some(None));
        assert_eq!(fields(json!({})).split(), Some(None));
    }
}
