//! What the published contract says of the domain's words: the form of each, beside no other rule than its parser's.

/// Describes a type that is sent as text: what it is, an example that its parser takes, and what else JSON Schema can
/// say of it, each as a setter of [`utoipa::openapi::ObjectBuilder`].
macro_rules! text_schema {
    ($type:ident, $description:literal, $example:literal $(, $setter:ident = $value:expr)* $(,)?) => {
        impl utoipa::ToSchema for $type {}

        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::String)
                    .description(Some($description))
                    .examples([$example])
                    $(.$setter(Some($value)))*
                    .into()
            }
        }
    };
}

/// The same for a whole number within bounds, which is answered as a JSON number.
macro_rules! whole_schema {
    ($type:ident, $description:literal, $example:literal, $least:expr, $most:expr) => {
        impl utoipa::ToSchema for $type {}

        impl utoipa::PartialSchema for $type {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                utoipa::openapi::ObjectBuilder::new()
                    .schema_type(utoipa::openapi::Type::Integer)
                    .description(Some($description))
                    .minimum(Some($least as usize))
                    .maximum(Some($most))
                    .examples([$example])
                    .into()
            }
        }
    };
}

/// The same for a whole number of 64 bits.
macro_rules! number_schema {
    ($type:ident, $description:literal, $example:literal) => {
        crate::model::schema::whole_schema!($type, $description, $example, 0, usize::MAX);
    };
}

/// A format of JSON Schema.
pub(super) fn format(name: &str) -> utoipa::openapi::SchemaFormat {
    utoipa::openapi::SchemaFormat::Custom(name.to_owned())
}

/// A text of one line that isn't empty: no control characters, and more than spaces.
pub(super) const LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$";

/// Decimal digits of a number under 10^77, and of most others that 256 bits hold.
pub(super) const DIGITS_256: &str = "^([0-9]{1,77}|1(0[0-9]|1[0-4])[0-9]{75})$";

pub(super) use {number_schema, text_schema, whole_schema};
