// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

/// A stand-in for a collection of the editions protocol, for local chains and tests: its events, and functions enough to
/// make it emit them. Anyone may mint; its owner may do everything else.
contract Edition {
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId);
    event Minted(uint8 tier, address to, uint256 quantity, uint256 fromTokenId);
    event RolesUpdated(address indexed user, uint256 indexed roles);

    error Unauthorized();

    address public immutable owner;
    uint256 public totalMinted;
    mapping(uint256 => address) public ownerOf;

    constructor(address owner_) {
        owner = owner_;
        emit RolesUpdated(owner_, 1);
    }

    function mint(uint8 tier, address to, uint256 quantity) external {
        uint256 first = totalMinted + 1;
        totalMinted += quantity;
        for (uint256 token = first; token < first + quantity; token++) {
            ownerOf[token] = to;
            emit Transfer(address(0), to, token);
        }
        emit Minted(tier, to, quantity, first);
    }

    function transferFrom(address from, address to, uint256 token) external {
        if (msg.sender != from || ownerOf[token] != from) revert Unauthorized();
        ownerOf[token] = to;
        emit Transfer(from, to, token);
    }

    function setRoles(address user, uint256 roles) external {
        if (msg.sender != owner) revert Unauthorized();
        emit RolesUpdated(user, roles);
    }
}
