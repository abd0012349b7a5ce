// SPDX-License-Identifier: MIT
pragma solidity 0.8.17;

/// What a comment needs to know of the collection that it is on.
interface ICollection {
    function isAdminOrRole(address user, uint256 tokenId, uint256 role) external view returns (bool);

    function balanceOf(address account, uint256 tokenId) external view returns (uint256);
}

/// What a smart wallet says of who owns it.
interface IMultiOwnable {
    function isOwnerAddress(address account) external view returns (bool);
}

/// A stand-in for the comments protocol, for local chains and tests. It has the deployed contract's interface and its
/// rules up to version 0.0.3: who may comment, what a spark costs, what can be replied to. Signed permits are left out,
/// and sparks stay here instead of being shared between creator, referrer and protocol.
///
/// Nothing is set by a constructor, so that its code works at any address it is put at.
contract Comments {
    struct CommentIdentifier {
        address commenter;
        address contractAddress;
        uint256 tokenId;
        bytes32 nonce;
    }

    struct StoredComment {
        bool exists;
        uint256 sparksQuantity;
    }

    event Commented(
        bytes32 indexed commentId,
        CommentIdentifier commentIdentifier,
        bytes32 replyToId,
        CommentIdentifier replyTo,
        uint256 sparksQuantity,
        string text,
        uint256 timestamp,
        address referrer
    );
    event BackfilledComment(
        bytes32 indexed commentId,
        CommentIdentifier commentIdentifier,
        string text,
        uint256 timestamp,
        bytes32 originalTransactionId
    );
    event SparkedComment(
        bytes32 indexed commentId,
        CommentIdentifier commentIdentifier,
        uint256 sparksQuantity,
        address sparker,
        uint256 timestamp,
        address referrer
    );
    event RoleGranted(bytes32 indexed role, address indexed account, address indexed sender);

    error AccessControlUnauthorizedAccount(address account, bytes32 neededRole);
    error ArrayLengthMismatch();
    error CannotSparkOwnComment();
    error CommentAddressOrTokenIdsDoNotMatch(
        address commentAddress,
        uint256 commentTokenId,
        address replyAddress,
        uint256 replyTokenId
    );
    error CommentDoesntExist();
    error CommenterMismatch(address expected, address actual);
    error DuplicateComment(bytes32 commentId);
    error EmptyComment();
    error IncorrectETHAmountForSparks(uint256 actual, uint256 expected);
    error InvalidInitialization();
    error MustSendAtLeastOneSpark();
    error NotSmartWallet();
    error NotSmartWalletOwner();
    error NotTokenHolderOrAdmin();

    bytes32 public constant DEFAULT_ADMIN_ROLE = 0;
    bytes32 public constant BACKFILLER_ROLE = keccak256("BACKFILLER_ROLE");
    bytes32 public constant DELEGATE_COMMENTER = keccak256("DELEGATE_COMMENTER");
    uint256 public constant PERMISSION_BIT_ADMIN = 2;

    uint256 public constant sparkValue = 0.000001 ether;

    mapping(bytes32 => mapping(address => bool)) public hasRole;
    mapping(bytes32 => StoredComment) private comments;
    uint256 private commentCount;
    bool private initialized;

    modifier onlyRole(bytes32 role) {
        if (!hasRole[role][msg.sender]) revert AccessControlUnauthorizedAccount(msg.sender, role);
        _;
    }

    /// Gives `admin` every role. Works once.
    function initialize(address admin) external {
        if (initialized) revert InvalidInitialization();
        initialized = true;
        _grantRole(DEFAULT_ADMIN_ROLE, admin);
        _grantRole(DELEGATE_COMMENTER, admin);
        _grantRole(BACKFILLER_ROLE, admin);
    }

    function grantRole(bytes32 role, address account) external onlyRole(DEFAULT_ADMIN_ROLE) {
        _grantRole(role, account);
    }

    /// Comments, or replies when `replyTo` is not empty. Free for an admin of the token; a holder pays one spark.
    function comment(
        address commenter,
        address contractAddress,
        uint256 tokenId,
        string calldata text,
        CommentIdentifier calldata replyTo,
        address commenterSmartWallet,
        address referrer
    ) external payable returns (CommentIdentifier memory commentIdentifier) {
        if (commenter != msg.sender) revert CommenterMismatch(commenter, msg.sender);
        _checkSmartWallet(commenter, commenterSmartWallet);
        _checkMayComment(ICollection(contractAddress), tokenId, commenter, commenterSmartWallet);
        commentIdentifier = _nextIdentifier(commenter, contractAddress, tokenId);
        _comment(commentIdentifier, text, replyTo, referrer);
    }

    /// Comments for somebody else, who has shown the caller that they may: the caller pays no spark or one.
    function delegateComment(
        address commenter,
        address contractAddress,
        uint256 tokenId,
        string calldata text,
        CommentIdentifier calldata replyTo,
        address commenterSmartWalletOwner,
        address referrer
    )
        external
        payable
        onlyRole(DELEGATE_COMMENTER)
        returns (CommentIdentifier memory commentIdentifier, bytes32 commentId)
    {
        _checkSmartWallet(commenter, commenterSmartWalletOwner);
        commentIdentifier = _nextIdentifier(commenter, contractAddress, tokenId);
        commentId = _comment(commentIdentifier, text, replyTo, referrer);
    }

    function sparkComment(
        CommentIdentifier calldata commentIdentifier,
        uint256 sparksQuantity,
        address referrer
    ) external payable {
        if (sparksQuantity == 0) revert MustSendAtLeastOneSpark();
        if (msg.value != sparksQuantity * sparkValue) {
            revert IncorrectETHAmountForSparks(msg.value, sparksQuantity * sparkValue);
        }
        if (commentIdentifier.commenter == msg.sender) revert CannotSparkOwnComment();
        (bytes32 commentId, bool exists) = hashAndCheckCommentExists(commentIdentifier);
        if (!exists) revert CommentDoesntExist();
        comments[commentId].sparksQuantity += sparksQuantity;
        emit SparkedComment(commentId, commentIdentifier, sparksQuantity, msg.sender, block.timestamp, referrer);
    }

    /// Stores comments that were made elsewhere, under the identifiers that they had there.
    function backfillBatchAddComment(
        CommentIdentifier[] calldata commentIdentifiers,
        string[] calldata texts,
        uint256[] calldata timestamps,
        bytes32[] calldata originalTransactionHashes
    ) external onlyRole(BACKFILLER_ROLE) {
        uint256 count = commentIdentifiers.length;
        if (texts.length != count || timestamps.length != count || originalTransactionHashes.length != count) {
            revert ArrayLengthMismatch();
        }
        for (uint256 i = 0; i < count; i++) {
            bytes32 commentId = _store(commentIdentifiers[i]);
            emit BackfilledComment(
                commentId,
                commentIdentifiers[i],
                texts[i],
                timestamps[i],
                originalTransactionHashes[i]
            );
        }
    }

    function hashCommentIdentifier(CommentIdentifier memory commentIdentifier) public pure returns (bytes32) {
        return keccak256(abi.encode(commentIdentifier));
    }

    function hashAndCheckCommentExists(
        CommentIdentifier memory commentIdentifier
    ) public view returns (bytes32 commentId, bool exists) {
        commentId = hashCommentIdentifier(commentIdentifier);
        exists = comments[commentId].exists;
    }

    function commentSparksQuantity(CommentIdentifier memory commentIdentifier) external view returns (uint256) {
        return comments[hashCommentIdentifier(commentIdentifier)].sparksQuantity;
    }

    /// The nonce that the next comment gets, on whichever collection.
    function nextNonce() external view returns (bytes32) {
        return bytes32(commentCount);
    }

    function contractVersion() external pure returns (string memory) {
        return "0.0.3";
    }

    function _comment(
        CommentIdentifier memory commentIdentifier,
        string calldata text,
        CommentIdentifier calldata replyTo,
        address referrer
    ) private returns (bytes32 commentId) {
        if (bytes(text).length == 0) revert EmptyComment();
        bytes32 replyToId = _checkParent(commentIdentifier, replyTo);
        commentId = _store(commentIdentifier);
        uint256 sparks = _sparksSent();
        emit Commented(commentId, commentIdentifier, replyToId, replyTo, sparks, text, block.timestamp, referrer);
    }

    function _nextIdentifier(
        address commenter,
        address contractAddress,
        uint256 tokenId
    ) private returns (CommentIdentifier memory) {
        return CommentIdentifier(commenter, contractAddress, tokenId, bytes32(commentCount++));
    }

    function _store(CommentIdentifier memory commentIdentifier) private returns (bytes32 commentId) {
        bool exists;
        (commentId, exists) = hashAndCheckCommentExists(commentIdentifier);
        if (exists) revert DuplicateComment(commentId);
        comments[commentId].exists = true;
    }

    function _checkMayComment(
        ICollection collection,
        uint256 tokenId,
        address commenter,
        address smartWallet
    ) private view {
        if (
            collection.isAdminOrRole(commenter, tokenId, PERMISSION_BIT_ADMIN) ||
            (smartWallet != address(0) && collection.isAdminOrRole(smartWallet, tokenId, PERMISSION_BIT_ADMIN))
        ) return;
        if (
            collection.balanceOf(commenter, tokenId) == 0 &&
            (smartWallet == address(0) || collection.balanceOf(smartWallet, tokenId) == 0)
        ) revert NotTokenHolderOrAdmin();
        if (msg.value == 0) revert MustSendAtLeastOneSpark();
    }

    function _checkSmartWallet(address owner, address smartWallet) private view {
        if (smartWallet == address(0)) return;
        if (smartWallet.code.length == 0) revert NotSmartWallet();
        if (!IMultiOwnable(smartWallet).isOwnerAddress(owner)) revert NotSmartWalletOwner();
    }

    /// The id of the comment that is replied to; 0 for a comment at top level.
    function _checkParent(
        CommentIdentifier memory commentIdentifier,
        CommentIdentifier calldata parent
    ) private view returns (bytes32 parentId) {
        if (parent.commenter == address(0)) return 0;
        if (
            parent.contractAddress != commentIdentifier.contractAddress || parent.tokenId != commentIdentifier.tokenId
        ) {
            revert CommentAddressOrTokenIdsDoNotMatch(
                commentIdentifier.contractAddress,
                commentIdentifier.tokenId,
                parent.contractAddress,
                parent.tokenId
            );
        }
        bool exists;
        (parentId, exists) = hashAndCheckCommentExists(parent);
        if (!exists) revert CommentDoesntExist();
    }

    /// A comment carries one spark at most.
    function _sparksSent() private view returns (uint256) {
        if (msg.value != 0 && msg.value != sparkValue) revert IncorrectETHAmountForSparks(msg.value, sparkValue);
        return msg.value / sparkValue;
    }

    function _grantRole(bytes32 role, address account) private {
        hasRole[role][account] = true;
        emit RoleGranted(role, account, msg.sender);
    }
}
