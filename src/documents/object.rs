//! JSON objects as the text they are: which part of it is the value of which key.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Keys in order, each with the text of its value.
pub(super) struct ObjectMembers<'a>(pub(super) Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for ObjectMembers<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = ObjectMembers<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(
                self,
                mut map: M,
            ) -> Result<ObjectMembers<'de>, M::Error> {
                let mut members = Vec::new();
                while let Some((Key(key), value)) = map.next_entry::<Key<'de>, &'de RawValue>()? {
                    members.push((key, value.get()));
                }
                Ok(ObjectMembers(members))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// A key, borrowed unless it holds escapes.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl<'de> Visitor<'de> for Text {
            type Value = Key<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Key<'de>, E> {
                Ok(Key(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Text)
    }
}

/// The members of a JSON object.
///
/// # Errors
/// The text is no JSON object.
pub(super) fn members(text: &str) -> Result<ObjectMembers<'_>, serde_json::Error> {
    serde_json::from_str(text)
}

/// The elements of a JSON array, each as its text.
///
/// # Errors
/// The text is no JSON array.
pub(super) fn elements(text: &str) -> Result<Vec<&RawValue>, serde_json::Error> {
    serde_json::from_str(text)
}

/// Where the value of the last member called `key` stands in `text`; the last is what readers take.
pub(super) fn find(text: &str, key: &str) -> Option<Range<usize>> {
    let members = members(text).ok()?;
    let (_, value) = members.0.iter().rev().find(|(name, _)| name == key)?;
    // The value is a part of the text, so the difference is its place.
    let start = value.as_ptr() as usize - text.as_ptr() as usize;
    Some(start..start + value.len())
}

/// The object with a member set: in place where there is one of that name, else at the end. Tells
/// also whether there was one.
pub(super) fn with_member(text: &str, key: &str, value: &str) -> (String, bool) {
    if let Some(place) = find(text, key) {
        return (format!("{}{value}{}", &text[..place.start], &text[place.end..]), true);
    }
    let body = text.trim_end();
    let body = body.strip_suffix('}').unwrap_or(body);
    let comma = if body.trim_end().ends_with('{') { "" } else { "," };
    (format!("{}{comma}{}:{value}}}", body.trim_end(), string(key)), false)
}

/// A text as a JSON string.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(with_member(text, "q", "-0.5").0, expected);
    }

    #[test]
    fn nothing_changes_but_the_member() {
        check("{}", r#"{"q":-0.5}"#);
        check(r#"{"b":1e400,"a":"}"}"#, r#"{"b":1e400,"a":"}","q":-0.5}"#);
        check(r#" { "b" : 12345678901234567890 } "#, r#" { "b" : 12345678901234567890,"q":-0.5}"#);
        check(r#"{"q": null, "a":[{"q":7}]}"#, r#"{"q": -0.5, "a":[{"q":7}]}"#);
        check(r#"{"q":1,"q":2}"#, r#"{"q":1,"q":-0.5}"#);
        check(r#"{"\u0071":1}"#, r#"{"\u0071":-0.5}"#);
    }
}
