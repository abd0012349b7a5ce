//! Opens the stack to functions in containers. The stack listens on the loopback interface only, so this forwards their
//! connections and rewrites their environment to the forwarding address.

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

use crate::{Error, functions::environment, stack_map::StackMap};

const LOOPBACK: &str = "127.0.0.1";

/// Environments of functions in containers.
#[derive(Serialize)]
pub struct Environments {
    /// The template's variables, by the function's logical id.
    pub functions: BTreeMap<String, BTreeMap<String, String>>,
    /// The AWS variables, the same for every function.
    pub services: BTreeMap<String, String>,
}

/// Forwards the stack's ports on `host`, the address that containers reach this machine at and nothing else does.
pub async fn open(map: &StackMap, template: &Template, host: Ipv4Addr) -> Result<Environments, Error> {
    let endpoints = map.endpoints();
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
        // Only the template's variables: SAM passes its own credentials.
        let own = own.filter(|(name, _)| function.environment.contains_key(name));
        functions.insert(function.logical_id.clone(), own.map(|(name, value)| (name, moved(&value))).collect());
    }
    for port in ports {
        forward(TcpListener::bind((host, port)).await?, port);
    }
    Ok(Environments { functions, services })
}

/// Forwards connections to the same port on the loopback interface, until the runtime ends.
fn forward(listener: TcpListener, port: u16) {
    tokio::spawn(async move {
        while let Ok((mut container, _)) = listener.accept().await {
            tokio::spawn(async move {
                // An error closes both connections.
                if let Ok(mut service) = TcpStream::connect((LOOPBACK, port)).await {
                    let _ = copy_bidirectional(&mut container, &mut service).await;
                }
            });
        }
    });
}
