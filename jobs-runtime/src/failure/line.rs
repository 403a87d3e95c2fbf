//! Puts any text on one line of bounded length that a terminal, a log and a table can show as it is.

use std::fmt::Write;

/// What stands at the end of a text that was cut.
const CUT: &str = "… (cut)";

/// The text on one line: control characters, line separators and those that reorder or hide text are escaped as
/// `\n`, `\t` or `\u{1b}`. Longer than `limit` bytes, it is cut between two characters and marked.
pub(super) fn single(text: &str, limit: usize) -> String {
    let mut line = String::new();
    let mut cut_at = 0;
    for character in text.chars() {
        push(&mut line, character);
        if line.len() <= limit - CUT.len() {
            cut_at = line.len();
        } else if line.len() > limit {
            line.truncate(cut_at);
            line.push_str(CUT);
            break;
        }
    }
    line
}

fn push(line: &mut String, character: char) {
    match character {
        '\n' => line.push_str("\\n"),
        '\r' => line.push_str("\\r"),
        '\t' => line.push_str("\\t"),
        unsafe_to_show if is_unsafe(unsafe_to_show) => {
            let _ = write!(line, "\\u{{{:x}}}", u32::from(unsafe_to_show));
        }
        plain => line.push(plain),
    }
}

/// C0, DEL and C1 controls; marks and overrides of direction; zero-width characters; line and paragraph separators;
/// interlinear annotations; tags.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::single;

    #[test]
    fn a_text_at_the_limit_is_kept_and_one_byte_more_is_cut() {
        assert_eq!(single(&"a".repeat(20), 20), "a".repeat(20));
        let cut = single(&"a".repeat(21), 20);
        assert_eq!(cut, format!("{}… (cut)", "a".repeat(11)));
        assert_eq!(cut.len(), 20);
    }

    #[test]
    fn a_cut_never_splits_a_character_or_an_escape() {
        assert_eq!(single(&"€".repeat(9), 20), "€€€… (cut)");
        assert_eq!(single(&"\u{1b}".repeat(9), 20), "\\u{1b}… (cut)");
    }
}
