//! A random history of real transactions that covers the contracts' functions. A seed determines the attempted
//! transactions; those that aren't allowed revert, as on any chain.

mod calls;
mod dice;
mod other_protocols;

use std::time::Duration;

use alloy::{
    network::TransactionBuilder,
    primitives::{Address, B256, Bytes, U256, aliases::U96},
    providers::{Provider, RootProvider},
    rpc::types::{TransactionReceipt, TransactionRequest},
    sol,
    sol_types::{SolCall, SolEvent, SolValue},
};
use local::patience::PATIENCE;
use shared::chain::{
    Chain,
    contracts::native::{
        CommentsProtocol::{self, CommentIdentifier, Commented},
        Creator1155, CreatorFactory, Erc20Minter, FixedPriceMinter, SplitFactory, TimedMinter,
    },
};
use tokio::time::timeout;

use self::calls::{call_sale, no_parent, no_royalty, permission, royalty, setup_token};
pub use self::dice::Dice;
use crate::{Error, TestChain};

sol! {
    interface Other {
        function mint(address account, uint256 amount) external;
        function approve(address spender, uint256 amount) external returns (bool);
        function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data) external;
        function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data) external;
        function burnBatch(address from, uint256[] ids, uint256[] values) external;
        function removePermission(uint256 tokenId, address user, uint256 permissionBits) external;
        function updateContractMetadata(string uri, string name) external;
        function resetSale(uint256 tokenId) external;
    }
}

/// A chain with accounts that send random transactions.
pub struct History {
    pub chain: Chain,
    pub node: RootProvider,
    dice: Dice,
    pub people: Vec<Address>,
    collections: Vec<Address>,
    comments: Vec<CommentIdentifier>,
    splits: Vec<Address>,
    /// Number of successful transactions.
    pub done: usize,
}

impl History {
    /// Prepares five accounts with USDC; `seed` determines what they do.
    pub async fn on(test_chain: &TestChain, seed: u64) -> Result<Self, Error> {
        let node = test_chain.node.clone();
        let people = node.get_accounts().await?.into_iter().skip(1).take(5).collect();
        let (collections, comments, splits) = (Vec::new(), Vec::new(), Vec::new());
        let dice = Dice::at(seed << 32);
        let mut history =
            Self { chain: test_chain.chain.clone(), node, dice, people, collections, comments, splits, done: 0 };
        for person in history.people.clone() {
            let (usdc, minter) = (history.chain.addresses.usdc, history.chain.addresses.erc20_minter);
            let much = U256::from(1_000_000_000_000_u64);
            history.send(person, usdc, U256::ZERO, &Other::mintCall { account: person, amount: much }).await?;
            history.send(person, usdc, U256::ZERO, &Other::approveCall { spender: minter, amount: much }).await?;
        }
        Ok(history)
    }

    /// Creates a collection with a comment on token 1 and three replies, all by one account. Returns the collection and
    /// the ids of the comment and of the last reply.
    pub async fn conversation(&mut self, who: Address) -> Result<(Address, B256, B256), Error> {
        let call = CreatorFactory::createContractCall {
            newContractURI: "ar://collection".to_owned(),
            name: "Conversation".to_owned(),
            defaultRoyaltyConfiguration: royalty(who),
            defaultAdmin: who,
            setupActions: vec![setup_token("ar://1"), permission(U256::ONE, who, 2)],
        };
        let receipt = self.send(who, self.chain.addresses.factory, U256::ZERO, &call).await?.ok_or("no collection")?;
        let created = receipt.logs().iter().find_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
        let collection = created.ok_or("no announcement")?.inner.data.newContract;
        let mut ids = Vec::new();
        let mut parent = no_parent();
        for _ in 0..4 {
            let said = self.post_comment(who, collection, U256::ONE, parent.clone()).await?.ok_or("nothing said")?;
            if ids.is_empty() {
                parent = said.commentIdentifier;
            }
            ids.push(said.commentId);
        }
        Ok((collection, ids[0], ids[3]))
    }

