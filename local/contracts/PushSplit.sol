// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {SafeERC20} from "@openzeppelin/contracts/token/ERC20/utils/SafeERC20.sol";
import {Address} from "@openzeppelin/contracts/utils/Address.sol";

/// Who gets which part of what a split receives: `allocations[i]` out of `totalAllocation`.
struct Split {
    address[] recipients;
    uint256[] allocations;
    uint256 totalAllocation;
    /// Share of whoever calls `distribute`, in millionths.
    uint16 distributionIncentive;
}

/// A stand-in for a revenue split of 0xSplits v2, for local chains and tests. It pays recipients directly, as the
/// deployed "push" split does, but never by way of the warehouse: a recipient that refuses ether fails the distribution.
/// Pausing and changing a split, both up to its owner, are left out.
///
/// Nothing is set by a constructor: a split is a minimal proxy of this code.
contract PushSplit {
    using SafeERC20 for IERC20;

    event SplitDistributed(address indexed token, address indexed distributor, uint256 amount);

    error InvalidSplit();
    error InvalidSplit_LengthMismatch();
    error InvalidSplit_TotalAllocationMismatch();
    error UnauthorizedInitializer();

    /// Stands for the chain's own currency.
    address public constant NATIVE_TOKEN = 0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE;

    uint256 private constant INCENTIVE_SCALE = 1e6;

    bytes32 public splitHash;
    address public owner;

    receive() external payable {}

    /// The factory calls it as it makes the split.
    function initialize(Split calldata split, address splitOwner) external {
        if (splitHash != 0) revert UnauthorizedInitializer();
        if (split.recipients.length != split.allocations.length) revert InvalidSplit_LengthMismatch();
        uint256 sum;
        for (uint256 i; i < split.allocations.length; ++i) sum += split.allocations[i];
        if (sum != split.totalAllocation) revert InvalidSplit_TotalAllocationMismatch();
        splitHash = keccak256(abi.encode(split));
        owner = splitOwner;
    }

    /// Pays everything that the split holds of a token. What can't be divided stays for the next time.
    function distribute(Split calldata split, address token, address distributor) external {
        if (keccak256(abi.encode(split)) != splitHash) revert InvalidSplit();
        uint256 balance = token == NATIVE_TOKEN ? address(this).balance : IERC20(token).balanceOf(address(this));
        uint256 reward = (balance * split.distributionIncentive) / INCENTIVE_SCALE;
        uint256 amount = balance - reward;
        for (uint256 i; i < split.recipients.length; ++i) {
            _pay(token, split.recipients[i], (amount * split.allocations[i]) / split.totalAllocation);
        }
        _pay(token, distributor, reward);
        emit SplitDistributed(token, distributor, amount);
    }

    function _pay(address token, address recipient, uint256 amount) private {
        if (amount == 0) return;
        if (token == NATIVE_TOKEN) Address.sendValue(payable(recipient), amount);
        else IERC20(token).safeTransfer(recipient, amount);
    }
}
