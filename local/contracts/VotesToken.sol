// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {ERC20Permit} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Permit.sol";
import {ERC20Votes} from "@openzeppelin/contracts/token/ERC20/extensions/ERC20Votes.sol";

/// What votes with a local `BravoGovernor`: one for each voter. All are made at once, since a node that estimates the gas
/// of another vote in the block of the last one takes it for cheaper than it is.
contract VotesToken is ERC20Votes {
    constructor(address[] memory voters) ERC20("Votes (local)", "VOTE") ERC20Permit("Votes (local)") {
        for (uint256 i; i < voters.length; ++i) {
            _mint(voters[i], 1);
            // Votes of an account that never said who votes for it don't count.
            _delegate(voters[i], voters[i]);
        }
    }
}
