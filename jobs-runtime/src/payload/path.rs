//! The path of the value that is being encoded, kept without allocation: map keys are ranges of the text written so far.

use std::{fmt::Write, ops::Range};

/// Where the encoder stands inside a payload.
#[derive(Default)]
pub(super) struct Path(Vec<Segment>);

/// One step into a value.
pub(super) enum Segment {
    /// A field of a struct, or the variant of an enum.
    Field(&'static str),
    /// A key of a map: its range in the text, quotes included.
    Key(Range<usize>),
    /// An item of a sequence.
    Index(usize),
}

impl Path {
    pub(super) fn enter(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    pub(super) fn leave(&mut self) {
        self.0.pop();
    }

    /// Writes the path as `items[2].name`; the whole value is `.`.
    pub(super) fn render(&self, text: &[u8]) -> String {
        let mut path = String::new();
        for segment in &self.0 {
            match segment {
                Segment::Field(name) => push_name(&mut path, name),
                Segment::Key(range) => {
                    let key = text.get(range.clone()).and_then(|json| serde_json::from_slice::<String>(json).ok());
                    push_name(&mut path, &shown(&key.unwrap_or_default()));
                }
                Segment::Index(index) => {
                    let _ = write!(path, "[{index}]");
                }
            }
        }
        if path.is_empty() { ".".to_owned() } else { path }
    }
}

fn push_name(path: &mut String, name: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(name);
}

/// A key as a message may show it: escaped, at most 60 characters.
fn shown(key: &str) -> String {
    let mut text: String = key.chars().take(60).flat_map(char::escape_debug).collect();
    if key.chars().nth(60).is_some() {
        text.push('…');
    }
    text
}
