// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

import {Governor, IGovernor} from "@openzeppelin/contracts/governance/Governor.sol";
import {TimelockController} from "@openzeppelin/contracts/governance/TimelockController.sol";
import {
    GovernorCompatibilityBravo
} from "@openzeppelin/contracts/governance/compatibility/GovernorCompatibilityBravo.sol";
import {GovernorSettings} from "@openzeppelin/contracts/governance/extensions/GovernorSettings.sol";
import {GovernorTimelockControl} from "@openzeppelin/contracts/governance/extensions/GovernorTimelockControl.sol";
import {GovernorVotes, IVotes} from "@openzeppelin/contracts/governance/extensions/GovernorVotes.sol";
import {IERC165} from "@openzeppelin/contracts/utils/introspection/IERC165.sol";

/// A governor of the other widespread kind, for local chains and tests: proposals as with Governor Bravo, executed by a
/// timelock. Voting begins after one block, and one vote is enough to propose and to pass.
contract BravoGovernor is GovernorSettings, GovernorCompatibilityBravo, GovernorVotes, GovernorTimelockControl {
    constructor(IVotes token, TimelockController timelock, uint256 votingPeriod)
        Governor("Bravo (local)")
        GovernorSettings(1, votingPeriod, 1)
        GovernorVotes(token)
        GovernorTimelockControl(timelock)
    {}

    function quorum(uint256) public pure override returns (uint256) {
        return 1;
    }

    // From here on only what the compiler demands where two of the parents define a function.

    function proposalThreshold() public view override(Governor, GovernorSettings) returns (uint256) {
        return super.proposalThreshold();
    }

    function state(uint256 proposal)
        public
        view
        override(Governor, IGovernor, GovernorTimelockControl)
        returns (ProposalState)
    {
        return super.state(proposal);
    }

    function propose(address[] memory targets, uint256[] memory values, bytes[] memory calldatas, string memory text)
        public
        override(Governor, IGovernor, GovernorCompatibilityBravo)
        returns (uint256)
    {
        return super.propose(targets, values, calldatas, text);
    }

    function cancel(address[] memory targets, uint256[] memory values, bytes[] memory calldatas, bytes32 textHash)
        public
        override(Governor, IGovernor, GovernorCompatibilityBravo)
        returns (uint256)
    {
        return super.cancel(targets, values, calldatas, textHash);
    }

    function supportsInterface(bytes4 id)
        public
        view
        override(Governor, IERC165, GovernorTimelockControl)
        returns (bool)
    {
        return super.supportsInterface(id);
    }

    function _execute(
        uint256 proposal,
        address[] memory targets,
        uint256[] memory values,
        bytes[] memory calldatas,
        bytes32 textHash
    ) internal override(Governor, GovernorTimelockControl) {
        super._execute(proposal, targets, values, calldatas, textHash);
    }

    function _cancel(address[] memory targets, uint256[] memory values, bytes[] memory calldatas, bytes32 textHash)
        internal
        override(Governor, GovernorTimelockControl)
        returns (uint256)
    {
        return super._cancel(targets, values, calldatas, textHash);
    }

    function _executor() internal view override(Governor, GovernorTimelockControl) returns (address) {
        return super._executor();
    }
}
