use serde_json::{Value, json};

use crate::{Answer, Stack};

impl Stack {
    /// Creates a collection with a moment per metadata URI, in that order, and returns its address.
    pub async fn release(&self, key: &str, name: &str, uris: &[String]) -> String {
        let token = |uri: &String| {
            let sale = json!({"type": "fixedPrice", "pricePerToken": "1000", "saleStart": 0, "saleEnd": u64::MAX});
            json!({"tokenMetadataURI": uri, "salesConfig": sale})
        };
        let body = json!({
            "contract": {"name": name, "uri": "ipfs://bafybeidemofirstlight/collection.json"},
            "tokens": uris.iter().map(token).collect::<Vec<_>>(),
        });
        let answer = self.write("/moment/create-batch", key, &body, &[]).await.expect_success();
        answer.body["contractAddress"].as_str().expect("an address").to_owned()
    }

    /// Accepts what an account makes in the artist's name, or makes them an admin of.
    pub async fn accept(&self, key: &str, sender: &str) {
        let request = self.post("/moment/accept").header("x-api-key", key).json(&json!({"sender": sender}));
        Answer::of(request).await.expect_success();
    }

    /// All rows of a list's `field`, following `Link` from page to page; asserts that no page exceeds `limit`.
    pub async fn all_pages(&self, path: &str, field: &str, limit: usize) -> Vec<Value> {
        let mut url: reqwest::Url = format!("{}{path}&limit={limit}", self.map.api).parse().expect("a URL");
        let mut rows = Vec::new();
        loop {
            let page = Answer::of(self.http.get(url.clone())).await.expect_success();
            let on_page = page.body[field].as_array().expect("rows").clone();
            assert!(on_page.len() <= limit, "{page:?}");
            rows.extend(on_page);
            let Some(target) = page.header("link").strip_prefix('<').and_then(|it| it.strip_suffix(">; rel=\"next\""))
            else {
                return rows;
            };
            url = url.join(target).expect("a reference");
        }
    }
}

/// A metadata document as a `data:` URI, whose content has this media type.
pub fn document(name: &str, mime: &str) -> String {
    let document = json!({"name": name, "content": {"mime": mime, "uri": "ar://content"}});
    format!("data:application/json,{document}").replace(' ', "%20")
}

/// The names of an object's fields, sorted.
pub fn fields(value: &Value) -> Vec<&str> {
    let mut fields: Vec<_> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    fields.sort_unstable();
    fields
}