    /// Transfers nothing of token 1, so many times in one transaction.
    pub async fn transfer_nothing(
        &mut self,
        collection: Address,
        from: Address,
        to: Address,
        times: usize,
    ) -> Result<(), Error> {
        let (ids, values) = (vec![U256::ONE; times], vec![U256::ZERO; times]);
        let batch = Other::safeBatchTransferFromCall { from, to, ids, values, data: Bytes::new() };
        self.send(from, collection, U256::ZERO, &batch).await?.ok_or("not sent")?;
        Ok(())
    }

    /// Call after dropping blocks: forgets the collections and comments that may be gone.
    pub async fn forget_dropped(&mut self) -> Result<(), Error> {
        let mut left = Vec::new();
        for collection in std::mem::take(&mut self.collections) {
            if !self.node.get_code_at(collection).await?.is_empty() {
                left.push(collection);
            }
        }
        self.collections = left;
        self.comments.clear();
        Ok(())
    }

    /// Attempts this many random transactions.
    pub async fn go_on(&mut self, attempts: usize) -> Result<(), Error> {
        for _ in 0..attempts {
            let who = self.person();
            match self.dice.roll(20) {
                0 | 1 => self.create_collection(who).await?,
                2 => self.create_split(who).await?,
                3 | 4 => self.create_token(who).await?,
                5 | 6 => self.set_sale(who).await?,
                7..=9 => self.collect(who).await?,
                10 | 11 => self.collect_for_usdc(who).await?,
                12 => self.mint(who).await?,
                13 => self.transfer_or_burn(who).await?,
                14 => self.change_permission(who).await?,
                15 => self.update_metadata(who).await?,
                16 => self.set_royalties(who).await?,
                17 | 18 => self.comment(who).await?,
                _ => self.spark(who).await?,
            }
        }
        Ok(())
    }

    async fn create_collection(&mut self, who: Address) -> Result<(), Error> {
        let admin = self.person();
        let recipient = self.recipient();
        let name = format!("Collection {}", self.dice.roll(1_000));
        let mut actions: Vec<Bytes> = Vec::new();
        for token in 1..=self.dice.roll(3) {
            let token = U256::from(token);
            actions.push(setup_token(&format!("ar://{}", self.dice.roll(1_000))));
            if self.dice.roll(2) == 0 {
                actions.push(permission(token, admin, 2));
            }
            actions.extend(self.sale(token, recipient));
            if self.dice.roll(2) == 0 {
                let mint = Creator1155::adminMintCall {
                    recipient: self.person(),
                    tokenId: token,
                    quantity: U256::from(1 + self.dice.roll(3)),
                    data: Bytes::new(),
                };
                actions.push(mint.abi_encode().into());
            }
        }
        let call = CreatorFactory::createContractCall {
            newContractURI: "ar://collection".to_owned(),
            name,
            defaultRoyaltyConfiguration: royalty(recipient),
            defaultAdmin: admin,
            setupActions: actions,
        };
        let factory = self.chain.addresses.factory;
        if let Some(receipt) = self.send(who, factory, U256::ZERO, &call).await? {
            let created =
                receipt.logs().iter().find_map(|log| log.log_decode::<CreatorFactory::SetupNewContract>().ok());
            self.collections.extend(created.map(|created| created.inner.data.newContract));
        }
        Ok(())
    }

    async fn create_split(&mut self, who: Address) -> Result<(), Error> {
        let (one, other) = (self.person(), self.person());
        let part = 1 + self.dice.roll(999_998);
        let split = SplitFactory::SplitParams {
            recipients: vec![one, other],
            allocations: vec![U256::from(part), U256::from(1_000_000 - part)],
            totalAllocation: U256::from(1_000_000),
            distributionIncentive: 0,
        };
        let salt = B256::from(U256::from(self.dice.roll(1_000_000)));
        let call = SplitFactory::createSplitDeterministicCall { split, owner: Address::ZERO, creator: who, salt };
        let factory = self.chain.addresses.split_factory;
        if let Some(receipt) = self.send(who, factory, U256::ZERO, &call).await? {
            let created = receipt.logs().iter().find_map(|log| log.log_decode::<SplitFactory::SplitCreated_0>().ok());
            self.splits.extend(created.map(|created| created.inner.data.split));
        }
        Ok(())
    }

