// SPDX-License-Identifier: MIT
pragma solidity ^0.8.17;

/// Attacks whoever calls it in the way that `updateTokenURI`'s first argument chooses. Local chains only.
contract HostileCollection {
    event ExecutionSuccess(bytes32 indexed txHash, uint256 payment);
    event ExecutionFailure(bytes32 indexed txHash, uint256 payment);
    event URI(string value, uint256 indexed id);

    uint256 private burnt;

    function updateTokenURI(uint256 kind, string calldata uri) external {
        if (kind == 0) {
            assembly {
                invalid()
            }
        } else if (kind == 1) {
            while (true) burnt++;
        } else if (kind == 2) {
            assembly {
                return(0, 200000)
            }
        } else if (kind == 3) {
            assembly {
                revert(0, 200000)
            }
        } else if (kind == 4) {
            // The account's own transactions are its owner's.
            (bool done, ) = msg.sender.call(
                abi.encodeWithSignature(
                    "execTransaction(address,uint256,bytes,uint8,uint256,uint256,uint256,address,address,bytes)",
                    address(this), 0, "", 0, 0, 0, 0, address(0), address(0), ""
                )
            );
            require(done, "reentry");
        } else if (kind == 5) {
            emit ExecutionSuccess(bytes32(0), 1);
            emit ExecutionFailure(bytes32(0), 1);
            emit URI(uri, kind);
            revert("forged");
        } else if (kind == 6) {
            require(gasleft() > 1_000_000, "too little gas");
        } else if (kind == 7) {
            // Leaves next to nothing to its callers.
            while (gasleft() > 300) burnt = gasleft();
        }
    }
}
