//! Lets functions in containers use the stack, which listens on this machine's loopback alone: passes their connections
//! on, and rewrites the functions' environment so that it points to where they can reach it.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

use serde::Serialize;
use template::Template;
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
};

use crate::{Error, cloud::Endpoints, functions::environment, stack::StackMap};

const LOOPBACK: &str = "127.0.0.1";

/// What functions in containers find in their environment.
#[derive(Serialize)]
pub struct Environments {
    /// By the function's resource: what the template gives it.
    pub functions: BTreeMap<String, BTreeMap<String, String>>,
    /// What AWS's services are reached by, in every function alike.
    pub services: BTreeMap<String, String>,
}

/// Opens the stack to containers, which know this machine as `host`. Nothing else reaches that address.
///
/// # Errors
/// When the template can't be resolved, or a port is taken there.
pub async fn open(map: &StackMap, template: &Template, host: Ipv4Addr) -> Result<Environments, Error> {
    let endpoints = Endpoints { aws: map.aws.clone(), dynamodb: map.dynamodb.clone() };
    let mut ports = BTreeSet::new();
    let mut moved = |value: &str| {
        let after = value.split(LOOPBACK).skip(1).filter_map(|rest| rest.strip_prefix(':'));
        let digits = after.map(|rest| rest.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default());
        ports.extend(digits.filter_map(|digits| digits.parse::<u16>().ok()));
        value.replace(LOOPBACK, &host.to_string())
    };
    let services = endpoints.environment().map(|(name, value)| (name.to_owned(), moved(&value))).into();
    let mut functions = BTreeMap::new();
    for function in template.functions()? {
        let own = environment(&function, &map.names, [])?.into_iter();
        // Not the template's: SAM takes credentials from where it runs.
        let own = own.filter(|(name, _)| function.environment.contains_key(name));
        functions.insert(function.logical_id.clone(), own.map(|(name, value)| (name, moved(&value))).collect());
    }
    for port in ports {
        forward(TcpListener::bind((host, port)).await?, port);
    }
    Ok(Environments { functions, services })
}

/// Passes connections on to the same port of the loopback, until the runtime ends.
fn forward(listener: TcpListener, port: u16) {
    tokio::spawn(async move {
        while let Ok((mut container, _)) = listener.accept().await {
            tokio::spawn(async move {
                // Whichever side breaks off, the other one notices.
                if let Ok(mut service) = TcpStream::connect((LOOPBACK, port)).await {
                    let _ = copy_bidirectional(&mut container, &mut service).await;
                }
            });
        }
    });
}