    async fn create_token(&mut self, who: Address) -> Result<(), Error> {
        let Some(collection) = self.collection() else { return Ok(()) };
        let next = Creator1155::new(collection, &self.node).nextTokenId().call().await?;
        let mut actions = vec![setup_token(&format!("ar://{}", self.dice.roll(1_000)))];
        let recipient = self.recipient();
        actions.extend(self.sale(next, recipient));
        let call = Creator1155::multicallCall { data: actions };
        self.send(who, collection, U256::ZERO, &call).await.map(drop)
    }

    async fn set_sale(&mut self, who: Address) -> Result<(), Error> {
        let (Some(collection), token) = (self.collection(), self.token()) else { return Ok(()) };
        let recipient = self.recipient();
        let mut actions = self.sale(token, recipient);
        if self.dice.roll(4) == 0 {
            let strategy = match self.dice.roll(2) {
                0 => self.chain.addresses.fixed_price_minter,
                _ => self.chain.addresses.erc20_minter,
            };
            actions.push(call_sale(token, strategy, &Other::resetSaleCall { tokenId: token }));
        }
        self.send(who, collection, U256::ZERO, &Creator1155::multicallCall { data: actions }).await.map(drop)
    }

    /// Half of the collects were sent by somebody. No dice: what happens besides is as without referrals.
    fn referral(&self, who: Address, collection: Address) -> Option<Address> {
        let mark = usize::from(who[19] ^ collection[19]);
        (mark % 2 == 0).then(|| self.people[mark % self.people.len()])
    }

    async fn collect(&mut self, who: Address) -> Result<(), Error> {
        let (Some(collection), token) = (self.collection(), self.token()) else { return Ok(()) };
        let minter = self.chain.addresses.fixed_price_minter;
        let sale = FixedPriceMinter::new(minter, &self.node).sale(collection, token).call().await?;
        let fee = Creator1155::new(collection, &self.node).mintFee().call().await?;
        let quantity = U256::from(1 + self.dice.roll(3));
        let (to, sent_by) = (self.person(), self.referral(who, collection));
        let call = Creator1155::mintCall {
            minter,
            tokenId: token,
            quantity,
            rewardsRecipients: sent_by.into_iter().collect(),
            minterArguments: (to, self.comment_text()).abi_encode_params().into(),
        };
        let value = (fee + U256::from(sale.pricePerToken)) * quantity;
        self.send(who, collection, value, &call).await.map(drop)
    }

    async fn collect_for_usdc(&mut self, who: Address) -> Result<(), Error> {
        let (Some(collection), token) = (self.collection(), self.token()) else { return Ok(()) };
        let minter = Erc20Minter::new(self.chain.addresses.erc20_minter, &self.node);
        let sale = minter.sale(collection, token).call().await?;
        let reward = minter.ethRewardAmount().call().await?;
        let quantity = U256::from(1 + self.dice.roll(3));
        let call = Erc20Minter::mintCall {
            mintTo: self.person(),
            quantity,
            tokenAddress: collection,
            tokenId: token,
            totalValue: sale.pricePerToken * quantity,
            currency: sale.currency,
            mintReferral: self.referral(who, collection).unwrap_or_default(),
            comment: self.comment_text(),
        };
        self.send(who, self.chain.addresses.erc20_minter, reward * quantity, &call).await.map(drop)
    }

    async fn mint(&mut self, who: Address) -> Result<(), Error> {
        let (Some(collection), token) = (self.collection(), self.token()) else { return Ok(()) };
        let call = Creator1155::adminMintCall {
            recipient: self.person(),
            tokenId: token,
            quantity: U256::from(1 + self.dice.roll(5)),
            data: Bytes::new(),
        };
        self.send(who, collection, U256::ZERO, &call).await.map(drop)
    }

    async fn transfer_or_burn(&mut self, who: Address) -> Result<(), Error> {
        let (Some(collection), token) = (self.collection(), self.token()) else { return Ok(()) };
        if self.dice.roll(3) == 0 {
            let call = Other::burnBatchCall { from: who, ids: vec![token], values: vec![U256::ONE] };
            return self.send(who, collection, U256::ZERO, &call).await.map(drop);
        }
        let to = self.person();
        let call = Other::safeTransferFromCall { from: who, to, id: token, value: U256::ONE, data: Bytes::new() };
        self.send(who, collection, U256::ZERO, &call).await.map(drop)
    }

