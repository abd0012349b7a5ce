// SPDX-License-Identifier: MIT
pragma solidity 0.8.23;

/// @title Bounds what one lane can do with the operator's Safe (1.4.1). NOT AUDITED.
/// @notice Lanes may run batches of calls that accounts make, and of deployments. They can't reach the operator's Safe
/// or its money, and no account can be made to call itself, which is what changing owners, modules or handlers takes.
/// README.md lists the attacks. The guard has no state, so nothing can change between its check and the execution.
contract LaneGuard {
    error NotABatch();
    error NotCanonical();
    error OperatorPays();
    error ForbiddenCall(address target);
    error ForbiddenTarget(address target);
    error ForeignDelegatecall(address target);
    error ForbiddenRefund();

    bytes4 private constant MULTI_SEND = 0x8d80ff0a; // multiSend(bytes)
    bytes4 private constant EXEC_TRANSACTION = 0x6a761202; // Safe.execTransaction
    bytes4 private constant SETUP = 0xb63e800d; // Safe.setup
    bytes4 private constant CREATE_PROXY = 0x1688f0b9; // SafeProxyFactory.createProxyWithNonce

    /// @notice MultiSendCallOnly, the only code that the operator's Safe and accounts may run as their own.
    address public immutable multiSend;
    /// @notice SafeProxyFactory.
    address public immutable factory;
    /// @notice The Safe that deploys accounts and does nothing else.
    address public immutable utility;

    constructor(address multiSend_, address factory_, address utility_) {
        (multiSend, factory, utility) = (multiSend_, factory_, utility_);
    }

    /// @notice Whether this is an ERC-165 contract and a Safe's guard, which `setGuard` asks.
    function supportsInterface(bytes4 id) external pure returns (bool) { return id == 0xe6d7a83a || id == 0x01ffc9a7; }

    /// @notice Called by the operator's Safe after its signatures are checked, and before it executes.
    function checkTransaction(
        address to, uint256 value, bytes calldata data, uint8 operation, uint256, uint256, uint256 gasPrice, address,
        address payable, bytes calldata, address
    ) external view {
        // A gas price would have the Safe pay a refund to whomever the lane names.
        if (to != multiSend || operation != 1 || value != 0 || gasPrice != 0) revert NotABatch();
        _checkBatch(_batch(data), msg.sender);
    }

    /// @notice Nothing is left to check.
    function checkAfterExecution(bytes32, bool) external pure {}

    /// @dev Calls of the operator's Safe, or of an account: operation, target, value, length, data.
    function _checkBatch(bytes calldata rest, address caller) private view {
        while (rest.length != 0) {
            (uint256 head, uint256 end) = (_word(rest, 0), 85 + _word(rest, 53));
            address target = address(uint160(head >> 88));
            bytes calldata call = rest[85:end];
            if (head >> 248 != 0) revert NotCanonical();
            _forbid(target, caller);
            if (caller == msg.sender && _word(rest, 21) != 0) revert OperatorPays();
            if (caller == msg.sender && target != factory) _checkAccount(call, target);
            else if (caller == msg.sender) _require(bytes4(call) == CREATE_PROXY, target);
            else if (caller == utility) _require(bytes4(call) == (target == factory ? CREATE_PROXY : SETUP), target);
            rest = rest[end:];
        }
    }

    /// @dev An account's `execTransaction`, whose data follows its ten arguments: of one call, or of a batch.
    function _checkAccount(bytes calldata call, address account) private view {
        _require(bytes4(call) == EXEC_TRANSACTION, account);
        (uint256 to, uint256 operation) = (_word(call, 4), _word(call, 100));
        if (to >> 160 != 0 || operation > 1 || _word(call, 68) != 320) revert NotCanonical();
        // A refund is a call too: only of the precompile that stands in for a token so that the Safe caps a call's gas.
        if (_word(call, 196) != 0 && _word(call, 228) != 2) revert ForbiddenRefund();
        _forbid(address(uint160(to)), account);
        if (operation == 0) return _require(account != utility, account);
        if (address(uint160(to)) != multiSend) revert ForeignDelegatecall(address(uint160(to)));
        _checkBatch(_batch(call[356:356 + _word(call, 324)]), account);
    }

    /// @dev Refuses the caller itself, the operator's Safe, and zero, which later MultiSends take for the caller.
    function _forbid(address target, address caller) private view {
        if (target == caller || target == msg.sender || target == address(0)) revert ForbiddenTarget(target);
    }

    function _require(bool holds, address target) private pure { if (!holds) revert ForbiddenCall(target); }

    /// @dev The packed calls of `multiSend(bytes)` in its only encoding: selector, offset, length, calls, padding.
    function _batch(bytes calldata data) private pure returns (bytes calldata) {
        uint256 length = _word(data, 36);
        if (bytes4(data) != MULTI_SEND || _word(data, 4) != 32) revert NotCanonical();
        if (data.length != 68 + (length + 31) / 32 * 32) revert NotCanonical();
        return data[68:68 + length];
    }

    /// @dev The 32 bytes at `start`, which must all be there.
    function _word(bytes calldata data, uint256 start) private pure returns (uint256 word) {
        if (data.length < start + 32) revert NotCanonical();
        assembly { word := calldataload(add(data.offset, start)) }
    }
}
