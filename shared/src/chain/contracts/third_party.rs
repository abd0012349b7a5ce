//! Bindings of other protocols' contracts, most of which the service only reads.

use alloy::sol;

sol! {
    interface RegistryFactory {
        event CRContractCreated(address indexed _contractAddress, address indexed _creator);
    }

    /// `URI` and transfers are the ERC-1155 standard's.
    interface RegistryCollection {
        event TokenCreated(
            uint256 indexed _tokenId,
            address _contract,
            address indexed _artist,
            string _uri,
            bytes32 indexed _contentHash
        );
        event ContractPermissionsUpdated(address indexed user, uint256 authScope);
        event TokenPermissionsUpdated(uint256 indexed tokenId, address indexed user, uint256 authScope);
        event TokenPurchased(
            uint256 indexed tokenId,
            uint256 indexed amount,
            address indexed buyer,
            address referrer0,
            address referrer1
        );

        error NonPermitted();

        struct MintConfiguration {
            uint96 price;
            address fundsRecipient;
        }

        function tokenMintConfiguration(uint256 tokenId) external view returns (MintConfiguration memory);
        /// The controller takes `value` of the currency from the sender.
        function purchaseTokenWithValue(
            address to,
            uint256 tokenId,
            uint256 amount,
            uint256 value,
            address referrer0,
            address referrer1
        ) external payable;
    }

    interface RegistryController {
        struct MintConfiguration {
            uint96 price;
            address fundsRecipient;
        }

        event MintConfigurationUpdated(
            address indexed releaseContract,
            uint256 indexed tokenId,
            MintConfiguration configuration
        );
    }

    interface EditionCreator {
        struct TierCreation {
            uint8 tier;
            uint32 maxMintableLower;
            uint32 maxMintableUpper;
            uint32 cutoffTime;
            bool mintRandomnessEnabled;
            bool isFrozen;
        }
        struct EditionInitialization {
            string name;
            string symbol;
            address metadataModule;
            string baseURI;
            string contractURI;
            address fundingRecipient;
            uint16 royaltyBPS;
            bool isCreateTierFrozen;
            bool isMintRandomnessEnabled;
            TierCreation[] tierCreations;
        }

        /// Emitted after the events of the collection's set-up; `initData` is the set-up call.
        event Created(
            address indexed implementation,
            address indexed edition,
            address indexed owner,
            bytes initData,
            address[] contracts,
            bytes[] data,
            bytes[] results
        );

        function initialize(EditionInitialization init) external;
    }

    /// A collection whose tokens of one tier are numbered editions of the same work.
    interface Edition {
        event Minted(uint8 tier, address to, uint256 quantity, uint256 fromTokenId);
        event RolesUpdated(address indexed user, uint256 indexed roles);
        event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    }

    interface EditionMetadata {
        event BaseURISet(address indexed edition, uint8 tier, string uri);
    }
}

sol! {
    /// <https://github.com/ethereum-optimism/optimism/blob/develop/packages/contracts-bedrock/src/L2/GasPriceOracle.sol>
    interface GasPriceOracle {
        function getL1FeeUpperBound(uint256 unsignedTxSize) external view returns (uint256);
        function getL1Fee(bytes data) external view returns (uint256);
    }
}
