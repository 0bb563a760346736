//! Which paths a Rust file uses, without compiling it: words of the source, then the paths among
//! them, each resolved to the crate it comes from. Comments, texts and `#[cfg(test)]` items are left
//! out. The texts are found, too, on their own.
//!
//! What it cannot see are names that come through a glob or a macro of ours; the table forbids globs
//! other than a prelude, and re-exports of anything but a module's own children.

use std::collections::{BTreeMap, BTreeSet};

/// A word, `::`, one character of punctuation, or a text with its quotation marks.
#[derive(Clone, Debug, PartialEq)]
struct Token {
    text: String,
    line: usize,
    is_quoted: bool,
}

impl Token {
    fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
    }
}

/// One path that a file uses.
#[derive(Clone, Debug, PartialEq)]
pub struct UsedPath {
    /// Resolved: `prospect::plan::caps`, `petgraph::csr`, `std::println!`.
    pub path: String,
    pub line: usize,
    /// Whether it stands in a `pub use`.
    pub exported: bool,
}

/// What was found in one file.
#[derive(Debug, Default)]
pub struct Found {
    pub paths: Vec<UsedPath>,
    /// Modules that are declared for tests only, as resolved paths.
    pub test_modules: Vec<String>,
}

/// A `use` leaf as written: segments, and the name it brings in.
struct Import {
    segments: Vec<String>,
    name: String,
    line: usize,
    exported: bool,
}

/// Lines of `source` that have one of `words` in their code, tests included.
pub fn lines_with(source: &str, words: &[&str]) -> Vec<usize> {
    let tokens = tokens(source).into_iter();
    tokens.filter(|token| words.contains(&token.text.as_str())).map(|token| token.line).collect()
}

/// The texts of `source`, each with its first line; those of tests are left out. Where a line is continued,
/// the text goes on.
pub fn texts(source: &str) -> Vec<(usize, String)> {
    let tokens = without_tests(&pieces(source), "", &mut Vec::new());
    let texts = tokens.into_iter().filter(|token| token.is_quoted);
    texts.map(|token| (token.line, continued(&token.text))).collect()
}

/// A text without the ends of its lines that are escaped.
fn continued(text: &str) -> String {
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |whole, part| whole + part.trim_start())
}

/// The paths of `source`, the text of the module `module` (`prospect::plan::caps`). `crates` are the
/// crates it can name besides the standard library.
pub fn paths(source: &str, module: &str, crates: &BTreeSet<String>) -> Found {
    let mut found = Found::default();
    let tokens = without_tests(&tokens(source), module, &mut found.test_modules);
    let (imports, rest) = split_imports(&tokens);
    let children = children(&rest);
    let names: BTreeMap<&str, &[String]> = imports
        .iter()
        .filter(|import| import.segments[0] != import.name)
        .map(|import| (import.name.as_str(), import.segments.as_slice()))
        .collect();
    let resolve = |segments: &[String]| {
        let mut segments = segments.to_vec();
        // Each import may start at another import; a few steps are more than anyone writes.
        for _ in 0..4 {
            let Some(of) = names.get(segments[0].as_str()) else { break };
            segments.splice(..1, of.iter().cloned());
        }
        absolute(&segments, module, &children, crates)
    };
    for import in &imports {
        if let Some(path) = resolve(&import.segments) {
            found.paths.push(UsedPath { path, line: import.line, exported: import.exported });
        }
    }
    for (segments, line) in plain_paths(&rest) {
        if let Some(path) = resolve(&segments) {
            found.paths.push(UsedPath { path, line, exported: false });
        }
    }
    found.paths.sort_by_key(|used| used.line);
    found
}

