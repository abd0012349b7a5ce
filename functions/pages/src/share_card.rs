//! A moment's share card: what messengers show of its address. Drawn as SVG, and made a PNG.

use std::sync::{Arc, LazyLock};

use alloy::primitives::keccak256;
use base64::{Engine, prelude::BASE64_STANDARD};
use maud::{Markup, html};
use resvg::{
    tiny_skia::{Pixmap, Transform},
    usvg::{Options, Tree, fontdb::Database},
};
use shared::{
    api::read::{MomentView, Preview, Site},
    chain::Chain,
};

use crate::{
    card::{name, title},
    layout::NAME,
    text::clipped,
    words::price,
};

/// Width of a card, in pixels.
pub const WIDTH: u32 = 1_200;

/// Height of a card, in pixels.
pub const HEIGHT: u32 = 630;

/// Raised when cards are drawn in another way.
const DESIGN: u8 = 1;

const LINES: usize = 4;

/// Inter, by the Inter Project Authors, under the SIL Open Font License 1.1: shared/fonts/LICENSE.txt.
const FONTS: [&[u8]; 2] = [
    include_bytes!("../../../shared/fonts/Inter-Regular.ttf"),
    include_bytes!("../../../shared/fonts/Inter-SemiBold.ttf"),
];

static DATABASE: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    FONTS.into_iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    Arc::new(fonts)
});

/// What a card shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShareCard {
    title: String,
    by: String,
    price: Option<String>,
    /// Where its picture is kept: hash of its URI, and width.
    picture: Option<(String, u32)>,
}

/// A card can't be drawn.
#[derive(Debug, thiserror::Error)]
pub enum DrawError {
    /// Its SVG is wrong.
    #[error("card's SVG")]
    Svg(#[from] resvg::usvg::Error),
    /// No memory for it.
    #[error("card's pixels")]
    Pixels,
    /// Its PNG can't be encoded.
    #[error("card's PNG")]
    Png,
}

impl ShareCard {
    /// The card of a moment.
    pub fn of(moment: &MomentView, chain: &Chain) -> Self {
        let forms = moment.metadata.as_ref().map(|metadata| metadata.previews.as_slice()).unwrap_or_default();
        // The narrowest that is as wide as its place.
        let form = forms.iter().find(|form| form.width >= HEIGHT).or(forms.last());
        let kept = |form: &Preview| (shared::model::Picture::hash(&form.uri), form.width);
        Self {
            title: clipped(&title(moment), 90),
            by: clipped(&name(&moment.creator), 40),
            price: moment.sale.as_ref().map(|sale| price(sale, chain)),
            picture: form.map(kept),
        }
    }

    /// Changes with what the card shows.
    pub fn version(&self) -> String {
        let shown = format!("{DESIGN} {self:?}");
        alloy::hex::encode(&keccak256(shown)[..6])
    }

    /// Where the picture is kept: hash of its URI, and width.
    pub fn picture(&self) -> Option<(&str, u32)> {
        self.picture.as_ref().map(|(hash, width)| (hash.as_str(), *width))
    }

    /// The card as a PNG, with the picture's bytes in WebP.
    pub fn draw(&self, picture: Option<&[u8]>) -> Result<Vec<u8>, DrawError> {
        let options = Options { fontdb: DATABASE.clone(), font_family: "Inter".to_owned(), ..Options::default() };
        let tree = Tree::from_str(&self.svg(picture).into_string(), &options)?;
        let mut pixels = Pixmap::new(WIDTH, HEIGHT).ok_or(DrawError::Pixels)?;
        resvg::render(&tree, Transform::identity(), &mut pixels.as_mut());
        pixels.encode_png().map_err(|_| DrawError::Png)
    }

    fn svg(&self, picture: Option<&[u8]>) -> Markup {
        let data = picture.map(|bytes| format!("data:image/webp;base64,{}", BASE64_STANDARD.encode(bytes)));
        // Without a picture, the words have the whole card.
        let (left, size, room) = if data.is_some() { (680, 50.0, 460.0) } else { (80, 76.0, 1_040.0) };
        let lines = wrapped(&drawable(&self.title), room / size * 2.0);
        let top = 120.0 + size / 2.0;
        html! {
            svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT) {
                rect width=(WIDTH) height=(HEIGHT) fill="#fbfaf8" {}
                @if let Some(data) = data {
                    rect width=(HEIGHT) height=(HEIGHT) fill="#efece6" {}
                    image href=(data) width=(HEIGHT) height=(HEIGHT) preserveAspectRatio="xMidYMid meet" {}
                }
                g font-family="Inter" fill="#1b1a18" {
                    @for (number, line) in lines.iter().enumerate() {
                        text x=(left) y=(top + size * 1.2 * number as f32) font-size=(size) font-weight="600" { (line) }
                    }
                    @let below = top + size * 1.2 * lines.len() as f32 + 4.0;
                    text x=(left) y=(below) font-size="30" fill="#66635c" { "by " (drawable(&self.by)) }
                    @if let Some(price) = &self.price { text x=(left) y="500" font-size="32" font-weight="600" { (price) } }
                    text x=(left) y="570" font-size="26" fill="#0b6b63" font-weight="600" { (NAME) }
                }
            }
        }
    }
}

