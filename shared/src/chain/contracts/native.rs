//! Bindings of the contracts that the service calls and indexes, as deployed and under their own names.

#![expect(clippy::too_many_arguments, reason = "the contracts' functions have as many as they have")]

use alloy::sol;

sol! {
    #[sol(rpc)]
    interface CreatorFactory {
        struct RoyaltyConfiguration {
            uint32 royaltyMintSchedule;
            uint32 royaltyBPS;
            address royaltyRecipient;
        }

        /// Emitted before the new collection's own events.
        event SetupNewContract(
            address indexed newContract,
            address indexed creator,
            address indexed defaultAdmin,
            string contractURI,
            string name,
            RoyaltyConfiguration defaultRoyaltyConfiguration
        );

        function createContract(
            string calldata newContractURI,
            string calldata name,
            RoyaltyConfiguration calldata defaultRoyaltyConfiguration,
            address defaultAdmin,
            bytes[] calldata setupActions
        ) external returns (address);
        /// Creates at an address that follows from the caller, the collection and its set-up.
        function createContractDeterministic(
            string calldata newContractURI,
            string calldata name,
            RoyaltyConfiguration calldata defaultRoyaltyConfiguration,
            address defaultAdmin,
            bytes[] calldata setupActions
        ) external returns (address);
        /// Does nothing if the collection is there.
        function getOrCreateContractDeterministic(
            address expectedContractAddress,
            string calldata newContractURI,
            string calldata name,
            RoyaltyConfiguration calldata defaultRoyaltyConfiguration,
            address defaultAdmin,
            bytes[] calldata setupActions
        ) external returns (address);
        /// Address of a collection without set-up actions.
        function deterministicContractAddress(
            address msgSender,
            string calldata newContractURI,
            string calldata name,
            address contractAdmin
        ) external view returns (address);
    }

    /// A collection: an ERC-1155 contract whose tokens are moments.
    #[sol(rpc)]
    interface Creator1155 {
        struct TokenData {
            string uri;
            uint256 maxSupply;
            uint256 totalMinted;
        }

        event SetupNewToken(uint256 indexed tokenId, address indexed sender, string newURI, uint256 maxSupply);
        event ContractMetadataUpdated(address indexed updater, string uri, string name);
        event URI(string value, uint256 indexed id);
        /// `permissions` are all permissions that the account has from now on.
        event UpdatedPermissions(uint256 indexed tokenId, address indexed user, uint256 indexed permissions);
        event UpdatedRoyalties(
            uint256 indexed tokenId,
            address indexed user,
            CreatorFactory.RoyaltyConfiguration configuration
        );
        event TransferSingle(
            address indexed operator,
            address indexed from,
            address indexed to,
            uint256 id,
            uint256 value
        );
        event TransferBatch(
            address indexed operator,
            address indexed from,
            address indexed to,
            uint256[] ids,
            uint256[] values
        );
        /// Emitted after the transfer. `value` includes the contract's own fee.
        event Purchased(
            address indexed sender,
            address indexed minter,
            uint256 indexed tokenId,
            uint256 quantity,
            uint256 value
        );

        function assumeLastTokenIdMatches(uint256 lastTokenId) external;
        function setupNewToken(string calldata newURI, uint256 maxSupply) external returns (uint256);
        function setupNewTokenWithCreateReferral(string calldata newURI, uint256 maxSupply, address createReferral)
            external
            returns (uint256);
        function updateRoyaltiesForToken(
            uint256 tokenId,
            CreatorFactory.RoyaltyConfiguration memory newConfiguration
        ) external;
        function adminMint(address recipient, uint256 tokenId, uint256 quantity, bytes memory data) external;
        function multicall(bytes[] calldata data) external returns (bytes[] memory);
        function name() external view returns (string memory);
        function contractURI() external view returns (string memory);
        function owner() external view returns (address);
        function addPermission(uint256 tokenId, address user, uint256 permissionBits) external;
        function callSale(uint256 tokenId, address salesConfig, bytes calldata data) external;
        function updateTokenURI(uint256 tokenId, string memory newURI) external;
        function nextTokenId() external view returns (uint256);
        function permissions(uint256 tokenId, address user) external view returns (uint256);
        function mint(
            address minter,
            uint256 tokenId,
            uint256 quantity,
            address[] calldata rewardsRecipients,
            bytes calldata minterArguments
        ) external payable;
        function mintFee() external view returns (uint256);
        /// The token's, or the collection's where it has none.
        function getRoyalties(uint256 tokenId) external view returns (CreatorFactory.RoyaltyConfiguration memory);
        function createReferrals(uint256 tokenId) external view returns (address);
        function getTokenInfo(uint256 tokenId) external view returns (TokenData memory);
        function balanceOf(address account, uint256 tokenId) external view returns (uint256);
        function isAdminOrRole(address user, uint256 tokenId, uint256 role) external view returns (bool);
        function removePermission(uint256 tokenId, address user, uint256 permissionBits) external;
        function updateContractMetadata(string memory newURI, string memory newName) external;
    }

    /// Emitted by every sale strategy for a collect with a comment. `sender` is the account that got the token.
    interface MintCommenter {
        event MintComment(
            address indexed sender,
            address indexed tokenContract,
            uint256 indexed tokenId,
            uint256 quantity,
            string comment
        );
    }

    /// Keeps what the protocol pays out of its fee: <https://github.com/ourzora/zora-protocol/blob/main/legacy/protocol-rewards/src/ProtocolRewards.sol>
    #[sol(rpc)]
    interface ProtocolRewards {
        /// Emitted with every collect for the chain's own currency, before the transfer of the token; `from` is the
        /// collection. Who isn't named is `zora`.
        event RewardsDeposit(
            address indexed creator,
            address indexed createReferral,
            address indexed mintReferral,
            address firstMinter,
            address zora,
            address from,
            uint256 creatorReward,
            uint256 createReferralReward,
            uint256 mintReferralReward,
            uint256 firstMinterReward,
            uint256 zoraReward
        );

        function balanceOf(address account) external view returns (uint256);
    }

    #[sol(rpc)]
    interface FixedPriceMinter {
        struct SalesConfig {
            uint64 saleStart;
            uint64 saleEnd;
            uint64 maxTokensPerAddress;
            uint96 pricePerToken;
            address fundsRecipient;
        }

        /// All fields are zero when a sale is reset.
        event SaleSet(address indexed mediaContract, uint256 indexed tokenId, SalesConfig salesConfig);

        function setSale(uint256 tokenId, SalesConfig memory salesConfig) external;
        function sale(address tokenContract, uint256 tokenId) external view returns (SalesConfig memory);
    }

    /// Sells to the accounts of a list, whose tree of hashes it keeps the root of.
    #[sol(rpc)]
    interface MerkleMinter {
        struct MerkleSaleSettings {
            uint64 presaleStart;
            uint64 presaleEnd;
            address fundsRecipient;
            bytes32 merkleRoot;
        }

        /// All fields are zero when a sale is reset.
        event SaleSet(address indexed mediaContract, uint256 indexed tokenId, MerkleSaleSettings merkleSaleSettings);

        function setSale(uint256 tokenId, MerkleSaleSettings memory merkleSaleSettings) external;
        function resetSale(uint256 tokenId) external;
        function sale(address tokenContract, uint256 tokenId) external view returns (MerkleSaleSettings memory);
    }

    /// Tokens per account in sales with a limit: those of `FixedPriceMinter`, `Erc20Minter` and `MerkleMinter`.
    #[sol(rpc)]
    interface LimitedMinter {
        function getMintedPerWallet(address tokenContract, uint256 tokenId, address wallet)
            external
            view
            returns (uint256);
    }

    #[sol(rpc)]
    interface Erc20Minter {
        struct SalesConfig {
            uint64 saleStart;
            uint64 saleEnd;
            uint64 maxTokensPerAddress;
            uint256 pricePerToken;
            address fundsRecipient;
            address currency;
        }

        /// All fields are zero when a sale is reset.
        event SaleSet(address indexed mediaContract, uint256 indexed tokenId, SalesConfig salesConfig);
        /// Emitted with every collect, after the transfer of the token.
        event ERC20RewardsDeposit(
            address indexed createReferral,
            address indexed mintReferral,
            address indexed firstMinter,
            address zora,
            address collection,
            address currency,
            uint256 tokenId,
            uint256 createReferralReward,
            uint256 mintReferralReward,
            uint256 firstMinterReward,
            uint256 zoraReward
        );

        function setSale(uint256 tokenId, SalesConfig memory salesConfig) external;
        function sale(address tokenContract, uint256 tokenId) external view returns (SalesConfig memory);
        function ethRewardAmount() external view returns (uint256);
        function mint(
            address mintTo,
            uint256 quantity,
            address tokenAddress,
            uint256 tokenId,
            uint256 totalValue,
            address currency,
            address mintReferral,
            string calldata comment
        ) external payable;
    }

    #[sol(rpc)]
    interface TimedMinter {
        struct SalesConfigV2 {
            uint64 saleStart;
            uint64 marketCountdown;
            uint256 minimumMarketEth;
            string name;
            string symbol;
        }
        struct SalesConfig {
            uint64 saleStart;
            uint64 saleEnd;
            string name;
            string symbol;
        }
        struct SaleData {
            uint64 saleStart;
            uint64 marketCountdown;
            uint64 saleEnd;
            bool secondaryActivated;
            uint256 minimumMarketEth;
            address poolAddress;
            address erc20zAddress;
            string name;
            string symbol;
        }

        /// Emitted by the strategy's first version.
        event SaleSet(
            address indexed collection,
            uint256 indexed tokenId,
            SalesConfig salesConfig,
            address erc20zAddress,
            address poolAddress,
            uint256 mintFee
        );
        /// Emitted again when enough tokens are collected for the sale to end.
        event SaleSetV2(address indexed collection, uint256 indexed tokenId, SaleData saleData, uint256 mintFee);

        function setSaleV2(uint256 tokenId, SalesConfigV2 calldata salesConfig) external;
        function sale(address collection, uint256 tokenId)
            external
            view
            returns (address token, uint64 saleStart, address pool, uint64 saleEnd, bool isMarketOpen);
        function saleV2(address collection, uint256 tokenId) external view returns (SaleData memory);
        function mint(
            address mintTo,
            uint256 quantity,
            address collection,
            uint256 tokenId,
            address mintReferral,
            string calldata comment
        ) external payable;
    }

    #[sol(rpc)]
    interface Erc20 {
        function approve(address spender, uint256 amount) external returns (bool);
        function transfer(address to, uint256 amount) external returns (bool);
        function balanceOf(address account) external view returns (uint256);
        function allowance(address owner, address spender) external view returns (uint256);
    }

    #[sol(rpc)]
    interface SplitFactory {
        struct SplitParams {
            address[] recipients;
            uint256[] allocations;
            uint256 totalAllocation;
            uint16 distributionIncentive;
        }

        event SplitCreated(address indexed split, SplitParams splitParams, address owner, address creator, bytes32 salt);
        event SplitCreated(address indexed split, SplitParams splitParams, address owner, address creator, uint256 nonce);

        function createSplitDeterministic(SplitParams calldata split, address owner, address creator, bytes32 salt)
            external
            returns (address);
        function isDeployed(SplitParams calldata split, address owner, bytes32 salt)
            external
            view
            returns (address, bool);
    }

    /// A split, which anybody may make pay out.
    #[sol(rpc)]
    interface PushSplit {
        function distribute(SplitFactory.SplitParams calldata split, address token, address distributor) external;
    }

    /// Governor Bravo's interface, which other governors share.
    #[sol(rpc)]
    interface Governor {
        function propose(
            address[] targets,
            uint256[] values,
            string[] signatures,
            bytes[] calldatas,
            string description
        ) external returns (uint256 id);
        function timelock() external view returns (address);
    }

    #[sol(rpc)]
    interface CommentsProtocol {
        struct CommentIdentifier {
            address commenter;
            address contractAddress;
            uint256 tokenId;
            bytes32 nonce;
        }

        event Commented(
            bytes32 indexed commentId,
            CommentIdentifier commentIdentifier,
            bytes32 replyToId,
            CommentIdentifier replyTo,
            uint256 sparksQuantity,
            string text,
            uint256 timestamp,
            address referrer
        );
        event BackfilledComment(
            bytes32 indexed commentId,
            CommentIdentifier commentIdentifier,
            string text,
            uint256 timestamp,
            bytes32 originalTransactionId
        );
        event SparkedComment(
            bytes32 indexed commentId,
            CommentIdentifier commentIdentifier,
            uint256 sparksQuantity,
            address sparker,
            uint256 timestamp,
            address referrer
        );

        function comment(
            address commenter,
            address contractAddress,
            uint256 tokenId,
            string calldata text,
            CommentIdentifier calldata replyTo,
            address commenterSmartWallet,
            address referrer
        ) external payable returns (CommentIdentifier memory);
        function sparkComment(
            CommentIdentifier calldata commentIdentifier,
            uint256 sparksQuantity,
            address referrer
        ) external payable;
        function backfillBatchAddComment(
            CommentIdentifier[] calldata commentIdentifiers,
            string[] calldata texts,
            uint256[] calldata timestamps,
            bytes32[] calldata originalTransactionIds
        ) external;
        function sparkValue() external view returns (uint256);
        function nextNonce() external view returns (bytes32);
    }

    interface ContractWallet {
        function isValidSignature(bytes32 hash, bytes memory signature) external view returns (bytes4 magicValue);
    }

    /// Errors of the contracts above that artists can run into.
    interface ContractErrors {
        // Collections: https://github.com/ourzora/zora-protocol/tree/main/legacy/1155-contracts/src/interfaces
        error UserMissingRoleForToken(address user, uint256 tokenId, uint256 role);
        error TokenIdMismatch(uint256 expected, uint256 actual);
        error Call_TokenIdMismatch();
        error CallFailed(bytes reason);
        error CannotMintMoreTokens(uint256 tokenId, uint256 quantity, uint256 totalMinted, uint256 maxSupply);
        error INVALID_ETH_AMOUNT();
        error InvalidMintSchedule();
        error Sale_CannotCallNonSalesContract(address targetContract);
        error Mint_ValueTransferFail();
        error Burn_NotOwnerOrApproved(address operator, address user);
        error NewOwnerNeedsToBeAdmin();
        error ERC1155_TRANSFER_TO_NON_ERC1155RECEIVER_IMPLEMENTER();
        error ERC1155_ERC1155RECEIVER_REJECTED_TOKENS();
        error WrongValueSent();
        error SaleEnded();
        error SaleHasNotStarted();
        error UserExceedsMintLimit(address user, uint256 limit, uint256 requestedAmount);
        error InvalidMerkleProof(address mintTo, bytes32[] merkleProof, bytes32 merkleRoot);
        error PricePerTokenTooLow();
        error AddressZero();
        error InvalidETHValue(uint256 expectedValue, uint256 actualValue);
        error InvalidValue();
        error InvalidCurrency();
        error RequestMintInvalidUseMint();
        error SaleAlreadySet();
        error SaleNotSet();
        error SaleV2Ended();
        error NotTokenHolderOrAdmin();
        error EmptyComment();
        error CommentDoesntExist();
        error CommenterMismatch(address expected, address actual);
        error IncorrectETHAmountForSparks(uint256 actual, uint256 expected);
        error CannotSparkOwnComment();
        error MustSendAtLeastOneSpark();
        error CommentAddressOrTokenIdsDoNotMatch(
            address commentAddress,
            uint256 commentTokenId,
            address replyAddress,
            uint256 replyTokenId
        );
    }
}