/// The path from its crate on; none for names of the file itself.
fn absolute(
    segments: &[String],
    module: &str,
    children: &BTreeSet<String>,
    crates: &BTreeSet<String>,
) -> Option<String> {
    let mut base: Vec<&str> = module.split("::").collect();
    let mut rest = segments;
    match segments[0].as_str() {
        "crate" => {
            base.truncate(1);
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|segment| segment == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        "std" | "core" | "alloc" => {
            base = vec!["std"];
            rest = &rest[1..];
        }
        first if children.contains(first) => {}
        first if crates.contains(first) => base.clear(),
        _ => return None,
    }
    base.extend(rest.iter().map(String::as_str));
    Some(base.join("::"))
}

/// Macros that print, which need no import.
const PRINTING: &[&str] = &["print", "println", "eprint", "eprintln", "dbg"];

/// Paths of two or more segments outside of `use`, and macros that print.
fn plain_paths(tokens: &[Token]) -> Vec<(Vec<String>, usize)> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut paths = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let line = tokens[at].line;
        if !tokens[at].is_word() || (at > 0 && text(at - 1) == ".") {
            at += 1;
            continue;
        }
        // `<T as Trait>::name` starts at no module; `::name` starts at a crate.
        let of_a_type = at > 1 && text(at - 1) == "::" && text(at - 2) == ">";
        let mut segments = vec![tokens[at].text.clone()];
        at += 1;
        while text(at) == "::" && tokens.get(at + 1).is_some_and(Token::is_word) {
            segments.push(tokens[at + 1].text.clone());
            at += 2;
        }
        let name = segments[segments.len() - 1].clone();
        if text(at) == "!" && text(at + 1) != "=" && PRINTING.contains(&name.as_str()) {
            paths.push((vec!["std".to_owned(), format!("{name}!")], line));
        } else if segments.len() > 1 && !of_a_type {
            paths.push((segments, line));
        }
    }
    paths
}

/// Names of the modules that are declared here.
fn children(tokens: &[Token]) -> BTreeSet<String> {
    let declared = tokens.windows(3).filter(|w| w[0].text == "mod" && w[1].is_word());
    declared
        .map(|w| {
            let (line, name) = (w[1].line, &w[1].text);
            assert_eq!(w[2].text, ";", "line {line}: give the module {name} a file of its own");
            name.clone()
        })
        .collect()
}

/// The leaves of all `use` items, and what else there is.
fn split_imports(tokens: &[Token]) -> (Vec<Import>, Vec<Token>) {
    let (mut imports, mut rest) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        // `use<'a>` in a type is a list of lifetimes.
        if tokens[at].text != "use" || tokens.get(at + 1).is_some_and(|next| next.text == "<") {
            rest.push(tokens[at].clone());
            at += 1;
            continue;
        }
        // `pub use` and `pub(crate) use` follow a word or a bracket, any other `use` a `;`, `{`, `}`
        // or `]`.
        let before = at.checked_sub(1).map_or("", |at| tokens[at].text.as_str());
        let exported = before == "pub" || before == ")";
        let mut read = TreeReader { tokens, at: at + 1, exported, imports: &mut imports };
        read.tree(&[]);
        at = read.at + 1;
    }
    (imports, rest)
}

struct TreeReader<'a> {
    tokens: &'a [Token],
    at: usize,
    exported: bool,
    imports: &'a mut Vec<Import>,
}

impl TreeReader<'_> {
    fn text(&self) -> &str {
        self.tokens.get(self.at).map_or(";", |token| token.text.as_str())
    }

    fn take(&mut self) -> String {
        self.at += 1;
        self.tokens[self.at - 1].text.clone()
    }

    /// One tree below `prefix`, up to its `,`, `}` or `;`.
    fn tree(&mut self, prefix: &[String]) {
        let mut segments = prefix.to_vec();
        let line = self.tokens.get(self.at).map_or(0, |token| token.line);
        loop {
            match self.text() {
                "::" => self.at += 1,
                "{" => return self.group(&segments),
                ";" | "," | "}" => break,
                "as" => {
                    self.at += 1;
                    let name = self.take();
                    return self.leaf(segments, name, line);
                }
                _ => {
                    let word = self.take();
                    segments.push(word);
                }
            }
        }
        if segments.len() > 1 && segments[segments.len() - 1] == "self" {
            segments.pop();
        }
        let name = segments.last().cloned().unwrap_or_default();
        self.leaf(segments, name, line);
    }

    fn group(&mut self, prefix: &[String]) {
        self.at += 1;
        while self.text() != "}" && self.text() != ";" {
            if self.text() == "," {
                self.at += 1;
            } else {
                self.tree(prefix);
            }
        }
        self.at += 1;
    }

    fn leaf(&mut self, segments: Vec<String>, name: String, line: usize) {
        if !segments.is_empty() {
            self.imports.push(Import { segments, name, line, exported: self.exported });
        }
    }
}

