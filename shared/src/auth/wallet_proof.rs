//! Proof that a wallet is the caller's: a signed EIP-4361 message, so that wallets warn when another site asks for it.

use std::{fmt, str::FromStr, time::Duration};

use alloy::primitives::{B256, Bytes, Signature, eip191_hash_message};
use url::Url;
use uuid::Uuid;

use crate::{
    clock,
    http::Scalar,
    model::{Address, ChainId, Invalid, ProofAct},
    store::secret::CHALLENGE_LIFETIME,
};

/// Writes challenges in the name of the service's base URL.
#[derive(Clone, Debug)]
pub struct Challenger {
    base: Url,
}

/// What a signature is for, as the message says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A sign-in.
    SignIn,
    /// Connecting the wallet to the artist with this account: who is tricked into signing for another can notice.
    Connect(Address),
    /// An act in the account of this artist.
    Prove(ProofAct, Address),
}

/// A challenge to be signed, or one that came back with its signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message(String);

/// A wallet's signature as `0x` and hexadecimal digits: 65 bytes of a key, or up to 4096 bytes for a contract to judge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WalletSignature(Bytes);

impl Challenger {
    /// The messages' domain follows from `base`.
    pub fn new(base: Url) -> Self {
        Self { base }
    }

    /// A new message for `wallet` to sign.
    pub fn message(
        &self,
        wallet: Address,
        chain: ChainId,
        purpose: Purpose,
        now: Duration,
    ) -> Result<Message, time::Error> {
        let text = Text {
            domain: &self.base[url::Position::BeforeHost..url::Position::AfterPort],
            wallet,
            statement: &format!("{purpose} This costs nothing."),
            uri: self.base.as_str(),
            chain,
            nonce: &Uuid::new_v4().simple().to_string(),
            issued_at: &clock::iso_8601(now.as_secs())?,
            expires_at: &clock::iso_8601((now + CHALLENGE_LIFETIME).as_secs())?,
        };
        Ok(Message(text.to_string()))
    }
}

/// The fields of a message, as EIP-4361 orders and names them.
struct Text<'a> {
    domain: &'a str,
    wallet: Address,
    statement: &'a str,
    uri: &'a str,
    chain: ChainId,
    nonce: &'a str,
    issued_at: &'a str,
    expires_at: &'a str,
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, wallet, statement, uri, chain, nonce, issued_at, expires_at } = self;
        write!(
            formatter,
            "{domain} wants you to sign in with your Ethereum account:\n{}\n\n{statement}\n\n\
             URI: {uri}\nVersion: 1\nChain ID: {chain}\nNonce: {nonce}\n\
             Issued At: {issued_at}\nExpiration Time: {expires_at}",
            checksummed(*wallet)
        )
    }
}

impl Message {
    /// The message's text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hash that wallets sign for a text (EIP-191, `personal_sign`).
    pub fn hash(&self) -> B256 {
        eip191_hash_message(&self.0)
    }
}

impl WalletSignature {
    /// Whether the key of `wallet` signed a message with this hash. No call to a node.
    pub fn is_of_key(&self, wallet: Address, hash: &B256) -> bool {
        let signature = Signature::from_raw(&self.0).ok();
        let signer = signature.and_then(|signature| signature.recover_address_from_prehash(hash).ok());
        signer == Some(wallet.into())
    }

    /// The bytes, for a contract wallet to judge.
    pub fn as_bytes(&self) -> &Bytes {
        &self.0
    }
}

impl Scalar for Message {}

impl FromStr for Message {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.len() > 2000 {
            return Err(Invalid("must be the message of the challenge, as it was given"));
        }
        Ok(Self(text.to_owned()))
    }
}

impl Scalar for WalletSignature {}

impl FromStr for WalletSignature {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        const MAX_BYTES: usize = 4096;
        let bytes = text.strip_prefix("0x").and_then(|digits| alloy::hex::decode(digits).ok());
        match bytes {
            Some(bytes) if !bytes.is_empty() && bytes.len() <= MAX_BYTES => Ok(Self(bytes.into())),
            _ => Err(Invalid("must be a signature: 0x and the hexadecimal digits of 1 to 4096 bytes")),
        }
    }
}

