//! Parts that several requests share: a moment, the path of a collection, a page.

use utoipa::{
    IntoParams, PartialSchema, ToSchema,
    openapi::{RefOr, Schema},
};

use crate::{
    chain::Chains,
    http::{AllowedChains, ApiError, Field, Fields, FromField, FromFields},
    model::{
        Address, CaipContract, CaipNetwork, ChainId, Invalid, MomentRef, Page, PageLimit, PageNumber, PageStart,
        TokenId, Until,
    },
};

/// A token of a collection on a chain.
#[derive(FromFields, ToSchema, IntoParams)]
#[schema(rename_all = "camelCase")]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub struct MomentFields {
    /// Contract of the collection.
    collection_address: Address,
    /// Token in the collection.
    token_id: TokenId,
    /// Chain of the collection.
    #[schema(value_type = Option<ChainId>, default = json!(ChainId::DEFAULT))]
    #[param(value_type = Option<ChainId>)]
    chain_id: ChainId,
}

impl FromField for MomentRef {
    fn from_field(field: &Field<'_>) -> Option<Self> {
        field.read().map(MomentFields::into)
    }
}

impl From<MomentFields> for MomentRef {
    fn from(fields: MomentFields) -> Self {
        Self { chain: fields.chain_id, collection: fields.collection_address, token: fields.token_id }
    }
}

impl ToSchema for MomentRef {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        MomentFields::schemas(schemas);
    }
}

impl PartialSchema for MomentRef {
    fn schema() -> RefOr<Schema> {
        MomentFields::schema()
    }
}

/// A collection in a path.
#[derive(Clone, Copy, Debug, FromFields, IntoParams)]
#[into_params(parameter_in = Path)]
pub struct CollectionPath {
    /// The collection's chain.
    pub network: CaipNetwork,
    /// Its contract.
    pub contract: CaipContract,
}

impl CollectionPath {
    /// Chain and contract.
    pub fn place(self) -> (ChainId, Address) {
        (self.network.0, self.contract.0)
    }
}

/// A page in a query.
#[derive(Clone, Copy, Debug, FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// How many rows a page has.
    #[param(default = 20, required = false)]
    limit: PageLimit,
    /// Which page; 1 is the first.
    #[param(default = 1, required = false)]
    page: PageNumber,
}

impl FromFields for Page {
    fn from_fields(fields: &Fields<'_>) -> Option<Self> {
        let PageQuery { limit, page } = FromFields::from_fields(fields)?;
        Some(Self { limit, number: page })
    }
}

/// Where a page begins.
#[derive(FromFields, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct UntilQuery {
    /// Where the page begins: `Link` names it.
    until: Option<Until>,
}

/// Refuses the start of a page of another list.
pub fn of_another_list() -> ApiError {
    ApiError::invalid_field("until", "is of another list: begin without it")
}

impl FromFields for PageStart {
    fn from_fields(fields: &Fields<'_>) -> Option<Self> {
        let (page, until) = (FromFields::from_fields(fields), FromFields::from_fields(fields));
        let UntilQuery { until } = until?;
        Some(Self { page: page?, until })
    }
}

impl AllowedChains for Chains {
    fn check(&self, chain: ChainId) -> Result<(), Invalid> {
        self.get(chain).map(drop)
    }
}
