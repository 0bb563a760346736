//! Named fields, as the heads of WARC records and of HTTP messages have them. Lenient: archives hold what
//! servers sent.

/// Fields in their order, names in lower case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads lines of `name: value`; a line that starts with white space goes on with the one before it, and
    /// what is no field is left out. Bytes that are no UTF-8 are taken for Latin-1, as HTTP has it.
    pub(super) fn parse(lines: &[u8]) -> Self {
        let mut fields: Vec<(String, String)> = Vec::new();
        for line in lines.split(|&byte| byte == b'\n') {
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let is_continued = line.first().is_some_and(|byte| matches!(byte, b' ' | b'\t'));
            let text = match std::str::from_utf8(line) {
                Ok(text) => text.to_owned(),
                Err(_) => encoding_rs::mem::decode_latin1(line).into_owned(),
            };
            if is_continued {
                if let Some((_, value)) = fields.last_mut() {
                    value.push(' ');
                    value.push_str(text.trim());
                    *value = value.trim().to_owned();
                }
            } else if let Some((name, value)) = text.split_once(':') {
                fields.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
            }
        }
        Self(fields)
    }

    /// The first value of a name, which is given in lower case; none if it is empty.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.named(name).next()
    }

    /// All values of a name that are not empty.
    pub(super) fn named<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let name = name.to_owned();
        let found = self.0.iter().filter(move |(known, value)| *known == name && !value.is_empty());
        found.map(|(_, value)| value.as_str())
    }
}

/// Where a head ends: behind the first empty line.
pub(super) fn head_end(bytes: &[u8]) -> Option<usize> {
    let mut lines = memchr::memchr_iter(b'\n', bytes);
    lines.find_map(|at| match &bytes[at + 1..] {
        [b'\n', ..] => Some(at + 2),
        [b'\r', b'\n', ..] => Some(at + 3),
        _ => None,
    })
}
