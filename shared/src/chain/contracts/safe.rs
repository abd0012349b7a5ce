//! Bindings of Safe v1.4.1: <https://github.com/safe-global/safe-smart-account/tree/v1.4.1/contracts>

#![expect(clippy::too_many_arguments, reason = "the contracts' functions have as many as they have")]

use alloy::sol;

sol! {
    #[derive(Debug, PartialEq, Eq)]
    #[sol(rpc)]
    interface Safe {
        /// Emitted by `SafeL2` before each transaction. `additionalInfo` holds nonce, sender and threshold.
        event SafeMultiSigTransaction(
            address to,
            uint256 value,
            bytes data,
            uint8 operation,
            uint256 safeTxGas,
            uint256 baseGas,
            uint256 gasPrice,
            address gasToken,
            address refundReceiver,
            bytes signatures,
            bytes additionalInfo
        );
        /// Emitted after each transaction, like `ExecutionFailure`. `payment` is gas used times `gasPrice`.
        event ExecutionSuccess(bytes32 indexed txHash, uint256 payment);
        event ExecutionFailure(bytes32 indexed txHash, uint256 payment);

        function setup(
            address[] calldata _owners,
            uint256 _threshold,
            address to,
            bytes calldata data,
            address fallbackHandler,
            address paymentToken,
            uint256 payment,
            address payable paymentReceiver
        ) external;
        function execTransaction(
            address to,
            uint256 value,
            bytes calldata data,
            uint8 operation,
            uint256 safeTxGas,
            uint256 baseGas,
            uint256 gasPrice,
            address gasToken,
            address payable refundReceiver,
            bytes memory signatures
        ) external payable returns (bool success);
        function execTransactionFromModule(address to, uint256 value, bytes memory data, uint8 operation)
            external
            returns (bool success);
        function addOwnerWithThreshold(address owner, uint256 _threshold) external;
        function removeOwner(address prevOwner, address owner, uint256 _threshold) external;
        function changeThreshold(uint256 _threshold) external;
        function swapOwner(address prevOwner, address oldOwner, address newOwner) external;
        function enableModule(address module) external;
        function disableModule(address prevModule, address module) external;
        function setGuard(address guard) external;
        function setFallbackHandler(address handler) external;
        function getOwners() external view returns (address[] memory);
        function getThreshold() external view returns (uint256);
        function getModulesPaginated(address start, uint256 pageSize)
            external
            view
            returns (address[] memory array, address next);
        function nonce() external view returns (uint256);
    }

    #[sol(rpc)]
    interface SafeProxyFactory {
        function createProxyWithNonce(address _singleton, bytes memory initializer, uint256 saltNonce)
            external
            returns (address proxy);
        function proxyCreationCode() external pure returns (bytes memory);
    }

    /// Runs several calls, as the account that delegates to it or, when called, as itself.
    #[derive(Debug, PartialEq, Eq)]
    interface MultiSendCallOnly {
        function multiSend(bytes memory transactions) external payable;
    }
}
