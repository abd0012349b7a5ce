// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {ERC1155} from "@openzeppelin/contracts/token/ERC1155/ERC1155.sol";

interface IReleaseController {
    struct MintConfiguration {
        uint96 price;
        address fundsRecipient;
    }

    function configurations(address release, uint256 token) external view returns (uint96, address);
    function collect(uint256 token, uint256 amount, uint256 value, address payer) external;
}

/// A stand-in for a collection of the registry protocol, for local chains and tests: its events, and functions enough to
/// make it emit them. Whoever made it may do everything, and its controller sells.
contract Release is ERC1155 {
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

    address public immutable creator;
    address public immutable controller;
    uint256 public lastToken;

    constructor(address creator_, address controller_) ERC1155("") {
        (creator, controller) = (creator_, controller_);
    }

    modifier only(address account) {
        if (msg.sender != account) revert NonPermitted();
        _;
    }

    function createToken(address artist, string calldata tokenUri) external only(creator) returns (uint256 token) {
        token = ++lastToken;
        emit TokenCreated(token, address(this), artist, tokenUri, keccak256(bytes(tokenUri)));
    }

    /// With token id 0 the URI of the collection itself.
    function updateTokenURI(uint256 token, string calldata newUri) external only(creator) {
        emit URI(newUri, token);
    }

    function updateContractPermissions(address user, uint256 authScope) external only(creator) {
        emit ContractPermissionsUpdated(user, authScope);
    }

    function updateTokenPermissions(uint256 token, address user, uint256 authScope) external only(creator) {
        emit TokenPermissionsUpdated(token, user, authScope);
    }

    function tokenMintConfiguration(uint256 token) external view returns (IReleaseController.MintConfiguration memory) {
        (uint96 price, address recipient) = IReleaseController(controller).configurations(address(this), token);
        return IReleaseController.MintConfiguration(price, recipient);
    }

    /// The controller takes the price from the sender.
    function purchaseTokenWithValue(
        address to,
        uint256 token,
        uint256 amount,
        uint256 value,
        address referrer0,
        address referrer1
    ) external payable {
        IReleaseController(controller).collect(token, amount, value, msg.sender);
        emit TokenPurchased(token, amount, to, referrer0, referrer1);
        _mint(to, token, amount, "");
    }

    /// The controller calls it once it was paid.
    function purchase(uint256 token, uint256 amount, address buyer) external only(controller) {
        emit TokenPurchased(token, amount, buyer, address(0), address(0));
        _mint(buyer, token, amount, "");
    }
}
