//! `#[derive(FromFields)]`: makes a request's parser from the same fields and attributes as its schema.
#![warn(missing_docs)]

use heck::ToLowerCamelCase;
use proc_macro2::{TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{Attribute, Data, DeriveInput, Error, LitStr, Token, ext::IdentExt, meta::ParseNestedMeta};

/// Implements `shared::http::{FromFields, FromField}` for a struct. Fields are read in their order, all of them, so that
/// every wrong one is reported.
///
/// utoipa's `rename`, `rename_all = "camelCase"`, `default`, `min_items` and `max_items` also drive the parser.
///
/// `#[field(…)]` says what no schema says: on a field, `default = value` for one that isn't published and `flatten` for a
/// type whose fields stand beside the others; on the struct, `check` calls `Self::check(&self, &Fields)` at the end.
#[proc_macro_derive(FromFields, attributes(field, schema, param, into_params))]
pub fn from_fields(input: proc_macro::TokenStream) -> proc_macro::TokenStream {
    let expanded = syn::parse(input).and_then(|input| expand(&input));
    expanded.unwrap_or_else(Error::into_compile_error).into()
}

fn expand(input: &DeriveInput) -> syn::Result<TokenStream> {
    let Data::Struct(body) = &input.data else {
        return Err(Error::new_spanned(&input.ident, "FromFields is for structs with named fields"));
    };
    let container = Attributes::of(&input.attrs)?;
    let names: Vec<_> = body.fields.iter().filter_map(|field| field.ident.as_ref()).collect();
    let reads =
        body.fields.iter().map(|field| read(field, container.is_camel_case)).collect::<syn::Result<Vec<_>>>()?;
    let (name, check) = (&input.ident, container.is_checked.then(|| quote!(Self::check(&value, fields);)));
    let (impl_generics, generics, clause) = input.generics.split_for_impl();
    Ok(quote! {
        impl #impl_generics ::shared::http::FromFields for #name #generics #clause {
            fn from_fields(fields: &::shared::http::Fields<'_>) -> ::core::option::Option<Self> {
                #(let #names = #reads;)*
                let value = Self { #(#names: #names?),* };
                #check
                ::core::option::Option::Some(value)
            }
        }

        impl #impl_generics ::shared::http::FromField for #name #generics #clause {
            fn from_field(field: &::shared::http::Field<'_>) -> ::core::option::Option<Self> {
                field.read_object()
            }
        }
    })
}

/// The expression that reads one field.
fn read(field: &syn::Field, is_camel_case: bool) -> syn::Result<TokenStream> {
    let Some(ident) = &field.ident else {
        return Err(Error::new_spanned(field, "FromFields is for structs with named fields"));
    };
    let Attributes { rename, default, min_items, max_items, is_flat, .. } = Attributes::of(&field.attrs)?;
    if is_flat {
        return Ok(quote!(::shared::http::FromFields::from_fields(fields)));
    }
    let ident = ident.unraw().to_string();
    let name = rename.unwrap_or_else(|| if is_camel_case { ident.to_lower_camel_case() } else { ident });
    let default = default.map(|value| quote!(.or(#value)));
    let count = match (min_items, max_items) {
        (min, Some(max)) => {
            let min = min.unwrap_or_else(|| quote!(0));
            Some(quote!(.count(#min..=#max)))
        }
        (None, None) => None,
        (Some(_), None) => return Err(Error::new_spanned(field, "a list needs max_items")),
    };
    Ok(quote!(fields.field(#name) #default #count .read()))
}

/// What the attributes of a struct or field say to the parser.
#[derive(Default)]
struct Attributes {
    is_camel_case: bool,
    is_checked: bool,
    is_flat: bool,
    rename: Option<String>,
    default: Option<TokenStream>,
    min_items: Option<TokenStream>,
    max_items: Option<TokenStream>,
}

impl Attributes {
    fn of(attributes: &[Attribute]) -> syn::Result<Self> {
        let mut all = Self::default();
        for attribute in attributes {
            let is_own = attribute.path().is_ident("field");
            if is_own || ["schema", "param", "into_params"].iter().any(|name| attribute.path().is_ident(name)) {
                attribute.parse_nested_meta(|meta| all.add(&meta, is_own))?;
            }
        }
        Ok(all)
    }

    fn add(&mut self, meta: &ParseNestedMeta<'_>, is_own: bool) -> syn::Result<()> {
        let is = |name: &str| meta.path.is_ident(name);
        if is("rename") {
            self.rename = Some(meta.value()?.parse::<LitStr>()?.value());
        } else if is("rename_all") {
            let case: LitStr = meta.value()?.parse()?;
            if case.value() != "camelCase" {
                return Err(Error::new_spanned(case, "FromFields knows camelCase alone"));
            }
            self.is_camel_case = true;
        } else if is("default") {
            self.default = Some(json(value(meta)?));
        } else if is("min_items") {
            self.min_items = Some(value(meta)?);
        } else if is("max_items") {
            self.max_items = Some(value(meta)?);
        } else if is_own && is("flatten") {
            self.is_flat = true;
        } else if is_own && is("check") {
            self.is_checked = true;
        } else if is_own {
            return Err(meta.error("FromFields knows default, flatten and check alone"));
        } else {
            // What only the schema needs.
            value(meta)?;
        }
        Ok(())
    }
}

/// The tokens up to the next comma.
fn value(meta: &ParseNestedMeta<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    if meta.input.peek(Token![=]) {
        meta.input.parse::<Token![=]>()?;
    }
    while !meta.input.is_empty() && !meta.input.peek(Token![,]) {
        meta.input.parse::<TokenTree>()?.to_tokens(&mut tokens);
    }
    Ok(tokens)
}

/// A default as JSON: utoipa takes literals and `json!(…)`.
fn json(value: TokenStream) -> TokenStream {
    match value.clone().into_iter().collect::<Vec<_>>().as_slice() {
        [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Group(group)] if name == "json" => {
            let inner = group.stream();
            quote!(::shared::http::json!(#inner))
        }
        _ => quote!(::shared::http::json!(#value)),
    }
}
