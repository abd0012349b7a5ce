//! Transactions with the other protocols' contracts.

use alloy::{
    primitives::{Address, U256},
    providers::Provider,
    rpc::types::TransactionReceipt,
    sol,
    sol_types::{SolCall, SolEvent},
};
use shared::chain::contracts::third_party::{
    EditionCreator::{Created, EditionInitialization, initializeCall},
    RegistryFactory::CRContractCreated,
};

use super::History;
use crate::Error;

/// Gas of a block in which 50,000 tokens can be minted, far more than a public chain has.
const BLOCK_GAS: u64 = 20_000_000_000;

sol! {
    interface Registry {
        struct MintConfiguration {
            uint96 price;
            address fundsRecipient;
        }

        function createRelease() external returns (address);
        function createToken(address artist, string tokenUri) external returns (uint256);
        function updateTokenURI(uint256 token, string newUri) external;
        function updateContractPermissions(address user, uint256 authScope) external;
        function updateTokenPermissions(uint256 token, address user, uint256 authScope) external;
        function setMintConfiguration(address release, uint256 token, MintConfiguration configuration) external;
        function buy(address release, uint256 token, uint256 amount) external;
        function approve(address spender, uint256 amount) external returns (bool);
    }

    interface Editions {
        function createEdition(bytes initData, string baseUri) external returns (address);
        function setBaseURI(address edition, uint8 tier, string uri) external;
        function mint(uint8 tier, address to, uint256 quantity) external;
        function transferFrom(address from, address to, uint256 token) external;
        function setRoles(address user, uint256 roles) external;
    }
}

impl History {
    /// Creates a release with two tokens and buys three of the first. Returns its address.
    pub async fn release(&mut self, artist: Address, buyer: Address) -> Result<Address, Error> {
        let known = self.chain.addresses.registry.ok_or("no registry")?;
        let none = U256::ZERO;
        let made =
            self.send(artist, known.factory, none, &Registry::createReleaseCall {}).await?.ok_or("no release")?;
        let created = made.logs().iter().find_map(|log| CRContractCreated::decode_log(&log.inner).ok());
        let release = created.ok_or("no announcement")?.data._contractAddress;
        let token = |uri: &str| Registry::createTokenCall { artist, tokenUri: uri.to_owned() };
        self.send(artist, release, none, &token("ar://release/1")).await?;
        self.send(artist, release, none, &token("ar://release/2")).await?;
        let uri =
            |token: u64, uri: &str| Registry::updateTokenURICall { token: U256::from(token), newUri: uri.to_owned() };
        self.send(artist, release, none, &uri(0, "ar://release")).await?;
        self.send(artist, release, none, &uri(2, "ar://release/2b")).await?;
        let configuration = Registry::MintConfiguration {
            price: alloy::primitives::aliases::U96::from(2_500_000_u64),
            fundsRecipient: artist,
        };
        let set = Registry::setMintConfigurationCall { release, token: U256::ONE, configuration };
        self.send(artist, known.controller, none, &set).await?;
        let approval = Registry::approveCall { spender: known.controller, amount: U256::from(1_000_000_000) };
        self.send(buyer, self.chain.addresses.usdc, none, &approval).await?;
        let buy = Registry::buyCall { release, token: U256::ONE, amount: U256::from(3) };
        self.send(buyer, known.controller, none, &buy).await?.ok_or("not bought")?;
        let manager = Registry::updateContractPermissionsCall { user: buyer, authScope: U256::from(4) };
        self.send(artist, release, none, &manager).await?;
        let owner = Registry::updateTokenPermissionsCall { token: U256::ONE, user: buyer, authScope: U256::from(1) };
        self.send(artist, release, none, &owner).await?;
        Ok(release)
    }

    /// Creates an edition and mints some tokens. Returns its address.
    pub async fn edition(&mut self, artist: Address, collector: Address) -> Result<Address, Error> {
        let known = self.chain.addresses.editions.ok_or("no editions")?;
        let none = U256::ZERO;
        let init = EditionInitialization {
            name: "Numbered".to_owned(),
            symbol: "NMBR".to_owned(),
            metadataModule: known.metadata,
            baseURI: String::new(),
            contractURI: "ar://edition".to_owned(),
            fundingRecipient: artist,
            royaltyBPS: 700,
            isCreateTierFrozen: false,
            isMintRandomnessEnabled: false,
            tierCreations: Vec::new(),
        };
        let init_data = initializeCall { init }.abi_encode().into();
        let call = Editions::createEditionCall { initData: init_data, baseUri: "ar://tier/".to_owned() };
        let made = self.send(artist, known.creator, none, &call).await?.ok_or("no edition")?;
        let created = made.logs().iter().find_map(|log| Created::decode_log(&log.inner).ok());
        let edition = created.ok_or("no announcement")?.data.edition;
        self.mint_tier(edition, 0, collector, 2).await?.ok_or("not minted")?;
        let base = Editions::setBaseURICall { edition, tier: 1, uri: "ar://other".to_owned() };
        self.send(artist, known.metadata, none, &base).await?;
        self.mint_tier(edition, 1, collector, 1).await?;
        self.mint_tier(edition, 0, collector, 1).await?;
        let give = Editions::transferFromCall { from: collector, to: artist, token: U256::from(2) };
        self.send(collector, edition, none, &give).await?.ok_or("not given")?;
        self.send(artist, edition, none, &Editions::setRolesCall { user: collector, roles: U256::ONE }).await?;
        self.send(artist, edition, none, &Editions::setRolesCall { user: artist, roles: U256::from(2) }).await?;
        Ok(edition)
    }

    /// Mints so many tokens of an edition's tier in one transaction; `None` if it reverted.
    pub async fn mint_tier(
        &mut self,
        edition: Address,
        tier: u8,
        to: Address,
        quantity: u64,
    ) -> Result<Option<TransactionReceipt>, Error> {
        let mint = Editions::mintCall { tier, to, quantity: U256::from(quantity) };
        let is_raised: bool = self.node.raw_request("evm_setBlockGasLimit".into(), (U256::from(BLOCK_GAS),)).await?;
        assert!(is_raised, "the node keeps its gas limit");
        self.send(to, edition, U256::ZERO, &mint).await
    }
}
