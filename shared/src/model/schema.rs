//! Schemas of domain types in `openapi.json`; each must agree with the type's parser.

/// Schema of a type that is sent as text: description, example, setters of [`utoipa::openapi::ObjectBuilder`].
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

macro_rules! number_schema {
    ($type:ident, $description:literal, $example:literal) => {
        crate::model::schema::whole_schema!($type, $description, $example, 0, crate::model::Whole::MOST_SAFE as usize);
    };
}

pub(super) fn format(name: &str) -> utoipa::openapi::SchemaFormat {
    utoipa::openapi::SchemaFormat::Custom(name.to_owned())
}

/// One line of text: no control characters, not only spaces.
pub(super) const LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$";

/// Decimal digits of a number below 1.15 * 10^77, which is just under 2^256.
pub(super) const DIGITS_256: &str = "^([0-9]{1,77}|1(0[0-9]|1[0-4])[0-9]{75})$";

pub(super) use {number_schema, text_schema, whole_schema};
