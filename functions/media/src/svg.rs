//! Which vector pictures are taken: those that are nothing but a picture, wherever they are shown. The
//! `Content-Security-Policy` that files are served with is a second door; other sites that show these files have none.

use roxmltree::{Attribute, Document, Node, ParsingOptions};

const SVG: &str = "http://www.w3.org/2000/svg";
const XLINK: &str = "http://www.w3.org/1999/xlink";
const XML: &str = "http://www.w3.org/XML/1998/namespace";

/// Most elements and texts of a picture.
const MAX_NODES: u32 = 200_000;

/// Elements that draw, describe or animate (<https://www.w3.org/TR/SVG2/eltindex.html>), without those that run code, show
/// another document or lead elsewhere.
const ELEMENTS: &[&str] = &[
    "a",
    "animate",
    "animateMotion",
    "animateTransform",
    "circle",
    "clipPath",
    "defs",
    "desc",
    "ellipse",
    "feBlend",
    "feColorMatrix",
    "feComponentTransfer",
    "feComposite",
    "feConvolveMatrix",
    "feDiffuseLighting",
    "feDisplacementMap",
    "feDistantLight",
    "feDropShadow",
    "feFlood",
    "feFuncA",
    "feFuncB",
    "feFuncG",
    "feFuncR",
    "feGaussianBlur",
    "feImage",
    "feMerge",
    "feMergeNode",
    "feMorphology",
    "feOffset",
    "fePointLight",
    "feSpecularLighting",
    "feSpotLight",
    "feTile",
    "feTurbulence",
    "filter",
    "g",
    "image",
    "line",
    "linearGradient",
    "marker",
    "mask",
    "metadata",
    "mpath",
    "path",
    "pattern",
    "polygon",
    "polyline",
    "radialGradient",
    "rect",
    "set",
    "stop",
    "style",
    "svg",
    "switch",
    "symbol",
    "text",
    "textPath",
    "title",
    "tspan",
    "use",
    "view",
];

/// Attributes of these elements, and properties of CSS that are attributes as well.
const ATTRIBUTES: &[&str] = &[
    "accumulate",
    "additive",
    "alignment-baseline",
    "amplitude",
    "attributeName",
    "attributeType",
    "azimuth",
    "baseFrequency",
    "baseProfile",
    "baseline-shift",
    "begin",
    "bias",
    "by",
    "calcMode",
    "class",
    "clip",
    "clip-path",
    "clip-rule",
    "clipPathUnits",
    "color",
    "color-interpolation",
    "color-interpolation-filters",
    "color-rendering",
    "cursor",
    "cx",
    "cy",
    "d",
    "diffuseConstant",
    "direction",
    "display",
    "divisor",
    "dominant-baseline",
    "dur",
    "dx",
    "dy",
    "edgeMode",
    "elevation",
    "enable-background",
    "end",
    "exponent",
    "fill",
    "fill-opacity",
    "fill-rule",
    "filter",
    "filterRes",
    "filterUnits",
    "flood-color",
    "flood-opacity",
    "font-family",
    "font-feature-settings",
    "font-size",
    "font-size-adjust",
    "font-stretch",
    "font-style",
    "font-variant",
    "font-weight",
    "fr",
    "from",
    "fx",
    "fy",
    "glyph-orientation-vertical",
    "gradientTransform",
    "gradientUnits",
    "height",
    "href",
    "id",
    "image-rendering",
    "in",
    "in2",
    "intercept",
    "isolation",
    "k1",
    "k2",
    "k3",
    "k4",
    "kernelMatrix",
    "kernelUnitLength",
    "keyPoints",
    "keySplines",
    "keyTimes",
    "lang",
    "lengthAdjust",
    "letter-spacing",
    "lighting-color",
    "limitingConeAngle",
    "marker-end",
    "marker-mid",
    "marker-start",
    "markerHeight",
    "markerUnits",
    "markerWidth",
    "mask",
    "mask-type",
    "maskContentUnits",
    "maskUnits",
    "max",
    "media",
    "method",
    "min",
    "mix-blend-mode",
    "mode",
    "numOctaves",
    "offset",
    "opacity",
    "operator",
    "order",
    "orient",
    "origin",
    "overflow",
    "paint-order",
    "path",
    "pathLength",
    "patternContentUnits",
    "patternTransform",
    "patternUnits",
    "pointer-events",
    "points",
    "pointsAtX",
    "pointsAtY",
    "pointsAtZ",
    "preserveAlpha",
    "preserveAspectRatio",
    "primitiveUnits",
    "r",
    "radius",
    "refX",
    "refY",
    "repeatCount",
    "repeatDur",
    "requiredExtensions",
    "requiredFeatures",
    "restart",
    "result",
    "role",
    "rotate",
    "rx",
    "ry",
    "scale",
    "seed",
    "shape-rendering",
    "side",
    "slope",
    "spacing",
    "specularConstant",
    "specularExponent",
    "spreadMethod",
    "startOffset",
    "stdDeviation",
    "stitchTiles",
    "stop-color",
    "stop-opacity",
    "stroke",
    "stroke-dasharray",
    "stroke-dashoffset",
    "stroke-linecap",
    "stroke-linejoin",
    "stroke-miterlimit",
    "stroke-opacity",
    "stroke-width",
    "style",
    "surfaceScale",
    "systemLanguage",
    "tableValues",
    "targetX",
    "targetY",
    "text-anchor",
    "text-decoration",
    "text-overflow",
    "text-rendering",
    "textLength",
    "to",
    "transform",
    "transform-origin",
    "type",
    "unicode-bidi",
    "values",
    "vector-effect",
    "version",
    "viewBox",
    "visibility",
    "white-space",
    "width",
    "word-spacing",
    "writing-mode",
    "x",
    "x1",
    "x2",
    "xChannelSelector",
    "y",
    "y1",
    "y2",
    "yChannelSelector",
    "z",
    "zoomAndPan",
];

