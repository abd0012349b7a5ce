//! Fifty hostile files: each is refused, whatever it is announced as, or shown as nothing but a picture or a text.

use media::content::{Found, check_text, look};
use shared::model::{Dag, Invalid, disposition};

const SVG: &str = "http://www.w3.org/2000/svg";
const HTML: &str = "http://www.w3.org/1999/xhtml";

/// As the service decides: the type that a file is served as, or why it isn't.
fn decide(declared: &str, content: &[u8]) -> Result<&'static str, String> {
    let declared = declared.parse().map_err(|Invalid(words)| words.to_owned())?;
    let Found { mime, is_text } = look(declared, content.len() as u64, content)?;
    if is_text {
        check_text(declared, content)?;
    }
    Ok(mime)
}

/// What a vector picture must not have within, or around it.
fn vectors() -> Vec<String> {
    let within = [
        "<script>alert(1)</script>",
        "<script href='https://x'/>",
        "<s:script xmlns:s='http://www.w3.org/2000/svg'>alert(1)</s:script>",
        "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml'>Sign in again</body></foreignObject>",
        "<iframe xmlns='http://www.w3.org/1999/xhtml' src='https://x'/>",
        "<form xmlns='http://www.w3.org/1999/xhtml' action='https://x'><input/></form>",
        "<meta xmlns='http://www.w3.org/1999/xhtml' http-equiv='refresh' content='0;url=https://x'/>",
        "<embed xmlns='http://www.w3.org/1999/xhtml' src='https://x'/>",
        "<handler xmlns='http://www.w3.org/2000/svg'/>",
        "<audio xmlns='http://www.w3.org/1999/xhtml' onerror='alert(1)' src='x'/>",
        "<g onload='alert(1)'/>",
        "<rect onfocus='alert(1)' tabindex='1' autofocus=''/>",
        "<animate onbegin='alert(1)' attributeName='x' dur='1s'/>",
        "<a href='javascript:alert(1)'><text>x</text></a>",
        "<a href='java&#x0A;script:alert(1)'><text>x</text></a>",
        "<a href='https://x'><text>Sign in again</text></a>",
        "<a href='//x'><text>x</text></a>",
        "<a href='data:text/html,x'><text>x</text></a>",
        "<image href='https://x/pixel.png'/>",
        "<image href='data:image/svg+xml;base64,PHN2Zy8+'/>",
        "<feImage href='https://x/y.png'/>",
        "<use href='https://x#a'/>",
        "<use href='data:image/svg+xml;base64,PHN2Zy8+#a'/>",
        "<set attributeName='href' to='javascript:alert(1)'/>",
        "<animate attributeName='xlink:href' values='javascript:alert(1)'/>",
        "<set attributeName='onmouseover' to='alert(1)'/>",
        "<style>@import url(https://x);</style>",
        "<style>@font-face { font-family: x; src: url(https://x) }</style>",
        "<style>rect { background: u\\72l(https://x) }</style>",
        "<style>/**/rect { fill: url(https://x) }</style>",
        "<rect fill='url(https://x#a)'/>",
        "<rect style='fill:url(//x)'/>",
        "<rect filter='url(data:image/svg+xml,x#a)'/>",
        "<g xml:base='https://x'/>",
        "<g ev:event='load' xmlns:ev='http://www.w3.org/2001/xml-events'/>",
        "<?xml-stylesheet href='https://x/x.xsl' type='text/xsl'?>",
    ];
    let around = [
        format!("<h:div xmlns:h='{HTML}'><svg xmlns='{SVG}'/><h:a href='https://x'>Sign in again</h:a></h:div>"),
        format!("<html xmlns='{HTML}'><body><svg xmlns='{SVG}'/></body></html>"),
        format!("<?xml-stylesheet href='https://x/x.xsl' type='text/xsl'?><svg xmlns='{SVG}'/>"),
        format!("<!DOCTYPE svg [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><svg xmlns='{SVG}'><text>&x;</text></svg>"),
        format!("<!DOCTYPE svg [<!ENTITY a '0123456789'><!ENTITY b '&a;&a;&a;&a;'>]><svg xmlns='{SVG}'>&b;</svg>"),
        format!("<!DOCTYPE svg [<!ATTLIST svg onload CDATA 'alert(1)'>]><svg xmlns='{SVG}'/>"),
        format!("<svg xmlns='{SVG}'>{}</svg>", "<g/>".repeat(200_001)),
        "<svg><script>alert(1)</script></svg>".to_owned(),
        format!("<svg xmlns='{SVG}'/><script>alert(1)</script>"),
    ];
    within.iter().map(|inside| format!("<svg xmlns='{SVG}'>{inside}</svg>")).chain(around).collect()
}

#[test]
fn fifty_hostile_files_are_refused() {
    let others: [(&str, &[u8]); 14] = [
        ("image/png", b"<!DOCTYPE html><script>alert(1)</script>"),
        ("image/png", b"PK\x03\x04\x14\0\0\0\x08\0 a zip bomb"),
        ("image/svg+xml", b"\x1f\x8b\x08\0\0\0\0\0 a compressed one"),
        ("image/svg+xml", b"\xff\xfe<\0s\0v\0g\0"),
        ("application/pdf", b"MZ\x90\0\x03\0\0\0 a program"),
        ("audio/mpeg", b"\x7fELF\x02\x01\x01\0 another"),
        ("video/mp4", b"#!/bin/sh\nrm -rf /"),
        ("text/plain", b"<!DOCTYPE html><script>alert(1)</script>"),
        ("text/plain", b"a word\0 and a zero"),
        ("text/plain", b"\x1b[2J steers a terminal"),
        ("application/json", b"{\"a\": 1}<script>"),
        ("model/gltf-binary", b"Rar!\x1a\x07\x01\0"),
        ("application/octet-stream", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"),
        ("application/octet-stream", b"<!DOCTYPE html>"),
    ];
    let vectors = vectors();
    let files = vectors.iter().map(|text| ("image/svg+xml", text.as_bytes())).chain(others);
    let files: Vec<_> = files.collect();
    assert!(files.len() >= 50, "{} files", files.len());
    for (declared, content) in files {
        let decided = decide(declared, content);
        assert!(decided.is_err(), "{decided:?}: {}", String::from_utf8_lossy(&content[..content.len().min(200)]));
    }
}

#[test]
fn what_is_two_things_at_once_is_served_as_the_harmless_one() {
    assert_eq!(decide("image/gif", b"GIF89a/*\0*/=1;alert(1)//<script>alert(1)</script>"), Ok("image/gif"));
    // A document of any page, with scripts of its own: saved, and in a sandbox.
    let pdf =
        decide("application/pdf", b"%PDF-1.7\n/OpenAction << /S /JavaScript /JS (app.alert(1)) >>").expect("a PDF");
    assert!(disposition(Dag::cid_of(b"%PDF"), pdf).starts_with("attachment"), "{pdf}");
    let text = decide("text/plain", b"A text about <script>alert(1)</script>");
    assert_eq!(text, Ok("text/plain; charset=utf-8"));
}