#[cfg(test)]
mod tests {
    use alloy::{primitives::hex, sol_types::SolEvent};

    use super::*;

    #[test]
    fn events_have_the_topics_of_the_deployed_contracts() {
        for (topic, first_bytes) in [
            (Creator1155::UpdatedPermissions::SIGNATURE_HASH, hex!("35fb03d0")),
            (Creator1155::ContractMetadataUpdated::SIGNATURE_HASH, hex!("74b7c2af")),
            (Creator1155::URI::SIGNATURE_HASH, hex!("6bb7ff70")),
            (Creator1155::UpdatedRoyalties::SIGNATURE_HASH, hex!("5837d558")),
            (Creator1155::TransferSingle::SIGNATURE_HASH, hex!("c3d58168")),
            (Creator1155::TransferBatch::SIGNATURE_HASH, hex!("4a39dc06")),
            (Creator1155::Purchased::SIGNATURE_HASH, hex!("b362243a")),
            (FixedPriceMinter::SaleSet::SIGNATURE_HASH, hex!("5e4ad74f")),
            (Erc20Minter::SaleSet::SIGNATURE_HASH, hex!("5a10ca3d")),
            (Erc20Minter::ERC20RewardsDeposit::SIGNATURE_HASH, hex!("6d43fd9d")),
            (TimedMinter::SaleSet::SIGNATURE_HASH, hex!("0eb75bae")),
            (TimedMinter::SaleSetV2::SIGNATURE_HASH, hex!("15f22ac7")),
            (SplitFactory::SplitCreated_0::SIGNATURE_HASH, hex!("c4cec5a1")),
            (SplitFactory::SplitCreated_1::SIGNATURE_HASH, hex!("f36c74b4")),
        ] {
            assert_eq!(topic[..4], first_bytes, "{topic}");
        }
    }
}
