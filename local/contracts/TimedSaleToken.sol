// SPDX-License-Identifier: MIT
pragma solidity 0.8.23;

/// A stand-in for the token that the timed sale strategy makes for each sale, for local chains and tests. It keeps the
/// part of the price that is set aside for the secondary market, but there is no such market here: no pool is made, and
/// launching one fails.
contract TimedSaleToken {
    string public name;
    string public symbol;

    receive() external payable {}

    /// The strategy calls it as it makes the token. Gives the address of the pool.
    function initialize(address, uint256, string memory tokenName, string memory tokenSymbol)
        external
        returns (address pool)
    {
        (name, symbol) = (tokenName, tokenSymbol);
        return address(0);
    }
}
