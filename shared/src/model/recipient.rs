use std::{fmt, str::FromStr};

use utoipa::ToSchema;

use super::{address::CheckedAddress, artist::ArtistName, email::Email, invalid::Invalid, profile::Username};

/// Who gets money or tokens: an account, or an artist by username.
#[derive(Clone, Debug, PartialEq, Eq, ToSchema)]
#[serde(untagged)]
pub enum Recipient {
    /// An account.
    Account(CheckedAddress),
    /// A username.
    Username(Username),
}

impl FromStr for Recipient {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        match text.parse()? {
            ArtistName::Account(_) => text.parse().map(Self::Account),
            ArtistName::Username(username) => Ok(Self::Username(username)),
        }
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(CheckedAddress(account)) => account.fmt(formatter),
            Self::Username(username) => username.fmt(formatter),
        }
    }
}

/// Who is given a token: an account, an artist by username, or whoever has a mail address.
#[derive(Clone, Debug, PartialEq, Eq, ToSchema)]
#[serde(untagged)]
pub enum GiftRecipient {
    /// An account, or a username.
    Known(Recipient),
    /// A mail address.
    Mailbox(Email),
}

impl FromStr for GiftRecipient {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text.contains('@') { text.parse().map(Self::Mailbox) } else { text.parse().map(Self::Known) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gift_goes_to_a_mail_address_if_there_is_an_at_sign() {
        assert!(
            matches!("Mira@Example.com".parse(), Ok(GiftRecipient::Mailbox(email)) if email.as_str() == "mira@example.com")
        );
        assert!(matches!("mira".parse(), Ok(GiftRecipient::Known(Recipient::Username(_)))));
        for text in ["", "@mira", "mira@", "a"] {
            assert!(text.parse::<GiftRecipient>().is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn recipient_is_a_username_or_an_address_that_was_not_mistyped() {
        let right = "0x540C18B7f99b3b599c6FeB99964498931c211858";
        for text in ["mira", right, &right.to_lowercase()] {
            assert!(text.parse::<Recipient>().is_ok(), "{text} was refused");
        }
        for text in ["", "a", "0x540c18B7f99b3b599c6FeB99964498931c211858", &format!("0x{}", "0".repeat(40))] {
            assert!(text.parse::<Recipient>().is_err(), "{text} was accepted");
        }
    }
}
