//! Text of others in HTML and in JSON that lies in HTML. Queries, hosts and labels are what someone
//! typed; none of it may become markup.

/// Text as HTML text or as a quoted attribute.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            // NUL and its like are errors in HTML and show nothing.
            c if c.is_control() && c != '\n' && c != '\t' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// The same, kept from changing the direction of the text around it.
pub(crate) fn isolated(text: &str) -> String {
    format!("<bdi>{}</bdi>", escape(text))
}

/// JSON for a `<script type="application/json">`: what could end or reopen the element, or end a
/// line of JavaScript, is written as an escape. All of it can stand within strings only.
///
/// # Errors
/// The value cannot be JSON.
pub(crate) fn json(value: &serde_json::Value) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for character in text.chars() {
        match character {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                out.push_str(&format!("\\u{:04x}", character as u32));
            }
            c => out.push(c),
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::{escape, json};

    #[test]
    fn markup_becomes_text() {
        assert_eq!(escape("<a b='\"'>&\0"), "&lt;a b=&#39;&quot;&#39;&gt;&amp;\u{fffd}");
    }

    #[test]
    fn json_in_a_page_neither_ends_it_nor_changes() {
        let value = serde_json::json!(["</script><!--", "a & b", "\u{2028}\u{2029}"]);
        let text = json(&value).unwrap();
        assert!(!text.contains(['<', '>', '&', '\u{2028}', '\u{2029}']), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }
}
