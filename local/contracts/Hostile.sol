// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

/// What accounts are made to call in tests of packed transactions: one function that behaves, and many that don't.
contract Hostile {
    mapping(bytes32 => uint256) public slots;
    uint256 public left;

    event Wrote(address indexed by, uint256 seed);
    event Reentered(bool succeeded, bytes answer);
    // As a Safe logs them.
    event ExecutionSuccess(bytes32 indexed txHash, uint256 payment);
    event ExecutionFailure(bytes32 indexed txHash, uint256 payment);

    error Nope(address who, uint256 code);

    /// Sets `count` new slots, about 22,500 gas each.
    function write(uint256 seed, uint256 count) external payable {
        for (uint256 i = 0; i < count; ++i) slots[keccak256(abi.encode(msg.sender, seed, i))] = 1;
        emit Wrote(msg.sender, seed);
    }

    function fail(uint256 code) external view {
        revert Nope(msg.sender, code);
    }

    function failSilently() external pure {
        assembly { revert(0, 0) }
    }

    /// Fails for everybody once `take` was called as often as this.
    function setLeft(uint256 count) external {
        left = count;
    }

    function take() external {
        require(left > 0, "sold out");
        left -= 1;
    }

    function burn() external payable {
        assembly { invalid() }
    }

    function loop() external {
        while (true) slots[0] = gasleft();
    }

    /// Answers or reverts with `size` bytes.
    function bomb(uint256 size, bool succeeds) external pure {
        assembly {
            if succeeds { return(0, size) }
            revert(0, size)
        }
    }

    function reenter(address to, bytes calldata data) external payable {
        (bool succeeded, bytes memory answer) = to.call(data);
        emit Reentered(succeeded, answer);
    }

    /// Logs that look like an account's.
    function forge(bytes32 hash) external {
        emit ExecutionSuccess(hash, 0);
        emit ExecutionFailure(hash, 1 << 200);
    }

    /// Behaves with little gas, as when it is estimated on its own, and burns all where there is more.
    function spite(uint256 threshold) external view {
        if (gasleft() > threshold) assembly { invalid() }
    }

    /// Wants much more gas than it uses.
    function demand(uint256 least) external {
        require(gasleft() >= least, "more gas");
        emit Wrote(msg.sender, least);
    }

    receive() external payable {
        assembly { invalid() }
    }
}
