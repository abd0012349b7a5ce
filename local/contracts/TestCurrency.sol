// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// The currency of local chains, which anyone may mint. Nothing of it comes from storage that a constructor writes, so
/// that its code works at any address it is put at.
contract TestCurrency is ERC20("", "") {
    function name() public pure override returns (string memory) {
        return "USD Coin (local)";
    }

    function symbol() public pure override returns (string memory) {
        return "USDC";
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function mint(address account, uint256 amount) external {
        _mint(account, amount);
    }
}
