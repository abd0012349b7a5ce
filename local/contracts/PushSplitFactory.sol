// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {PushSplit, Split} from "./PushSplit.sol";

/// A stand-in for the push split factory of 0xSplits v2.2, for local chains and tests: its functions, events and rules.
/// The addresses of its splits depend on the same things as those of the deployed factory, but aren't the same.
///
/// Its constructor sets immutables only, which are part of its code, so that the code works at any address it is put at.
contract PushSplitFactory {
    event SplitCreated(address indexed split, Split splitParams, address owner, address creator, bytes32 salt);
    event SplitCreated(address indexed split, Split splitParams, address owner, address creator, uint256 nonce);

    address public immutable SPLIT_WALLET_IMPLEMENTATION;

    /// How many splits `createSplit` has made of a split and an owner.
    mapping(bytes32 => uint256) private _nonces;

    constructor(address splitImplementation) {
        SPLIT_WALLET_IMPLEMENTATION = splitImplementation;
    }

    /// Makes a split at an address that follows from all arguments but `creator`. Gives the one that is there already.
    function createSplitDeterministic(Split calldata split, address owner, address creator, bytes32 salt)
        external
        returns (address created)
    {
        bool exists;
        (created, exists) = isDeployed(split, owner, salt);
        if (exists) return created;
        _create(split, owner, _saltOf(split, owner, salt));
        emit SplitCreated(created, split, owner, creator, salt);
    }

    /// Makes a split at an address of its own, even if there is another one like it.
    function createSplit(Split calldata split, address owner, address creator) external returns (address created) {
        uint256 nonce = _nonces[_hashOf(split, owner)]++;
        created = _create(split, owner, _saltOf(split, owner, nonce));
        emit SplitCreated(created, split, owner, creator, nonce);
    }

    function isDeployed(Split calldata split, address owner, bytes32 salt)
        public
        view
        returns (address predicted, bool exists)
    {
        predicted = predictDeterministicAddress(split, owner, salt);
        exists = predicted.code.length > 0;
    }

    function predictDeterministicAddress(Split calldata split, address owner, bytes32 salt)
        public
        view
        returns (address)
    {
        return Clones.predictDeterministicAddress(SPLIT_WALLET_IMPLEMENTATION, _saltOf(split, owner, salt));
    }

    /// Where the next split of `createSplit` will be.
    function predictDeterministicAddress(Split calldata split, address owner) external view returns (address) {
        uint256 nonce = _nonces[_hashOf(split, owner)];
        return Clones.predictDeterministicAddress(SPLIT_WALLET_IMPLEMENTATION, _saltOf(split, owner, nonce));
    }

    function _create(Split calldata split, address owner, bytes32 salt) private returns (address created) {
        created = Clones.cloneDeterministic(SPLIT_WALLET_IMPLEMENTATION, salt);
        PushSplit(payable(created)).initialize(split, owner);
    }

    function _hashOf(Split calldata split, address owner) private pure returns (bytes32) {
        return keccak256(abi.encode(split, owner));
    }

    function _saltOf(Split calldata split, address owner, bytes32 salt) private pure returns (bytes32) {
        return keccak256(abi.encode(split, owner, salt));
    }

    /// Encoded with another prefix than a caller's salt, so that a nonce never takes a salt's address.
    function _saltOf(Split calldata split, address owner, uint256 nonce) private pure returns (bytes32) {
        return keccak256(abi.encode("nonce", split, owner, nonce));
    }
}
