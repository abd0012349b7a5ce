//! Secrets in what the functions have logged.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use template::Template;

use crate::{Error, mail::Mail, pinning_service};

/// Shortest secret part of an API key or a token; their public parts are shorter.
const LEAST: usize = 20;

/// Lines of the functions' logs, in `logs` or in folders of it, with an API key, a token, a signed URL or an address that mail
/// went to. Codes aren't looked for: any six digits may be one.
pub fn findings(logs: &Path, template: &Template, mails: &[Mail]) -> Result<Vec<String>, Error> {
    let addresses: BTreeSet<&str> = mails.iter().flat_map(|mail| &mail.to).map(String::as_str).collect();
    let functions: BTreeSet<_> =
        template.functions()?.iter().map(|it| OsString::from(format!("{}.log", it.binary))).collect();
    let mut findings = Vec::new();
    for file in files(logs)?.iter().filter(|file| file.file_name().is_some_and(|name| functions.contains(name))) {
        let name = file.strip_prefix(logs).unwrap_or(file).display();
        for (number, line) in (1..).zip(fs::read_to_string(file)?.lines()) {
            if let Some(what) = secret(line, &addresses) {
                findings.push(format!("{name}:{number}: {what}"));
            }
        }
    }
    Ok(findings)
}

/// All files in a folder, at any depth.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files.extend(self::files(&path)?) } else { files.push(path) }
    }
    Ok(files)
}

fn secret(line: &str, addresses: &BTreeSet<&str>) -> Option<&'static str> {
    let has_long_word_after = |start: &str| {
        line.split(start).skip(1).any(|rest| {
            rest.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(byte)).count() >= LEAST
        })
    };
    if has_long_word_after("moments_") {
        return Some("an API key");
    }
    if has_long_word_after("eyJ") {
        return Some("a token");
    }
    if line.contains("X-Amz-Signature=") {
        return Some("a signed URL");
    }
    if line.contains(pinning_service::TOKEN) {
        return Some("the pinning service's token");
    }
    let mut words = line.split(|c: char| c.is_whitespace() || "\"'<>(),;:=\\".contains(c));
    words.any(|word| addresses.contains(word)).then_some("a mail address")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_and_public_parts_are_not() {
        let addresses = BTreeSet::from(["ada@example.com"]);
        for (line, found) in [
            (r#"{"key":"moments_4f8c2e6a9b1d3f5071829304a5b6c7d8e9f0a1b2"}"#, Some("an API key")),
            (r#"{"key":"moments_4f8c","function":"moments_relay"}"#, None),
            ("authorization: Bearer eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2ln", Some("a token")),
            ("https://bucket/uploads/1?X-Amz-Signature=12", Some("a signed URL")),
            (r#"{"to":"ada@example.com"}"#, Some("a mail address")),
            (r#"{"to":"grace@example.com"}"#, None),
        ] {
            assert_eq!(secret(line, &addresses), found, "{line}");
        }
    }
}
