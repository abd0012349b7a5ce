use std::collections::{BTreeSet, HashMap};

use alloy::primitives::B256;
use futures::future::try_join_all;
use serde::Serialize;
use utoipa::ToSchema;

use super::reader::{Person, ReadError, Reader};
use crate::{
    chain::protocol::currency::{ETH_DECIMALS, USDC_DECIMALS},
    clock::iso_8601_with_offset,
    model::{Address, ChainId, EventId, FeeRecipient, Payment, Referral, TokenId},
    store::across::{LookupKeys, LookupRows},
};

/// A payment.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Payment)]
pub struct PaymentView {
    id: EventId,
    /// The seller's proceeds: a decimal number for ether and USDC, else a whole one in the currency's smallest unit.
    amount: String,
    currency: Address,
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    transaction_hash: B256,
    /// ISO 8601, with an offset.
    transferred_at: String,
    moment: PaidMoment,
    buyer: Person,
    /// Who sent the buyer, and got a reward of the protocol's for it; null for nobody.
    #[schema(required = true)]
    referral: Option<ReferralView>,
}

/// A reward for having sent a buyer, in the payment's currency.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Referral)]
struct ReferralView {
    address: Address,
    /// Empty without a name.
    username: String,
    /// In the form of the payment's amount.
    amount: String,
}

/// The moment that was paid for.
#[derive(Debug, Serialize, ToSchema)]
struct PaidMoment {
    id: EventId,
    token_id: TokenId,
    /// Empty if the operator hid the moment.
    uri: String,
    collection: PaidCollection,
    fee_recipients: Vec<FeeRecipientView>,
}

/// Its collection.
#[derive(Debug, Serialize, ToSchema)]
struct PaidCollection {
    address: Address,
    chain_id: ChainId,
    creator: Address,
}

/// A recipient of a sale's proceeds, with their share.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FeeRecipient)]
pub struct FeeRecipientView {
    artist_address: Address,
    #[schema(value_type = f64)]
    percent_allocation: serde_json::Number,
}

impl Reader {
    /// Views of payments. One read per chain and hundred rows, two a payment.
    pub async fn payments(&self, payments: &[Payment]) -> Result<Vec<PaymentView>, ReadError> {
        let chains: BTreeSet<ChainId> = payments.iter().map(|payment| payment.chain_id).collect();
        let of = |chain: ChainId| payments.iter().filter(move |payment| payment.chain_id == chain);
        let rows = chains.iter().map(async |chain| {
            let keys = LookupKeys {
                moments: of(*chain).map(Payment::moment).collect(),
                names: of(*chain).flat_map(people).collect(),
                ..LookupKeys::default()
            };
            Ok::<_, ReadError>((*chain, self.related.read(*chain, keys).await?))
        });
        let mut rows: HashMap<ChainId, LookupRows> = try_join_all(rows).await?.into_iter().collect();
        payments.iter().map(|payment| self.payment(payment, rows.entry(payment.chain_id).or_default())).collect()
    }

    fn payment(&self, payment: &Payment, rows: &LookupRows) -> Result<PaymentView, ReadError> {
        let is_withheld = rows.moments.get(&payment.moment()).is_some_and(|moment| moment.is_withheld);
        let decimals = self.decimals(payment.chain_id, payment.currency);
        Ok(PaymentView {
            id: payment.id,
            amount: payment.amount.decimal(decimals),
            currency: payment.currency,
            transaction_hash: payment.transaction_hash,
            transferred_at: iso_8601_with_offset(payment.transferred_at)?,
            moment: PaidMoment {
                id: payment.moment_id,
                token_id: payment.token_id,
                uri: if is_withheld { String::new() } else { payment.uri.clone() },
                collection: PaidCollection {
                    address: payment.collection,
                    chain_id: payment.chain_id,
                    creator: payment.creator,
                },
                fee_recipients: payment.fee_recipients.iter().map(FeeRecipientView::of).collect(),
            },
            buyer: Person::named(payment.buyer, &rows.names),
            referral: payment.referral.map(|Referral { account, reward }| {
                let Person { address, username } = Person::named(account, &rows.names);
                ReferralView { address, username, amount: reward.decimal(decimals) }
            }),
        })
    }

    /// Decimals of a currency; 0 if unknown.
    pub(super) fn decimals(&self, chain: ChainId, currency: Address) -> usize {
        let is_usdc = || self.chains.get(chain).is_ok_and(|chain| chain.addresses.is_usdc(currency.into()));
        match currency {
            Address::ZERO => ETH_DECIMALS.into(),
            _ if is_usdc() => USDC_DECIMALS.into(),
            _ => 0,
        }
    }
}

/// Whose names a payment shows.
fn people(payment: &Payment) -> impl Iterator<Item = Address> {
    [payment.buyer].into_iter().chain(payment.referral.map(|referral| referral.account))
}

impl PaymentView {
    /// The payment's id.
    pub fn id(&self) -> EventId {
        self.id
    }
}

impl FeeRecipientView {
    /// The recipient with a percentage.
    pub fn of(recipient: &FeeRecipient) -> Self {
        const PER_CENT: u32 = 10_000;
        let exact = recipient.millionths / PER_CENT;
        let percent = match recipient.millionths % PER_CENT {
            0 => exact.into(),
            _ => serde_json::Number::from_f64(f64::from(recipient.millionths) / f64::from(PER_CENT))
                .unwrap_or_else(|| exact.into()),
        };
        Self { artist_address: recipient.address, percent_allocation: percent }
    }
}
