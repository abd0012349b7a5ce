use std::str::FromStr;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::{
    address::Address,
    email::Email,
    invalid::Invalid,
    passkey::{CeremonyId, PasskeyId},
    schema::{format, text_schema},
    text::{display_as_field, serde_as_text, uuid_as_text, words},
};

/// How long after it was added a passkey or a wallet counts, in seconds: whoever adds another's is told of in time.
pub const COUNTS_AFTER: u64 = 24 * 60 * 60;

/// Id of a proof that an artist was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProofId(Uuid);

text_schema!(ProofId, "Id of a proof.", "7c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5", format = format("uuid"),);

impl ProofId {
    /// A new random id.
    pub fn random() -> Self {
        Self(Uuid::new_v4())
    }
}

uuid_as_text!(ProofId);

/// What a proof allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "camelCase")]
pub enum ProofAct {
    /// Adding a passkey.
    AddPasskey,
    /// Removing a passkey.
    RemovePasskey,
    /// Keeping a passkey that is to be removed.
    KeepPasskey,
    /// Connecting a wallet that is to count as a way in.
    ConnectWallet,
    /// Disconnecting a wallet at once.
    DisconnectWallet,
    /// Another mail address taking the present one's place.
    ChangeEmail,
    /// Keeping the present mail address, which a wallet or a passkey has change.
    KeepEmail,
    /// A mailbox becoming the account's.
    NewEmail,
}

words!(
    ProofAct,
    "must be addPasskey, removePasskey, keepPasskey, connectWallet, disconnectWallet, changeEmail, keepEmail or newEmail",
    AddPasskey = "addPasskey",
    RemovePasskey = "removePasskey",
    KeepPasskey = "keepPasskey",
    ConnectWallet = "connectWallet",
    DisconnectWallet = "disconnectWallet",
    ChangeEmail = "changeEmail",
    KeepEmail = "keepEmail",
    NewEmail = "newEmail"
);
serde_as_text!(ProofAct);

impl ProofAct {
    /// Whether a mailed code proves it. What the mailbox may do anyway needs none, and what must not hang on it takes none.
    pub fn takes_code(self) -> bool {
        !matches!(self, Self::DisconnectWallet | Self::KeepEmail)
    }
}

/// How an artist proves something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum ProofWay {
    /// By a mailed code.
    Email,
    /// By a wallet's signature.
    Wallet,
    /// By a passkey's answer.
    Passkey,
}

words!(ProofWay, "must be email, wallet or passkey", Email = "email", Wallet = "wallet", Passkey = "passkey");
serde_as_text!(ProofWay);

/// What an act is about, as text: an id or a mail address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofSubject(String);

text_schema!(
    ProofSubject,
    "What the act is about: a ceremony, a passkey, a wallet's address, or the new mail address.",
    "5d41402abc4b2a76b9719d911017c592ae1f3a4b5c6d7e8f90a1b2c3d4e5f607",
    min_length = 1_usize,
    max_length = 320_usize,
);

impl FromStr for ProofSubject {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.is_empty() || text.chars().count() > 320 {
            return Err(Invalid("must have 1 to 320 characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

display_as_field!(ProofSubject);

/// What is proved: an act with its subject. A proof of one is none of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProvenAct {
    /// Adding what is made in this ceremony.
    AddPasskey(CeremonyId),
    /// Removing this passkey.
    RemovePasskey(PasskeyId),
    /// Keeping this passkey.
    KeepPasskey(PasskeyId),
    /// Connecting this wallet.
    ConnectWallet(Address),
    /// Disconnecting this wallet.
    DisconnectWallet(Address),
    /// This address taking the present one's place.
    ChangeEmail(Email),
    /// This address not taking the present one's place.
    KeepEmail(Email),
    /// This address belonging to who asks.
    NewEmail(Email),
}

impl ProvenAct {
    /// The act with a subject that fits it.
    pub fn new(act: ProofAct, ProofSubject(subject): &ProofSubject) -> Result<Self, Invalid> {
        Ok(match act {
            ProofAct::AddPasskey => Self::AddPasskey(subject.parse()?),
            ProofAct::RemovePasskey => Self::RemovePasskey(subject.parse()?),
            ProofAct::KeepPasskey => Self::KeepPasskey(subject.parse()?),
            ProofAct::ConnectWallet => Self::ConnectWallet(subject.parse()?),
            ProofAct::DisconnectWallet => Self::DisconnectWallet(subject.parse()?),
            ProofAct::ChangeEmail => Self::ChangeEmail(subject.parse()?),
            ProofAct::KeepEmail => Self::KeepEmail(subject.parse()?),
            ProofAct::NewEmail => Self::NewEmail(subject.parse()?),
        })
    }

    /// The act.
    pub fn act(&self) -> ProofAct {
        match self {
            Self::AddPasskey(_) => ProofAct::AddPasskey,
            Self::RemovePasskey(_) => ProofAct::RemovePasskey,
            Self::KeepPasskey(_) => ProofAct::KeepPasskey,
            Self::ConnectWallet(_) => ProofAct::ConnectWallet,
            Self::DisconnectWallet(_) => ProofAct::DisconnectWallet,
            Self::ChangeEmail(_) => ProofAct::ChangeEmail,
            Self::KeepEmail(_) => ProofAct::KeepEmail,
            Self::NewEmail(_) => ProofAct::NewEmail,
        }
    }

    /// The subject, as it is stored and authenticated.
    pub fn subject(&self) -> String {
        match self {
            Self::AddPasskey(ceremony) => ceremony.to_string(),
            Self::RemovePasskey(passkey) | Self::KeepPasskey(passkey) => passkey.to_string(),
            Self::ConnectWallet(wallet) | Self::DisconnectWallet(wallet) => wallet.to_string(),
            Self::ChangeEmail(email) | Self::KeepEmail(email) | Self::NewEmail(email) => email.to_string(),
        }
    }

    /// The passkey whose own answer counts, whatever its age: the one that goes or is to stay.
    pub fn own_passkey(&self) -> Option<&PasskeyId> {
        match self {
            Self::RemovePasskey(passkey) | Self::KeepPasskey(passkey) => Some(passkey),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subject_must_fit_the_act() {
        let passkey = PasskeyId::of(b"one");
        let subject: ProofSubject = passkey.to_string().parse().unwrap();
        assert_eq!(ProvenAct::new(ProofAct::RemovePasskey, &subject), Ok(ProvenAct::RemovePasskey(passkey)));
        for act in [ProofAct::AddPasskey, ProofAct::ConnectWallet, ProofAct::KeepEmail, ProofAct::NewEmail] {
            assert!(ProvenAct::new(act, &subject).is_err(), "{act}");
        }
        let long = "x".repeat(321);
        assert!(["", &long].iter().all(|text| text.parse::<ProofSubject>().is_err()));
    }
}
