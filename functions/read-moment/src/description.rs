use shared::{
    model::{Address, ChainId, TokenId},
    reading::ShownMoment,
};

/// Read a moment
#[utoipa::path(
    get,
    path = "/moment",
    tag = "Moments",
    params(
        ("collectionAddress" = Address, Query, description = "The moment's collection."),
        ("tokenId" = TokenId, Query, description = "The moment's token."),
        ("chainId" = Option<ChainId>, Query, description = "The collection's chain; 8453 unless given."),
    ),
    responses((status = 200, description = "The moment.", body = ShownMoment)),
)]
fn read_moment() {}

contract::published!(read_moment, 404);
