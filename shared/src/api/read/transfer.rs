use std::collections::{BTreeSet, HashMap};

use alloy::primitives::B256;
use futures::future::try_join_all;
use serde::Serialize;
use utoipa::ToSchema;

use super::{
    metadata::MetadataView,
    payment::FeeRecipientView,
    reader::{Person, ReadError, Reader},
};
use crate::{
    clock::iso_8601_with_offset,
    model::{Address, Amount, ChainId, ContentType, EventId, Protocol, SaleView, TokenId, Transfer, TransferType},
    store::across::{LookupKeys, LookupRows},
};

/// Tokens of a moment that an account got.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Transfer)]
pub struct TransferView {
    id: EventId,
    r#type: TransferType,
    /// Number of tokens.
    quantity: Amount,
    /// Price of all of them: a decimal number for ether and USDC, else a whole one in the currency's smallest unit. Null
    /// without a sale.
    #[schema(required = true)]
    value: Option<String>,
    /// The currency's contract; the zero address means the chain's own. Null without a sale.
    #[schema(required = true)]
    currency: Option<Address>,
    #[schema(value_type = String, pattern = "^0x[0-9a-f]{64}$")]
    transaction_hash: B256,
    /// ISO 8601, with an offset.
    transferred_at: String,
    /// Account that had them; the zero address for new ones.
    from: Address,
    collector: Person,
    moment: TransferredMoment,
}

/// The moment that they are tokens of.
#[derive(Debug, Serialize, ToSchema)]
struct TransferredMoment {
    id: EventId,
    token_id: TokenId,
    /// Empty if the operator hid the moment.
    uri: String,
    collection: TransferredCollection,
    /// Null until fetched, and if the operator hid the moment.
    #[schema(required = true)]
    metadata: Option<MetadataView>,
    /// The sale in force now; null without one.
    #[schema(required = true)]
    sale: Option<SaleView>,
    fee_recipients: Vec<FeeRecipientView>,
    /// Number of comments, without replies.
    comments: u64,
}

/// Its collection.
#[derive(Debug, Serialize, ToSchema)]
struct TransferredCollection {
    address: Address,
    chain_id: ChainId,
    protocol: Protocol,
    /// Empty without one, and if the operator hid it or the moment.
    name: String,
    artist: Person,
}

impl TransferView {
    /// The transfer's id.
    pub fn id(&self) -> EventId {
        self.id
    }

    /// Kind of media of the moment, once known.
    pub fn content_type(&self) -> Option<ContentType> {
        self.moment.metadata.as_ref()?.content_type()
    }
}

impl Reader {
    /// Views of transfers. Two reads per chain and hundred rows, five a transfer.
    pub async fn transfers(&self, transfers: &[Transfer]) -> Result<Vec<TransferView>, ReadError> {
        let chains: BTreeSet<ChainId> = transfers.iter().map(|transfer| transfer.chain_id).collect();
        let of = |chain: ChainId| transfers.iter().filter(move |transfer| transfer.chain_id == chain);
        let rows = chains.iter().map(async |chain| {
            let keys = LookupKeys {
                moments: of(*chain).map(Transfer::moment).collect(),
                collections: of(*chain).map(|transfer| transfer.collection).collect(),
                comments: of(*chain).map(Transfer::moment).collect(),
                names: of(*chain).flat_map(|transfer| [transfer.to, transfer.creator]).collect(),
                ..LookupKeys::default()
            };
            let mut rows = self.related.read(*chain, keys).await?;
            let uris = rows.moments.values().map(|moment| moment.uri.as_str());
            rows.extend(self.other_documents(*chain, uris, &BTreeSet::new()).await?);
            Ok::<_, ReadError>((*chain, rows))
        });
        let rows: HashMap<ChainId, LookupRows> = try_join_all(rows).await?.into_iter().collect();
        let views =
            transfers.iter().filter_map(|transfer| self.transfer(transfer, rows.get(&transfer.chain_id)?).transpose());
        views.collect()
    }

    fn transfer(&self, transfer: &Transfer, rows: &LookupRows) -> Result<Option<TransferView>, ReadError> {
        let Some(moment) = rows.moments.get(&transfer.moment()) else { return Ok(None) };
        let is_shown = !moment.is_withheld;
        let collection = rows.collections.get(&transfer.collection).filter(|it| is_shown && !it.is_withheld);
        let decimals = transfer.currency.map_or(0, |currency| self.decimals(transfer.chain_id, currency));
        Ok(Some(TransferView {
            id: transfer.id,
            r#type: transfer.r#type,
            quantity: transfer.quantity,
            value: transfer.value.map(|value| value.decimal(decimals)),
            currency: transfer.currency,
            transaction_hash: transfer.transaction_hash,
            transferred_at: iso_8601_with_offset(transfer.transferred_at)?,
            from: transfer.from,
            collector: Person::named(transfer.to, &rows.names),
            moment: TransferredMoment {
                id: moment.id,
                token_id: moment.token_id,
                uri: if is_shown { moment.uri.clone() } else { String::new() },
                collection: TransferredCollection {
                    address: transfer.collection,
                    chain_id: transfer.chain_id,
                    protocol: moment.protocol,
                    name: collection.map(|collection| collection.name.clone()).unwrap_or_default(),
                    artist: Person::named(transfer.creator, &rows.names),
                },
                metadata: MetadataView::of(&moment.uri, rows, &self.site).filter(|_| is_shown),
                sale: moment.sale().map(SaleView::of),
                fee_recipients: moment.fee_recipients.iter().map(FeeRecipientView::of).collect(),
                comments: rows.comments.get(&moment.place()).copied().unwrap_or_default(),
            },
        }))
    }
}
