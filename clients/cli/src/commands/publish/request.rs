//! Makes requests' bodies of the options, before anything is sent.

use moments_client::types::{
    CreateMomentRequest, CreateMomentsRequest, ExistingContract, MetadataAttribute, MetadataRequest, MomentContract,
    NewSaleType, SalesConfig, StoredMedia, Title, TokenWithMetadata, TokenWithMetadataMaxSupply, Whole,
    error::ConversionError,
};

use crate::{arguments::Publish, failure::Failure, upload::Source};

/// Name of the trait that describes a picture.
const ALT: &str = "Alt text";

/// A file, and the moment that it becomes.
pub struct Work {
    pub source: Source,
    /// Without the file's address, which it has once it is uploaded.
    pub token: TokenWithMetadata,
}

/// The files, each of which is there, and has its own words if any has.
pub fn sources(arguments: &Publish) -> Result<Vec<Source>, Failure> {
    let count = arguments.files.len();
    for (name, given) in [("--title", arguments.title.len()), ("--alt", arguments.alt.len())] {
        if given != 0 && given != count {
            let wanted = format!("give it once for each file, in their order ({count})");
            return Err(Failure::Usage(format!("{name} doesn't fit the files: {wanted}")));
        }
    }
    arguments.files.iter().map(|path| Source::open(path)).collect()
}

/// The terms of the sale, in the currency of this contract, or else in the chain's own.
pub fn sale(arguments: &Publish, contract: Option<String>) -> Result<SalesConfig, Failure> {
    let price = arguments.price.amount.to_string();
    let sale = SalesConfig::builder().price_per_token(Some(parsed("--price", &price)?));
    let sale = match contract {
        None => sale.type_(Some(NewSaleType::FixedPrice)),
        Some(contract) => sale.type_(Some(NewSaleType::Erc20Mint)).currency(Some(parsed("--price", &contract)?)),
    };
    let sale = match arguments.start {
        Some(start) => sale.sale_start(Whole::Integer(start.0.into())),
        None => sale,
    };
    let sale = match arguments.end {
        Some(end) => sale.sale_end(Whole::Integer(end.0.into())),
        None => sale,
    };
    made("the sale", sale.try_into())
}

/// Each file with its moment.
pub fn works(arguments: &Publish, sources: Vec<Source>, sale: &SalesConfig) -> Result<Vec<Work>, Failure> {
    let work = |(at, source): (usize, Source)| {
        let title = arguments.title.get(at).cloned().unwrap_or_else(|| source.title());
        let token = token(arguments, &title, arguments.alt.get(at).map(String::as_str), sale)?;
        Ok(Work { source, token })
    };
    sources.into_iter().enumerate().map(work).collect()
}

fn token(
    arguments: &Publish,
    title: &str,
    alt: Option<&str>,
    sale: &SalesConfig,
) -> Result<TokenWithMetadata, Failure> {
    let title: Title = parsed("--title", title)?;
    let description = arguments.description.as_deref().map(|text| parsed("--description", text)).transpose()?;
    let attributes = alt.map(attributes).transpose()?;
    let metadata = MetadataRequest::builder().name(title).description(description).attributes(attributes);
    let metadata: MetadataRequest = made("the metadata", metadata.try_into())?;
    let token = TokenWithMetadata::builder().metadata(metadata).sales_config(sale.clone());
    let token = match arguments.copies {
        Some(copies) => token.max_supply(parsed::<TokenWithMetadataMaxSupply>("--copies", &copies.to_string())?),
        None => token,
    };
    made("the moment", token.try_into())
}

fn attributes(alt: &str) -> Result<Vec<MetadataAttribute>, Failure> {
    let attribute = MetadataAttribute::builder().trait_type(ALT).value(alt);
    Ok(vec![made("--alt", attribute.try_into())?])
}

/// A moment whose file is uploaded.
pub fn with_file(mut token: TokenWithMetadata, file: StoredMedia) -> TokenWithMetadata {
    let is_picture = file.content_type.starts_with("image/");
    let metadata = &mut token.metadata;
    *(if is_picture { &mut metadata.image } else { &mut metadata.animation_url }) = Some(file.uri);
    token
}

/// The body that creates a moment.
pub fn moment(arguments: &Publish, token: TokenWithMetadata) -> Result<CreateMomentRequest, Failure> {
    let body = CreateMomentRequest::builder().token(token).contract(contract(arguments));
    let body = match arguments.chain.clone() {
        Some(chain) => body.chain_id(chain),
        None => body,
    };
    made("the moment", body.try_into())
}