/// Pictures that may be within a picture.
const PICTURES: [&str; 4] = ["data:image/png", "data:image/jpeg", "data:image/gif", "data:image/webp"];

/// Refuses what isn't nothing but a picture; an error says what, and in which line.
pub fn check_svg(text: &str) -> Result<(), String> {
    // An entity or a default of an attribute would be read by browsers, and not here.
    let declares = |doctype: &str| doctype.split('>').next().is_some_and(|declaration| declaration.contains('['));
    if text.split("<!DOCTYPE").skip(1).any(declares) {
        return Err("An SVG must not declare anything in its DOCTYPE: remove the brackets and their content".to_owned());
    }
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(text, options).map_err(|error| format!("The file isn't valid XML: {error}"))?;
    if !document.root_element().has_tag_name((SVG, "svg")) {
        return Err(format!("The file was announced as image/svg+xml, and doesn't begin with an svg element of {SVG}"));
    }
    for node in document.descendants() {
        if let Err(reason) = check_node(&node) {
            return Err(format!("{reason} (line {})", document.text_pos_at(node.range().start).row));
        }
    }
    Ok(())
}

fn check_node(node: &Node<'_, '_>) -> Result<(), String> {
    if node.is_pi() {
        return Err("An SVG must not have processing instructions: remove <?…?>".to_owned());
    }
    if !node.is_element() {
        return Ok(());
    }
    let (name, namespace) = (node.tag_name().name(), node.tag_name().namespace());
    if namespace != Some(SVG) {
        let whose = namespace.unwrap_or_default();
        return Err(format!("An SVG must have elements of SVG alone, and not {name} of {whose}: save it as plain SVG"));
    }
    if !ELEMENTS.contains(&name) {
        return Err(format!("An SVG must not have {name} elements"));
    }
    for attribute in node.attributes() {
        check_attribute(name, &attribute)?;
    }
    if name == "style" {
        let texts: String = node.descendants().filter_map(|child| child.text()).collect();
        check_css(&texts)?;
    }
    Ok(())
}

fn check_attribute(element: &str, attribute: &Attribute<'_, '_>) -> Result<(), String> {
    let (name, value) = (attribute.name(), attribute.value());
    match attribute.namespace() {
        None if ATTRIBUTES.contains(&name) || name.starts_with("aria-") || name.starts_with("data-") => {}
        Some(XLINK) if matches!(name, "href" | "title" | "type" | "show" | "actuate" | "role") => {}
        Some(XML) if matches!(name, "space" | "lang" | "id") => {}
        None => return Err(format!("An SVG must not have {name} attributes")),
        Some(_) => return Err(format!("An SVG must not have foreign attributes such as {name}: save it as plain SVG")),
    }
    match name {
        "href" => check_link(element, value),
        "attributeName" if value.trim().rsplit(':').next() == Some("href") || !is_animated(value.trim()) => {
            Err(format!("An SVG must not animate {value}"))
        }
        _ => check_css(value),
    }
}

fn is_animated(attribute: &str) -> bool {
    ATTRIBUTES.contains(&attribute) && !matches!(attribute, "style" | "id" | "class")
}

/// Links lead within the picture; pictures within it are in it.
fn check_link(element: &str, link: &str) -> Result<(), String> {
    let link = link.trim();
    let is_picture = matches!(element, "image" | "feImage") && PICTURES.iter().any(|kind| link.starts_with(kind));
    if link.starts_with('#') || is_picture {
        return Ok(());
    }
    Err("An SVG must refer to itself alone: href=\"#…\", or a PNG, JPEG, GIF or WebP as data: of an image".to_owned())
}

