use alloy::primitives::B256;
use serde::Serialize;
use utoipa::ToSchema;

use super::{Names, Person, ReadError, Reader};
use crate::{
    clock::iso_8601_with_offset,
    model::{Address, ChainId, EventId, FeeRecipient, Payment, TokenId},
};

/// The contract's `Payment`.
#[derive(Debug, Serialize, ToSchema)]
pub struct ShownPayment {
    id: EventId,
    /// What the seller got: in ether and USDC a decimal number, else a whole one in the currency's smallest unit.
    amount: String,
    currency: Address,
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    transaction_hash: B256,
    /// ISO 8601, with an offset.
    transferred_at: String,
    moment: PaidMoment,
    buyer: Person,
}

#[derive(Debug, Serialize, ToSchema)]
struct PaidMoment {
    id: EventId,
    token_id: TokenId,
    uri: String,
    collection: PaidCollection,
    fee_recipients: Vec<ShownFeeRecipient>,
}

#[derive(Debug, Serialize, ToSchema)]
struct PaidCollection {
    address: Address,
    chain_id: ChainId,
    creator: Address,
}

#[derive(Debug, Serialize, ToSchema)]
struct ShownFeeRecipient {
    artist_address: Address,
    #[schema(value_type = f64)]
    percent_allocation: serde_json::Number,
}

impl Reader {
    /// Payments as they are shown. One read for every hundred.
    ///
    /// # Errors
    /// When storage fails.
    pub async fn payments(&self, payments: &[Payment]) -> Result<Vec<ShownPayment>, ReadError> {
        let names = self.names(payments.iter().map(|payment| payment.buyer)).await?;
        payments.iter().map(|payment| self.payment(payment, &names)).collect()
    }

    fn payment(&self, payment: &Payment, names: &Names) -> Result<ShownPayment, ReadError> {
        Ok(ShownPayment {
            id: payment.id,
            amount: payment.amount.decimal(self.decimals(payment)),
            currency: payment.currency,
            transaction_hash: payment.transaction_hash,
            transferred_at: iso_8601_with_offset(payment.transferred_at)?,
            moment: PaidMoment {
                id: payment.moment_id,
                token_id: payment.token_id,
                uri: payment.uri.clone(),
                collection: PaidCollection {
                    address: payment.collection,
                    chain_id: payment.chain_id,
                    creator: payment.creator,
                },
                fee_recipients: payment.fee_recipients.iter().map(ShownFeeRecipient::of).collect(),
            },
            buyer: names.person(payment.buyer),
        })
    }

    /// How many decimals a payment's currency has, as far as it is known.
    fn decimals(&self, payment: &Payment) -> usize {
        let usdc = self.chains.get(payment.chain_id).ok().map(|chain| Address::from(chain.addresses.usdc));
        match payment.currency {
            Address::ZERO => 18,
            currency if Some(currency) == usdc => 6,
            _ => 0,
        }
    }
}

impl ShownFeeRecipient {
    fn of(recipient: &FeeRecipient) -> Self {
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
