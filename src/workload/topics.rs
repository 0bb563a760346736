//! TREC topics: the SGML of the older tracks, whose elements are not closed, and the XML of the newer ones. No I/O.
//!
//! A topic is a `top` or `topic` (or, outside of one, a `query`). Its id is an attribute (`number`, `num`, `id`, `qid`) or
//! an element of such a name; its query is the `title`, else the `query`, the `content`, the `question`, else its own text.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::Query;
use super::fields::query;
use super::formats::{At, Numbered};

const TOPICS: [&str; 2] = ["top", "topic"];
const QUERY: &str = "query";
const IDS: [&str; 5] = ["num", "number", "qid", "id", "queryid"];
/// Elements that may hold the query; the first that a topic has counts.
const TEXTS: [&str; 4] = ["title", QUERY, "content", "question"];

/// A topic as far as it was read.
#[derive(Default)]
struct Topic {
    line: usize,
    /// The element that it is.
    element: String,
    qid: String,
    texts: [String; TEXTS.len()],
    own: String,
    /// What text is of.
    field: Field,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Field {
    #[default]
    Own,
    Id,
    Text(usize),
    Other,
}

impl Topic {
    fn new(element: &BytesStart, name: &str, line: usize) -> Self {
        let mut topic = Self { line, element: name.to_owned(), ..Self::default() };
        for attribute in element.attributes().flatten() {
            let key: &str = attribute.key.as_ref();
            if IDS.contains(&key.to_ascii_lowercase().as_str()) {
                attribute.value.trim().clone_into(&mut topic.qid);
            }
        }
        topic
    }

    fn start(&mut self, name: &str) {
        let text = TEXTS.iter().position(|text| *text == name);
        self.field = match text {
            // A second one is of a part of the topic.
            Some(at) if self.texts[at].is_empty() => Field::Text(at),
            None if IDS.contains(&name) && self.qid.trim().is_empty() => Field::Id,
            _ => Field::Other,
        };
    }

    fn push(&mut self, text: &str) {
        match self.field {
            Field::Own => self.own += text,
            Field::Id => self.qid += text,
            Field::Text(at) => self.texts[at] += text,
            Field::Other => {}
        }
    }

    fn query(&self) -> Result<Query, String> {
        let qid = self.qid.trim().trim_start_matches("Number:").trim();
        let texts = self.texts.iter().map(|text| text.trim().trim_start_matches("Topic:"));
        let mut texts = texts.chain([self.own.as_str()]).map(words);
        let Some(text) = texts.find(|text| !text.is_empty()).filter(|_| !qid.is_empty()) else {
            return Err("this topic has no <num> (or number) or no <title> (or query)".to_owned());
        };
        query(qid, &text, "", "")
    }
}

/// Topics that were read, and the one that is.
#[derive(Default)]
struct Topics {
    queries: Numbered,
    open: Option<Topic>,
}

impl Topics {
    fn start(&mut self, element: &BytesStart, line: usize) -> Result<(), At> {
        let name = name(element);
        if TOPICS.contains(&name.as_str()) || (self.open.is_none() && name == QUERY) {
            self.finish()?;
            self.open = Some(Topic::new(element, &name, line));
        } else if let Some(topic) = &mut self.open {
            topic.start(&name);
        }
        Ok(())
    }

    fn end(&mut self, name: &str) -> Result<(), At> {
        match &mut self.open {
            Some(topic) if topic.element == name => self.finish(),
            Some(topic) => {
                topic.field = Field::Own;
                Ok(())
            }
            None => Ok(()),
        }
    }

    /// The topic that is open ends here, closed or not.
    fn finish(&mut self) -> Result<(), At> {
        let Some(topic) = self.open.take() else { return Ok(()) };
        self.queries.push((topic.line, topic.query().map_err(|what| (topic.line, what))?));
        Ok(())
    }
}

/// The queries of topics.
///
/// # Errors
/// The line, from 1, and what was found there.
pub(super) fn parse(text: &str) -> Result<Numbered, At> {
    let mut reader = Reader::from_str(text);
    // Older topics do not close their elements, and write & for itself.
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let (mut topics, mut line, mut before) = (Topics::default(), 1, 0);
    loop {
        let event = reader.read_event().map_err(|error| (line, format!("no topics: {error}")))?;
        let at = reader.buffer_position() as usize;
        line += memchr::memchr_iter(b'\n', &text.as_bytes()[before..at]).count();
        before = at;
        match &event {
            Event::Eof => break,
            Event::Start(element) => topics.start(element, line)?,
            Event::End(element) => topics.end(&element.name().as_ref().to_ascii_lowercase())?,
            other => {
                if let (Some(topic), Some(text)) = (&mut topics.open, text_of(other)) {
                    topic.push(&text);
                }
            }
        }
    }
    topics.finish()?;
    Ok(topics.queries)
}

fn name(element: &BytesStart) -> String {
    element.local_name().as_ref().to_ascii_lowercase()
}

/// The text of an event, where it has one.
fn text_of(event: &Event) -> Option<String> {
    match event {
        Event::Text(text) => Some(text.to_string()),
        Event::CData(text) => Some(text.to_string()),
        Event::GeneralRef(name) => {
            let character = name.resolve_char_ref().ok().flatten().map(|c| c.to_string());
            let named = || quick_xml::escape::resolve_predefined_entity(name).map(str::to_owned);
            Some(character.or_else(named).unwrap_or_else(|| " ".to_owned()))
        }
        _ => None,
    }
}

/// Text with one space between words.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(usize, &str, &str)]) {
        let found = parse(text).unwrap();
        let found: Vec<_> =
            found.iter().map(|(line, q)| (*line, q.qid.as_str(), q.text.as_str())).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn older_and_newer_topics_are_read() {
        check(
            "<top>\n\n<num> Number: 301 \n<title> Organized\nCrime \n\n<desc> Description: \nx & y\n</top>\n\n\
             <top><num>302</num><title>AT&T &amp; co</title></top>",
            &[(1, "301", "Organized Crime"), (11, "302", "AT&T & co")],
        );
        check(
            "<?xml version='1.0'?>\n<!-- a -->\n<topics task='COVIDSearch'>\n<topic number='1'>\n<query>origin</query>\n\
             <question>what is</question></topic>\n<topic number=\"2\" type=\"faceted\"><query>b<!-- --></query>\
             <subtopic number='1'>c</subtopic></topic></topics>",
            &[(4, "1", "origin"), (7, "2", "b")],
        );
        check("<topics><topic number='7'>\n a\n b </topic></topics>", &[(1, "7", "a b")]);
        check(
            "<queries><query><qid>0001</qid><content>Halloween</content></query></queries>",
            &[(1, "0001", "Halloween")],
        );
        check(
            "<TOP>\n<NUM>1\n<TITLE>a\n<TOP>\n<NUM>2\n<TITLE>b\n",
            &[(1, "1", "a"), (4, "2", "b")],
        );
    }

    #[test]
    fn a_topic_without_an_id_or_a_query_is_told_with_its_line() {
        let (line, what) =
            parse("<top>\n<num>1\n<title>a\n</top>\n<top>\n<num>2\n</top>").unwrap_err();
        assert_eq!((line, what.starts_with("this topic has no")), (5, true), "{what}");
        assert_eq!(parse("<topics><topic>a</topic></topics>").unwrap_err().0, 1);
    }
}
