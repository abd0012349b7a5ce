//! The timed sale strategy: its published source, with a token that has no secondary market.

use alloy::sol;
use shared::chain::{ChainAddresses, PROTOCOL_REWARDS};

use super::{DEPLOYER, Deployment};
use crate::node::StepError;

sol! {
    interface TimedMinterSetup {
        function initialize(address owner, address rewardRecipient, address tokenImplementation, address rewards)
            external;
    }
}

impl Deployment<'_> {
    /// The strategy, and the implementation contract of its sales' tokens.
    pub(super) async fn timed_sale(&mut self, addresses: &ChainAddresses) -> Result<(), StepError> {
        let contract = "timedMinter";
        let token = self.create(contract, &self.artifacts.compiled(contract, "TimedSaleToken")?, &[]).await?;
        let strategy = self.artifacts.compiled(contract, "ZoraTimedSaleStrategyImpl")?;
        self.place(contract, addresses.timed_minter, &strategy, &[]).await?;
        let setup = TimedMinterSetup::initializeCall {
            owner: DEPLOYER,
            rewardRecipient: DEPLOYER,
            tokenImplementation: token,
            rewards: PROTOCOL_REWARDS,
        };
        self.call(contract, addresses.timed_minter, &setup).await
    }
}

#[cfg(test)]
mod tests {
    use alloy::{
        primitives::{Address, U256, uint},
        providers::{Provider, RootProvider},
        sol_types::SolCall,
    };
    use shared::{
        chain::{
            Chains,
            contracts::native::{Creator1155, CreatorFactory, MintCommenter::MintComment, TimedMinter},
        },
        model::ChainId,
    };

    use super::*;
    use crate::{
        Error,
        node::{testing::start_with_contracts, transact},
    };

    sol! {
        #[sol(rpc)]
        interface Rewards {
            function balanceOf(address account) external view returns (uint256);
        }
    }

    const TOKEN: U256 = uint!(1_U256);
    const MINTER: U256 = uint!(4_U256);
    const MINT_FEE: U256 = uint!(111_000_000_000_000_U256);
    const ARTIST: Address = Address::repeat_byte(0xa1);
    const COLLECTOR: Address = Address::repeat_byte(0xc0);

    #[tokio::test]
    async fn timed_sale_is_set_at_creation_and_collected_from_with_a_comment() -> Result<(), Error> {
        let chains: Chains = r#"[{"id": 1}]"#.parse()?;
        let chain = chains.get(ChainId(1))?;
        let anvil = start_with_contracts(chain).await?;
        let node = RootProvider::connect(&anvil.rpc_url).await?;
        let minter = TimedMinter::new(chain.addresses.timed_minter, &node);

        let creation = collection_on_timed_sale(*minter.address()).abi_encode();
        let created = transact(&node, "collection", DEPLOYER, chain.addresses.factory, U256::ZERO, creation).await?;
        let collection = created.decoded_log::<CreatorFactory::SetupNewContract>().ok_or("no collection")?.newContract;
        let event = created.decoded_log::<TimedMinter::SaleSetV2>().ok_or("no sale")?;
        assert_eq!((event.collection, event.tokenId, event.mintFee), (collection, TOKEN, MINT_FEE));
        let sale = minter.saleV2(collection, TOKEN).call().await?;
        assert_eq!((sale.marketCountdown, sale.saleEnd, sale.symbol.as_str()), (86_400, 0, "$FRST"));

        let mint = minter.mint(COLLECTOR, U256::from(2), collection, TOKEN, Address::ZERO, "First!".to_owned());
        let fee = MINT_FEE * U256::from(2);
        let receipt = transact(&node, "mint", DEPLOYER, *minter.address(), fee, mint.calldata().to_vec()).await?;
        let comment = receipt.decoded_log::<MintComment>().ok_or("no comment")?;
        assert_eq!((comment.sender, comment.tokenContract, comment.tokenId), (COLLECTOR, collection, TOKEN));
        assert_eq!((comment.quantity, comment.comment.as_str()), (U256::from(2), "First!"));

        let earned = Rewards::new(PROTOCOL_REWARDS, &node).balanceOf(ARTIST).call().await?;
        assert_eq!(earned, MINT_FEE, "half of what two cost");
        assert_eq!(node.get_balance(sale.erc20zAddress).await?, MINT_FEE / U256::from(5), "a tenth of what two cost");
        Ok(())
    }

    fn collection_on_timed_sale(minter: Address) -> CreatorFactory::createContractCall {
        let sale = TimedMinter::setSaleV2Call {
            tokenId: TOKEN,
            salesConfig: TimedMinter::SalesConfigV2 {
                saleStart: 0,
                marketCountdown: 86_400,
                minimumMarketEth: uint!(24_664_200_000_000_000_U256),
                name: "First".to_owned(),
                symbol: "$FRST".to_owned(),
            },
        };
        let token =
            Creator1155::setupNewTokenCall { newURI: "ipfs://token".to_owned(), maxSupply: U256::from(u64::MAX) };
        let permission = Creator1155::addPermissionCall { tokenId: TOKEN, user: minter, permissionBits: MINTER };
        let start = Creator1155::callSaleCall { tokenId: TOKEN, salesConfig: minter, data: sale.abi_encode().into() };
        CreatorFactory::createContractCall {
            newContractURI: "ipfs://collection".to_owned(),
            name: "First".to_owned(),
            defaultRoyaltyConfiguration: CreatorFactory::RoyaltyConfiguration {
                royaltyMintSchedule: 0,
                royaltyBPS: 1_000,
                royaltyRecipient: ARTIST,
            },
            defaultAdmin: ARTIST,
            setupActions: [token.abi_encode(), permission.abi_encode(), start.abi_encode()].map(Into::into).to_vec(),
        }
    }
}
