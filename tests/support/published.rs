use alloy::sol;

sol! {
    /// View functions of collections that only tests call.
    #[sol(rpc)]
    interface Published {
        function contractURI() external view returns (string memory);
        function owner() external view returns (address);
        function createReferrals(uint256 tokenId) external view returns (address);
        function getRoyalties(uint256 tokenId) external view returns (uint32 schedule, uint32 bps, address recipient);
    }
}