impl fmt::Display for Purpose {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SignIn => formatter.write_str("Sign in as the artist whose wallet this is."),
            Self::Connect(account) => {
                write!(formatter, "Connect this wallet to the artist whose account is {}.", checksummed(*account))
            }
            Self::Prove(act, account) => {
                let what = match act {
                    ProofAct::AddPasskey => "Add a passkey to",
                    ProofAct::RemovePasskey => "Remove a passkey from",
                    ProofAct::KeepPasskey => "Keep a passkey of",
                    ProofAct::ConnectWallet => "Connect another wallet to",
                    ProofAct::DisconnectWallet => "Disconnect a wallet from",
                    ProofAct::ChangeEmail | ProofAct::NewEmail => "Change the mail address of",
                    ProofAct::KeepEmail => "Keep the mail address of",
                };
                write!(formatter, "{what} the artist whose account is {}.", checksummed(*account))
            }
        }
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// EIP-4361 requires addresses with the EIP-55 checksum.
fn checksummed(address: Address) -> String {
    alloy::primitives::Address::from(address).to_checksum(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_follows_eip_4361_and_has_a_new_nonce_each_time() {
        let challenger = Challenger { base: "https://moments.example:8443/api".parse().unwrap() };
        let wallet = "0x540c18b7f99b3b599c6feb99964498931c211858".parse().unwrap();
        let connect = Purpose::Connect("0x2994762aa0e4c750c51f333c10d81961faebe785".parse().unwrap());
        let make = || challenger.message(wallet, ChainId(8453), connect, Duration::from_secs(1_753_400_000)).unwrap();
        let message = make();
        let lines: Vec<_> = message.as_str().split('\n').collect();
        let nonce = lines[8].strip_prefix("Nonce: ").unwrap();
        assert_eq!(
            lines,
            [
                "moments.example:8443 wants you to sign in with your Ethereum account:",
                "0x540C18B7f99b3b599c6FeB99964498931c211858",
                "",
                "Connect this wallet to the artist whose account is 0x2994762aA0E4C750c51f333C10d81961faEBE785. This costs \
                 nothing.",
                "",
                "URI: https://moments.example:8443/api",
                "Version: 1",
                "Chain ID: 8453",
                lines[8],
                "Issued At: 2025-07-24T23:33:20Z",
                "Expiration Time: 2025-07-24T23:43:20Z",
            ]
        );
        assert!(nonce.len() >= 8 && nonce.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{nonce}");
        assert_ne!(message, make());
    }

    #[test]
    fn the_domain_is_an_authority_without_scheme_and_user_and_the_statement_one_line() {
        let account = "0x2994762aa0e4c750c51f333c10d81961faebe785".parse().unwrap();
        for (base, domain) in [
            ("https://moments.example/", "moments.example"),
            ("https://moments.example:443/api", "moments.example"),
            ("https://someone@moments.example/", "moments.example"),
            ("http://127.0.0.1:8080/api", "127.0.0.1:8080"),
            ("http://[::1]:8080/", "[::1]:8080"),
        ] {
            let challenger = Challenger::new(base.parse().unwrap());
            for purpose in [Purpose::SignIn, Purpose::Connect(account), Purpose::Prove(ProofAct::NewEmail, account)] {
                let message = challenger.message(account, ChainId(1), purpose, Duration::ZERO).unwrap();
                let lines: Vec<_> = message.as_str().lines().collect();
                assert_eq!(lines[0].split_once(' ').unwrap().0, domain, "{base}");
                assert_eq!((lines[4], lines.len()), ("", 11), "{message}");
            }
        }
    }

    #[test]
    fn published_vectors_of_eip_4361_are_taken_and_refused_as_they_say() {
        // test/verification_positive.json and verification_negative.json of spruceid/siwe. Times, nonces and domains
        // are the stored challenge's, whose text must come back whole.
        let (first, second, third) = (
            ("0x9d85ca56217d2bb651b00f15e694eb7e713637d4", "bTyXgcQxn2htgkjJn", "2022-01-27T17:09:38.578Z"),
            ("0x2eca0068307e706741445764a3d6a4402ac2a5a9", "lx2nx4so", "2022-01-05T14:27:30.883Z"),
            ("0x6da01670d8fc844e736095918bbe11fe8d564163", "rmplqh1gf", "2022-01-05T14:31:43.954Z"),
        );
        for ((wallet, nonce, issued_at), expires_at, signature, is_taken) in [
            (
                first,
                "2100-01-07T14:31:43.952Z",
                "0xdc35c7f8ba2720df052e0092556456127f00f7707eaa8e3bbff7e56774e7f2e05a093cfc9e02964c33d86e8e066e221b7d15\
                 3d27e5a2e97ccd5ca7d3f2ce06cb1b",
                true,
            ),
            (
                second,
                "2021-01-05T00:00:00Z",
                "0x7337bc2826c7678cd6bc84f5b3b236efc969b0451f9feca2328b1d3401b030c113f19bdba359ba3f52762c66e9147311fa95\
                 fe598a1a4ec9bb383a7b4e3874241b",
                true,
            ),
            (
                third,
                "2100-01-07T14:31:43.952Z",
                "0xf2e8420fc1b722bf4941f5a0464f98172a758ceda5039f622e425fb69fd19b20e444bba7c9a8a8d7e2b5e453553efe7c9460\
                 be5d211abe473fc146d51bb04d0cb1b",
                false,
            ),
            (
                third,
                "2100-01-07T14:31:43.952Z",
                "0x31df81dc02344c9156e6f71da46e2db624b38f8f806290d670d46492b834b2e7575cbce9f48169356cfb577b910d8e30732f\
                 cf23c1ac0021d08b945ed7ee118e1b",
                false,
            ),
        ] {
            let wallet = wallet.parse().unwrap();
            let (domain, uri) = ("login.xyz", "https://login.xyz");
            let statement = "Sign-In With Ethereum Example Statement";
            let text = Text { domain, wallet, statement, uri, chain: ChainId(1), nonce, issued_at, expires_at };
            let message: Message = text.to_string().parse().unwrap();
            let signature = signature.parse::<WalletSignature>();
            assert_eq!(signature.is_ok_and(|it| it.is_of_key(wallet, &message.hash())), is_taken, "{text}");
        }
    }

    #[test]
    fn only_a_signature_of_the_wallets_key_is_accepted() {
        // https://web3js.readthedocs.io/en/v1.10.0/web3-eth-accounts.html#sign
        let message: Message = "Some data".parse().unwrap();
        let signer = "0x2c7536e3605d9c16a7a3d7b1898e529396a65c23".parse().unwrap();
        let signature = "0xb91467e570a6466aa9e9876cbcd013baba02900b8979d43fe208a4a4f339f5fd6007e74cd82e037b800186422fc2da167c74\
                         7ef045e5d18a5f5d4300f8e1a0291c";
        let is_of_signer = |signature: &str, message: &Message| {
            signature.parse::<WalletSignature>().is_ok_and(|signature| signature.is_of_key(signer, &message.hash()))
        };
        assert!(is_of_signer(signature, &message));
        assert!(is_of_signer(&signature.replace("291c", "2901"), &message), "0 and 1 stand for 27 and 28");
        assert!(!is_of_signer(&signature.replace("291c", "291b"), &message));
        assert!(!is_of_signer(signature, &"Some date".parse().unwrap()));
        assert!(!is_of_signer(&format!("0x{}", "00".repeat(65)), &message));
        for text in ["", "0x", "0x1", "0xzz", "1b", &format!("0x{}", "00".repeat(4097))] {
            assert!(text.parse::<WalletSignature>().is_err(), "{text:?} was accepted");
        }
    }
}
