//! The user's key.

use std::fmt;

/// Keys shorter than this are placeholders that local servers ask for, such as `none` or `EMPTY`.
const FEWEST_SECRET_CHARS: usize = 16;

/// The key of an endpoint. It shows itself nowhere but in the header that carries it.
#[derive(Clone)]
pub(crate) struct ApiKey(String);

impl ApiKey {
    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.0)
    }

    /// Whether a text repeats the key.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.0.chars().count() >= FEWEST_SECRET_CHARS && text.contains(&self.0)
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self(key)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}
