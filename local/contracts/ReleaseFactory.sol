// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {Release} from "./Release.sol";

/// A stand-in for the factory of the registry protocol's collections.
contract ReleaseFactory {
    event CRContractCreated(address indexed _contractAddress, address indexed _creator);

    address public immutable controller;

    constructor(address controller_) {
        controller = controller_;
    }

    function createRelease() external returns (address created) {
        created = address(new Release(msg.sender, controller));
        emit CRContractCreated(created, msg.sender);
    }
}