/// Refuses style that loads anything; it may refer to the picture itself.
fn check_css(css: &str) -> Result<(), String> {
    // Escapes spell words that these checks would overlook.
    let lower = css.to_ascii_lowercase();
    if lower.contains('\\') || lower.contains("/*") && lower.contains("url") || lower.contains("@import") {
        return Err("An SVG's style must not import anything or have escapes".to_owned());
    }
    let is_within = |url: &str| {
        let url = url.trim_start().trim_start_matches(['"', '\'']).trim_start();
        url.starts_with('#') || PICTURES.iter().any(|kind| url.starts_with(kind))
    };
    let loads = ["image-set(", "image(", "src("].iter().any(|function| lower.contains(function));
    if loads || !lower.split("url(").skip(1).all(is_within) {
        return Err("An SVG must load nothing: url(#…) alone".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(inside: &str) -> String {
        format!(r#"<svg xmlns="{SVG}" xmlns:xlink="{XLINK}">{inside}</svg>"#)
    }

    #[test]
    fn names_are_sorted_and_stand_once() {
        for names in [ELEMENTS, ATTRIBUTES] {
            assert!(names.is_sorted_by(|one, next| one < next));
        }
    }

    #[test]
    fn pictures_are_taken() {
        for inside in [
            r#"<rect width="1" height="1" style="fill: url(#a); stroke: red"/>"#,
            r##"<defs><linearGradient id="a"/></defs><use href="#a"/><use xlink:href="#a"/>"##,
            r##"<a href="#one"><text x="1">on load = once, javascript: and url(http://x)</text></a>"##,
            "<style>.a { fill: url('#a') } @keyframes b { to { opacity: 0 } }</style><g class='a'/>",
            r#"<image href="data:image/png;base64,AAAA"/><!-- <script/> -->"#,
            r#"<animate attributeName="opacity" from="0" to="1" dur="1s" repeatCount="indefinite"/>"#,
        ] {
            assert_eq!(check_svg(&svg(inside)), Ok(()), "{inside}");
        }
        let with_doctype = r#"<?xml version="1.0"?><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">"#;
        assert_eq!(check_svg(&(with_doctype.to_owned() + &svg(""))), Ok(()));
    }

    #[test]
    fn whatever_runs_leads_elsewhere_or_loads_is_refused() {
        for inside in [
            "<script>alert(1)</script>",
            "<s:SCRIPT xmlns:s='http://www.w3.org/2000/svg'/>",
            "<s:script xmlns:s='http://www.w3.org/2000/svg'/>",
            "<foreignObject/>",
            "<h:form xmlns:h='http://www.w3.org/1999/xhtml'/>",
            "<h:meta xmlns:h='http://www.w3.org/1999/xhtml' http-equiv='refresh' content='0;url=https://x'/>",
            "<metadata><h:a xmlns:h='http://www.w3.org/1999/xhtml' href='https://x'>x</h:a></metadata>",
            "<g onload=\"alert(1)\"/>",
            "<rect onclick='x'/>",
            "<a href=\"javascript:alert(1)\"/>",
            "<a href=\" java&#x73;cript:alert(1)\"/>",
            "<a href=\"https://x\"><text>Sign in again</text></a>",
            "<a xlink:href=\"//x\"/>",
            "<a href=\"data:image/png;base64,AAAA\"/>",
            "<image href=\"data:image/svg+xml,%3Csvg/%3E\"/>",
            "<image href=\"https://x/y.png\"/>",
            "<use href=\"other.svg#a\"/>",
            "<set attributeName=\"href\" to=\"javascript:alert(1)\"/>",
            "<animate attributeName=\"xlink:href\" values=\"https://x\"/>",
            "<set attributeName=\"onclick\" to=\"alert(1)\"/>",
            "<set attributeName=\"style\" to=\"x\"/>",
            "<style>@import 'https://x';</style>",
            "<style>rect { fill: url(https://x) }</style>",
            "<style>rect { fill: u\\72l(https://x) }</style>",
            "<style>rect { background: image-set('https://x' 1x) }</style>",
            "<rect style=\"fill: url( 'https://x' )\"/>",
            "<rect fill=\"url(https://x)\"/>",
            "<rect xml:base=\"https://x\"/>",
            "<rect i:x='1' xmlns:i='https://editor.example'/>",
            "<?xml-stylesheet href='x.xsl'?>",
        ] {
            let refused = check_svg(&svg(inside));
            assert!(refused.is_err_and(|reason| reason.ends_with("(line 1)")), "{inside}");
        }
        for whole in [
            "words".to_owned(),
            "<svg/>".to_owned(),
            "<html xmlns='http://www.w3.org/1999/xhtml'><svg xmlns='http://www.w3.org/2000/svg'/></html>".to_owned(),
            format!("<?xml-stylesheet href='x.xsl'?>{}", svg("")),
            format!("<!DOCTYPE svg [<!ENTITY x '<script/>'>]>{}", svg("&x;")),
            format!("<!DOCTYPE svg [<!ATTLIST svg onload CDATA 'alert(1)'>]>{}", svg("")),
            format!("{}<svg/>", svg("")),
        ] {
            assert!(check_svg(&whole).is_err(), "{whole}");
        }
        let deep = svg(&("<g>".repeat(100_000) + &"</g>".repeat(100_000)));
        let wide = svg(&"<g/>".repeat(300_000));
        assert!(check_svg(&wide).is_err(), "too many elements");
        let _ends = check_svg(&deep);
    }

    #[test]
    fn a_refusal_names_the_line() {
        let refused = check_svg(&svg("\n\n<script/>\n"));
        assert_eq!(refused, Err("An SVG must not have script elements (line 3)".to_owned()));
    }
}