/// The body that creates several moments.
pub fn moments(arguments: &Publish, tokens: Vec<TokenWithMetadata>) -> Result<CreateMomentsRequest, Failure> {
    let tokens: Vec<_> = tokens.into_iter().map(Into::into).collect();
    let body = CreateMomentsRequest::builder().tokens(tokens).contract(contract(arguments));
    let body = match arguments.chain.clone() {
        Some(chain) => body.chain_id(chain),
        None => body,
    };
    made("the moments", body.try_into())
}

fn contract(arguments: &Publish) -> Option<MomentContract> {
    arguments.collection.clone().map(|address| ExistingContract { address }.into())
}

/// An option's value, if the service's description allows it.
fn parsed<T: std::str::FromStr<Err = ConversionError>>(option: &str, text: &str) -> Result<T, Failure> {
    text.parse().map_err(|error| Failure::option(option, error))
}

fn made<T>(what: &str, made: Result<T, ConversionError>) -> Result<T, Failure> {
    made.map_err(|error| Failure::option(what, error))
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use serde_json::json;

    use super::*;
    use crate::arguments::{Arguments, Command};

    fn publish(options: &[&str]) -> Publish {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let arguments = Arguments::try_parse_from([&["moments", "publish", file], options].concat());
        match arguments.expect("arguments").command {
            Command::Publish(publish) => publish,
            other => panic!("another command: {other:?}"),
        }
    }

    fn body(arguments: &Publish, currency: Option<&str>) -> Result<serde_json::Value, Failure> {
        let sale = sale(arguments, currency.map(str::to_owned))?;
        let work = works(arguments, sources(arguments)?, &sale)?.remove(0);
        Ok(serde_json::to_value(moment(arguments, work.token)?).expect("JSON"))
    }

    #[test]
    fn options_become_a_body() {
        let contract = format!("0x{}", "a".repeat(40));
        let options = ["--price", "5usdc", "--copies", "3", "--alt", "Keys", "--start", "2026-12-24T18:00:00Z"];
        let arguments = publish(&[&options[..], &["--collection", &contract, "--chain", "8453"]].concat());
        let body = body(&arguments, Some(&contract)).expect("a body");
        assert_eq!(body["token"]["metadata"]["name"], "Cargo");
        assert_eq!(body["token"]["metadata"]["attributes"], json!([{"trait_type": "Alt text", "value": "Keys"}]));
        assert_eq!(body["token"]["maxSupply"].to_string().trim_matches('"'), "3");
        let sale = &body["token"]["salesConfig"];
        assert_eq!((&sale["type"], &sale["pricePerToken"]), (&json!("erc20Mint"), &json!("5000000")));
        assert_eq!((&sale["currency"], &sale["saleStart"]), (&json!(contract), &json!(1_798_135_200)));
        assert_eq!(sale["saleEnd"], "18446744073709551615");
        assert_eq!((&body["contract"], &body["chainId"]), (&json!({"address": contract}), &json!(8453)));
    }

    #[test]
    fn without_options_it_is_an_open_edition_in_ones_own_collection() {
        let body = body(&publish(&["--price", "free"]), None).expect("a body");
        assert!(body["contract"].is_null() && body["token"]["maxSupply"] == "18446744073709551615", "{body}");
        let sale = &body["token"]["salesConfig"];
        assert_eq!((&sale["type"], &sale["pricePerToken"]), (&json!("fixedPrice"), &json!("0")));
    }

    #[test]
    fn what_the_service_would_refuse_is_not_uploaded() {
        let long = "x".repeat(201);
        for wrong in [["--title", &long], ["--title", ""], ["--title", "two\nlines"], ["--description", ""]] {
            let refused = body(&publish(&[&["--price", "free"], &wrong[..]].concat()), None).err();
            assert!(matches!(&refused, Some(Failure::Usage(line)) if line.starts_with(wrong[0])), "{refused:?}");
        }
        let twice = publish(&["--price", "free", "--title", "a", "--title", "b"]);
        assert!(matches!(sources(&twice), Err(Failure::Usage(_))));
    }

    #[test]
    fn a_file_is_a_picture_or_else_what_plays() {
        let token = || token(&publish(&["--price", "free"]), "A", None, &SalesConfig::default()).expect("a token");
        let file = |kind: &str| {
            let file = json!({"uri": "ipfs://a", "url": "https://a.example/a", "contentType": kind, "size": 1});
            with_file(token(), serde_json::from_value(file).expect("a file")).metadata
        };
        let (picture, film) = (file("image/png"), file("video/mp4"));
        assert!(picture.image.is_some() && picture.animation_url.is_none());
        assert!(film.image.is_none() && film.animation_url.is_some());
    }
}