/// The tokens without `#[cfg(test)]` items.
fn without_tests(tokens: &[Token], module: &str, test_modules: &mut Vec<String>) -> Vec<Token> {
    const MARK: [&str; 7] = ["#", "[", "cfg", "(", "test", ")", "]"];
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let marked = tokens[at..].iter().map(|token| token.text.as_str()).take(7).eq(MARK);
        if !marked {
            kept.push(tokens[at].clone());
            at += 1;
            continue;
        }
        let end = end_of_item(tokens, at + 7);
        let item = &tokens[at + 7..end];
        if let [.., keyword, name, last] = item
            && (keyword.text.as_str(), last.text.as_str()) == ("mod", ";")
        {
            test_modules.push(format!("{module}::{}", name.text));
        }
        at = end;
    }
    kept
}

/// Behind the `;` or the closing brace of the item that starts at `at`.
fn end_of_item(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0usize;
    while at < tokens.len() {
        match tokens[at].text.as_str() {
            "{" | "(" | "[" => depth += 1,
            // The end of what the item stands in.
            "}" | ")" | "]" if depth == 0 => return at,
            ")" | "]" => depth -= 1,
            "}" => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            ";" if depth == 0 => return at + 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The words and punctuation of a source, without comments, texts and characters.
fn tokens(source: &str) -> Vec<Token> {
    pieces(source).into_iter().filter(|token| !token.is_quoted).collect()
}

/// The same with its texts.
fn pieces(source: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let (mut rest, mut line) = (source, 1);
    while let Some(first) = rest.chars().next() {
        let (length, piece) = next_piece(rest, first);
        let (text, after) = rest.split_at(length);
        if piece != Piece::Nothing {
            let is_quoted = piece == Piece::Text;
            // `r#type` is the word `type`.
            let text = if is_quoted { text } else { text.strip_prefix("r#").unwrap_or(text) };
            tokens.push(Token { text: text.to_owned(), line, is_quoted });
        }
        line += text.matches('\n').count();
        rest = after;
    }
    tokens
}

#[derive(PartialEq)]
enum Piece {
    /// Space, a comment or a character.
    Nothing,
    Text,
    Code,
}

/// Bytes of the next piece, and what it is.
fn next_piece(rest: &str, first: char) -> (usize, Piece) {
    if rest.starts_with("//") {
        return (rest.find('\n').unwrap_or(rest.len()), Piece::Nothing);
    }
    if rest.starts_with("/*") {
        return (block_comment(rest), Piece::Nothing);
    }
    if let Some(length) = raw_text(rest) {
        return (length, Piece::Text);
    }
    let quote = rest.trim_start_matches(['b', 'c']);
    if quote.starts_with('"') && rest.len() - quote.len() < 2 {
        return (rest.len() - quote.len() + quoted(quote, '"'), Piece::Text);
    }
    if first == '\'' {
        return (character_or_lifetime(rest), Piece::Nothing);
    }
    if first.is_alphanumeric() || first == '_' {
        let start = if rest.starts_with("r#") { 2 } else { 0 };
        let word = |c: char| !(c.is_alphanumeric() || c == '_');
        return (rest[start..].find(word).map_or(rest.len(), |end| start + end), Piece::Code);
    }
    if rest.starts_with("::") {
        return (2, Piece::Code);
    }
    (first.len_utf8(), if first.is_whitespace() { Piece::Nothing } else { Piece::Code })
}

fn block_comment(rest: &str) -> usize {
    let (mut at, mut depth) = (0, 0usize);
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if here.starts_with("*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// Length of `r"…"`, `br#"…"#` and the like.
fn raw_text(rest: &str) -> Option<usize> {
    let after = rest.trim_start_matches(['b', 'c']).strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let length = body.find(&end).map_or(body.len(), |at| at + end.len());
    Some(rest.len() - body.len() + length)
}

/// Length of a text up to its closing mark.
fn quoted(rest: &str, mark: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == mark => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

fn character_or_lifetime(rest: &str) -> usize {
    let mut after = rest[1..].chars();
    match (after.next(), after.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => quoted(rest, '\''),
        _ => 1,
    }
}
