// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {Edition} from "./Edition.sol";
import {EditionMetadata} from "./EditionMetadata.sol";

/// A stand-in for the factory of the editions protocol's collections. It announces one after setting it up, as the
/// deployed one does.
contract EditionCreator {
    event Created(
        address indexed implementation,
        address indexed edition,
        address indexed owner,
        bytes initData,
        address[] contracts,
        bytes[] data,
        bytes[] results
    );

    EditionMetadata public immutable metadata;

    constructor(EditionMetadata metadata_) {
        metadata = metadata_;
    }

    /// `initData` is passed on as it is; `baseUri` is that of tier 0.
    function createEdition(bytes calldata initData, string calldata baseUri) external returns (address created) {
        created = address(new Edition(msg.sender));
        metadata.setBaseURI(created, 0, baseUri);
        emit Created(address(this), created, msg.sender, initData, new address[](0), new bytes[](0), new bytes[](0));
    }
}