    async fn change_permission(&mut self, who: Address) -> Result<(), Error> {
        let Some(collection) = self.collection() else { return Ok(()) };
        let (token, user) = (U256::from(self.dice.roll(4)), self.person());
        let bits = U256::from([2, 4, 8, 16, 18][usize::try_from(self.dice.roll(5))?]);
        if self.dice.roll(3) == 0 {
            let call = Other::removePermissionCall { tokenId: token, user, permissionBits: bits };
            return self.send(who, collection, U256::ZERO, &call).await.map(drop);
        }
        let call = Creator1155::addPermissionCall { tokenId: token, user, permissionBits: bits };
        self.send(who, collection, U256::ZERO, &call).await.map(drop)
    }

    async fn update_metadata(&mut self, who: Address) -> Result<(), Error> {
        let (Some(collection), token) = (self.collection(), self.token()) else { return Ok(()) };
        let uri = format!("ar://again/{}", self.dice.roll(1_000));
        if self.dice.roll(2) == 0 {
            let call = Other::updateContractMetadataCall { uri, name: format!("Renamed {}", self.dice.roll(100)) };
            return self.send(who, collection, U256::ZERO, &call).await.map(drop);
        }
        let call = Creator1155::updateTokenURICall { tokenId: token, newURI: uri };
        self.send(who, collection, U256::ZERO, &call).await.map(drop)
    }

    async fn set_royalties(&mut self, who: Address) -> Result<(), Error> {
        let Some(collection) = self.collection() else { return Ok(()) };
        let (token, recipient) = (U256::from(self.dice.roll(4)), self.recipient());
        // Without a recipient, a token has the collection's royalty again.
        let configuration = if recipient == who { no_royalty() } else { royalty(recipient) };
        let call = Creator1155::updateRoyaltiesForTokenCall { tokenId: token, newConfiguration: configuration };
        self.send(who, collection, U256::ZERO, &call).await.map(drop)
    }

    async fn comment(&mut self, who: Address) -> Result<(), Error> {
        let parent = match self.dice.roll(2) {
            0 => self.dice.pick(&self.comments).cloned(),
            _ => None,
        };
        let (collection, token) = match &parent {
            Some(parent) => (Some(parent.contractAddress), parent.tokenId),
            None => (self.collection(), self.token()),
        };
        let Some(collection) = collection else { return Ok(()) };
        self.post_comment(who, collection, token, parent.unwrap_or_else(no_parent)).await.map(drop)
    }

    async fn post_comment(
        &mut self,
        who: Address,
        collection: Address,
        token: U256,
        reply_to: CommentIdentifier,
    ) -> Result<Option<Commented>, Error> {
        let protocol = self.chain.addresses.comments;
        let spark = CommentsProtocol::new(protocol, &self.node).sparkValue().call().await?;
        let call = CommentsProtocol::commentCall {
            commenter: who,
            contractAddress: collection,
            tokenId: token,
            text: format!("Said {}", self.dice.roll(1_000)),
            replyTo: reply_to,
            commenterSmartWallet: Address::ZERO,
            referrer: Address::ZERO,
        };
        let Some(receipt) = self.send(who, protocol, spark, &call).await? else { return Ok(None) };
        let said = receipt.logs().iter().find(|log| log.topic0() == Some(&Commented::SIGNATURE_HASH));
        let said = said.and_then(|log| log.log_decode::<Commented>().ok()).map(|said| said.inner.data);
        self.comments.extend(said.iter().map(|said| said.commentIdentifier.clone()));
        Ok(said)
    }

    async fn spark(&mut self, who: Address) -> Result<(), Error> {
        let Some(comment) = self.dice.pick(&self.comments).cloned() else { return Ok(()) };
        let protocol = CommentsProtocol::new(self.chain.addresses.comments, &self.node);
        let quantity = U256::from(1 + self.dice.roll(3));
        let value = protocol.sparkValue().call().await? * quantity;
        let call = CommentsProtocol::sparkCommentCall {
            commentIdentifier: comment,
            sparksQuantity: quantity,
            referrer: Address::ZERO,
        };
        self.send(who, self.chain.addresses.comments, value, &call).await.map(drop)
    }

