//! A collection whose moments are published and collected as the service does.

use alloy::{
    primitives::{Address, U256},
    rpc::types::TransactionReceipt,
    sol_types::SolValue,
};
use shared::{
    chain::{
        contracts::native::{
            Creator1155,
            CreatorFactory::{self, createContractCall},
        },
        protocol::publishing::Publisher,
    },
    model::{Amount, NewMoment, OPEN_EDITION, RoyaltyBps, Sale, SaleTerms},
};
use tests::{Error, TestChain, history::History};

/// Price of each token, in wei.
pub const PRICE: u64 = 1_000_000;

pub struct Shop {
    pub test_chain: TestChain,
    pub artist: Address,
    history: History,
    collection: Address,
}

impl Shop {
    /// A collection with one moment, on a chain of its own.
    pub async fn open(name: &str, reorg_depth: u64) -> Result<Self, Error> {
        let test_chain = TestChain::start(name, reorg_depth).await?;
        let history = History::on(&test_chain, 1).await?;
        let artist = history.people[0];
        let mut shop = Self { test_chain, artist, history, collection: Address::ZERO };
        let call: createContractCall = shop.publisher().create_collection(
            "Tides",
            &"ar://collection".parse()?,
            &[moment(1)?],
            RoyaltyBps::default(),
        );
        let factory = shop.test_chain.chain.addresses.factory;
        let receipt = shop.history.send(artist, factory, U256::ZERO, &call).await?.ok_or("no collection")?;
        shop.collection = created(&receipt)?;
        Ok(shop)
    }

    /// Creates another collection with this many moments in one transaction; `creator` is the number of an account.
    pub async fn create_collection(&mut self, creator: usize, tokens: u64) -> Result<(), Error> {
        let account = self.account(creator);
        self.create_collection_for(account, account, tokens).await.map(drop)
    }

    /// Creates a collection in another's name.
    pub async fn create_collection_for(
        &mut self,
        account: Address,
        sender: Address,
        tokens: u64,
    ) -> Result<Address, Error> {
        let moments = (1..=tokens).map(moment).collect::<Result<Vec<_>, _>>()?;
        let addresses = &self.test_chain.chain.addresses;
        let publisher = Publisher { addresses, account, operator: account, split: None };
        let call: createContractCall =
            publisher.create_collection("Waves", &"ar://collection".parse()?, &moments, RoyaltyBps::default());
        let receipt = self.history.send(sender, addresses.factory, U256::ZERO, &call).await?.ok_or("no collection")?;
        created(&receipt)
    }

    /// The account with this number; the shop's artist is the first.
    pub fn account(&self, number: usize) -> Address {
        self.history.people[number]
    }

    fn publisher(&self) -> Publisher<'_> {
        let addresses = &self.test_chain.chain.addresses;
        Publisher { addresses, account: self.artist, operator: self.artist, split: None }
    }

    /// Publishes the moment with this token id.
    pub async fn publish(&mut self, token: u64) -> Result<(), Error> {
        let data = self.publisher().publish(U256::from(token), "Tides", &[moment(token)?]);
        let call = Creator1155::multicallCall { data };
        self.history.send(self.artist, self.collection, U256::ZERO, &call).await?.ok_or("not published")?;
        Ok(())
    }

    /// Collects token 1; `buyer` is the number of an account.
    pub async fn collect(&mut self, buyer: usize, comment: &str) -> Result<(), Error> {
        let fee = Creator1155::new(self.collection, &self.test_chain.node).mintFee().call().await?;
        let collector = self.history.people[buyer];
        let call = Creator1155::mintCall {
            minter: self.test_chain.chain.addresses.fixed_price_minter,
            tokenId: U256::ONE,
            quantity: U256::ONE,
            rewardsRecipients: Vec::new(),
            minterArguments: (collector, comment.to_owned()).abi_encode_params().into(),
        };
        let value = fee + U256::from(PRICE);
        self.history.send(collector, self.collection, value, &call).await?.ok_or("not collected")?;
        Ok(())
    }
}

fn created(receipt: &TransactionReceipt) -> Result<Address, Error> {
    let created = receipt.logs().iter().find_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
    Ok(created.ok_or("no announcement")?.inner.data.newContract)
}

fn moment(number: u64) -> Result<NewMoment, Error> {
    let terms = SaleTerms { start: 0, end: u64::MAX, max_per_address: 0 };
    Ok(NewMoment {
        uri: format!("ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi/{number}").parse()?,
        max_supply: OPEN_EDITION,
        create_referral: shared::model::Address::ZERO,
        sale: Sale::FixedPrice { terms, price: Amount(U256::from(PRICE)) },
        payout_recipient: None,
        mint_to_creator: 1,
        royalty: RoyaltyBps::default(),
    })
}