/// Address of a moment's card; another one when what it shows has changed, so that messengers fetch it again.
pub fn card_address(site: &Site, moment: &MomentView, chain: &Chain) -> String {
    let (place, version) = (moment.place(), ShareCard::of(moment, chain).version());
    site.page(&format!("/card/m/{}/{}/{}.png?v={version}", place.chain, place.collection, place.token))
}

/// Without what the font has no shape for: emoji, and scripts other than Latin, Greek and Cyrillic.
fn drawable(text: &str) -> String {
    let is_drawn =
        |c: &char| matches!(c, ' '..='\u{24F}' | '\u{259}' | '\u{2B0}'..='\u{52F}' | '\u{1E00}'..='\u{214F}');
    text.chars().filter(is_drawn).collect::<String>().trim().to_owned()
}

/// Lines of at most so many halves of the font's size.
fn wrapped(text: &str, room: f32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line) + width(word) + 0.5 <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(cut(word, room)),
        }
    }
    if lines.len() > LINES {
        lines.truncate(LINES);
        if let Some(last) = lines.last_mut() {
            *last = format!("{}…", cut(last, room - 1.5).trim_end_matches('…'));
        }
    }
    lines
}

fn cut(word: &str, room: f32) -> String {
    let mut taken = 0.0;
    let fits = |c: &char| {
        taken += width_of(*c);
        taken <= room - 1.0
    };
    let start: String = word.chars().take_while(fits).collect();
    if start.len() < word.len() && width(word) > room { format!("{start}…") } else { word.to_owned() }
}

fn width(text: &str) -> f32 {
    text.chars().map(width_of).sum()
}

/// About the advance in Inter's semibold, in halves of its size.
fn width_of(c: char) -> f32 {
    match c {
        'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | '|' | '!' | 'I' => 0.6,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '-' | '/' => 0.8,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.85,
        'A'..='Z' | '0'..='9' | 'А'..='Я' => 1.4,
        _ => 1.22,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(title: &str) -> ShareCard {
        ShareCard { title: title.to_owned(), by: "Ada".to_owned(), price: Some("0.01 ETH".to_owned()), picture: None }
    }

    #[test]
    fn cards_are_pictures_of_their_size_whatever_they_are_called() {
        for title in
            ["High water", "\"><script>alert(1)</script>", "水は高い", "👩‍🎨", "", &"W".repeat(90), &"a b ".repeat(40)]
        {
            let png = card(title).draw(None).unwrap();
            assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n", "{title}");
            assert_eq!((&png[16..20], &png[20..24]), (&WIDTH.to_be_bytes()[..], &HEIGHT.to_be_bytes()[..]), "{title}");
        }
        let [one, other] = ["High water", "Low water"].map(|title| card(title).draw(None).unwrap());
        assert_ne!(one, other, "the title is drawn");
    }

    #[test]
    fn words_are_drawn() {
        let inked = |title: &str| card(title).draw(None).unwrap().len();
        assert_ne!(DATABASE.faces().count(), 0, "the fonts are no TrueType files");
        assert!(inked("High water, and what it left behind") > inked(".") + 2_000);
    }

    #[test]
    fn versions_change_with_what_is_shown() {
        assert_eq!(card("a").version(), card("a").version());
        assert_ne!(card("a").version(), card("b").version());
        assert_ne!(card("a").version(), ShareCard { price: None, ..card("a") }.version());
        assert_ne!(card("a").version(), ShareCard { picture: Some(("x".to_owned(), 640)), ..card("a") }.version());
    }

    #[test]
    fn titles_are_wrapped_and_cut() {
        assert_eq!(wrapped("High water at the pier", 12.0), ["High water", "at the pier"]);
        assert_eq!(wrapped(&"word ".repeat(50), 12.0).len(), LINES);
        assert!(wrapped(&"W".repeat(50), 12.0)[0].ends_with('…'));
        assert!(wrapped("", 12.0).is_empty());
    }
}
