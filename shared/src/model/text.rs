use std::str::FromStr;

/// Parses decimal digits alone: no sign, no space.
pub(super) fn parse_digits<T: FromStr>(text: &str) -> Option<T> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if plain { text.parse().ok() } else { None }
}

/// Implements serde through `Display` and `FromStr`: stored values are parsed by the same rules as received ones.
macro_rules! serde_as_text {
    ($type:ty) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}
pub(crate) use serde_as_text;

/// Implements `Display` as that of the one field.
macro_rules! display_as_field {
    ($($type:ty),+) => {$(
        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, formatter)
            }
        }
    )+};
}
pub(crate) use display_as_field;

/// Implements `FromStr` and `Display` for an id that is a UUID.
macro_rules! uuid_as_text {
    ($($type:ty),+) => {$(
        impl std::str::FromStr for $type {
            type Err = crate::model::Invalid;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self).map_err(|_| crate::model::Invalid("must be a UUID"))
            }
        }
        crate::model::text::display_as_field!($type);
    )+};
}
pub(crate) use uuid_as_text;

/// Implements `FromStr` and `Display` for an enum whose variants are words.
macro_rules! words {
    ($type:ident, $refused:literal, $($value:ident = $word:literal),+) => {
        impl std::str::FromStr for $type {
            type Err = crate::model::Invalid;

            fn from_str(text: &str) -> Result<Self, crate::model::Invalid> {
                match text {
                    $($word => Ok(Self::$value),)+
                    _ => Err(crate::model::Invalid($refused)),
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(match self {
                    $(Self::$value => $word,)+
                })
            }
        }
    };
}
pub(crate) use words;
