//! The emulated account, and the names of what is in it.

/// Region of the emulated account.
pub const REGION: &str = "us-east-1";

/// Id of the emulated account.
pub const ACCOUNT: &str = "000000000000";

/// ARN of a function.
pub(crate) fn function_arn(name: &str) -> String {
    format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{name}")
}