    /// Calls that put a token on a random kind of sale, or none.
    fn sale(&mut self, token: U256, recipient: Address) -> Vec<Bytes> {
        let (known, start) = (self.chain.addresses.clone(), self.dice.roll(1_000));
        let max = self.dice.roll(2) * 50;
        let (strategy, set): (Address, Vec<u8>) = match self.dice.roll(4) {
            0 => return Vec::new(),
            1 => (known.erc20_minter, {
                let config = Erc20Minter::SalesConfig {
                    saleStart: start,
                    saleEnd: u64::MAX,
                    maxTokensPerAddress: max,
                    pricePerToken: U256::from(10_000 + self.dice.roll(1_000_000)),
                    fundsRecipient: recipient,
                    currency: known.usdc,
                };
                Erc20Minter::setSaleCall { tokenId: token, salesConfig: config }.abi_encode()
            }),
            2 => (known.timed_minter, {
                let config = TimedMinter::SalesConfigV2 {
                    saleStart: start,
                    marketCountdown: 86_400,
                    minimumMarketEth: U256::from(12_332_100_000_000_000_u64),
                    name: "Market".to_owned(),
                    symbol: "$MRKT".to_owned(),
                };
                TimedMinter::setSaleV2Call { tokenId: token, salesConfig: config }.abi_encode()
            }),
            _ => (known.fixed_price_minter, {
                let config = FixedPriceMinter::SalesConfig {
                    saleStart: start,
                    saleEnd: u64::MAX,
                    maxTokensPerAddress: max,
                    pricePerToken: U96::from(self.dice.roll(3) * 1_000_000),
                    fundsRecipient: if self.dice.roll(5) == 0 { Address::ZERO } else { recipient },
                };
                FixedPriceMinter::setSaleCall { tokenId: token, salesConfig: config }.abi_encode()
            }),
        };
        let call = Creator1155::callSaleCall { tokenId: token, salesConfig: strategy, data: set.into() };
        vec![permission(token, strategy, 4), call.abi_encode().into()]
    }

    /// Sends a transaction; `None` if it reverted, or would have.
    pub async fn send(
        &mut self,
        from: Address,
        to: Address,
        value: U256,
        call: &impl SolCall,
    ) -> Result<Option<TransactionReceipt>, Error> {
        let request = TransactionRequest::default().with_from(from).with_to(to).with_value(value);
        let request = request.with_input(call.abi_encode());
        let hash = match self.node.raw_request::<_, B256>("eth_sendTransaction".into(), (request,)).await {
            Ok(hash) => hash,
            // Without a gas limit the node refuses transactions that would revert.
            Err(error) if error.is_error_resp() => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let receipt = self.mined(hash).await?;
        self.done += usize::from(receipt.status());
        Ok(receipt.status().then_some(receipt))
    }

    /// The receipt of a transaction that the node took, however late it is mined.
    async fn mined(&self, hash: B256) -> Result<TransactionReceipt, Error> {
        let mined = async {
            loop {
                if let Some(receipt) = self.node.get_transaction_receipt(hash).await? {
                    return Ok::<_, Error>(receipt);
                }
                // The node mines at once: a history is thousands of these waits.
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        timeout(PATIENCE, mined).await.map_err(|_| format!("{hash} isn't mined"))?
    }

    fn person(&mut self) -> Address {
        let index = usize::try_from(self.dice.roll(self.people.len() as u64)).unwrap_or_default();
        self.people[index]
    }

    fn recipient(&mut self) -> Address {
        match self.dice.roll(3) {
            0 => self.dice.pick(&self.splits).copied().unwrap_or(self.people[0]),
            _ => self.person(),
        }
    }

    fn collection(&mut self) -> Option<Address> {
        self.dice.pick(&self.collections).copied()
    }

    fn token(&mut self) -> U256 {
        U256::from(1 + self.dice.roll(3))
    }

    fn comment_text(&mut self) -> String {
        if self.dice.roll(2) == 0 { String::new() } else { format!("Collected {}", self.dice.roll(1_000)) }
    }
}
