// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Release} from "./Release.sol";

/// A stand-in for the controller that sells the registry protocol's tokens for an ERC-20 currency.
contract ReleaseController {
    struct MintConfiguration {
        uint96 price;
        address fundsRecipient;
    }

    event MintConfigurationUpdated(
        address indexed releaseContract,
        uint256 indexed tokenId,
        MintConfiguration configuration
    );

    IERC20 public immutable currency;
    mapping(address => mapping(uint256 => MintConfiguration)) public configurations;

    constructor(IERC20 currency_) {
        currency = currency_;
    }

    function setMintConfiguration(Release release, uint256 token, MintConfiguration calldata configuration) external {
        if (msg.sender != release.creator()) revert Release.NonPermitted();
        configurations[address(release)][token] = configuration;
        emit MintConfigurationUpdated(address(release), token, configuration);
    }

    /// A release calls it, for its own tokens.
    function collect(uint256 token, uint256 amount, uint256 value, address payer) external {
        MintConfiguration memory configuration = configurations[msg.sender][token];
        require(configuration.fundsRecipient != address(0) && configuration.price * amount == value, "wrong value");
        currency.transferFrom(payer, configuration.fundsRecipient, value);
    }

    function buy(Release release, uint256 token, uint256 amount) external {
        MintConfiguration memory configuration = configurations[address(release)][token];
        currency.transferFrom(msg.sender, configuration.fundsRecipient, configuration.price * amount);
        release.purchase(token, amount, msg.sender);
    }
}
