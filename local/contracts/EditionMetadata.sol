// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

/// A stand-in for what knows where the editions' metadata is.
contract EditionMetadata {
    event BaseURISet(address indexed edition, uint8 tier, string uri);

    function setBaseURI(address edition, uint8 tier, string calldata uri) external {
        emit BaseURISet(edition, tier, uri);
    }
}
