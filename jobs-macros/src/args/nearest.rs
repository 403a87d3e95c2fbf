//! Finds the word that a misspelt one was meant to be. A leaf.

/// The word that is at most a third of `word`'s letters away from it, and two at most.
pub(super) fn nearest<'a>(word: &str, valid: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = valid.map(|name| (distance(word, name), name)).min()?;
    (near.0 <= 2 && near.0 * 3 <= word.len()).then_some(near.1)
}

/// How many letters are to be inserted, removed or replaced (Levenshtein).
fn distance(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (letters, a) in (1..).zip(from.bytes()) {
        let mut left = letters;
        let mut next = vec![left];
        for (b, pair) in to.bytes().zip(row.windows(2)) {
            if let [diagonal, above] = pair {
                left = (diagonal + usize::from(a != b)).min(above + 1).min(left + 1);
                next.push(left);
            }
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let valid = || ["timeout", "tenant", "retry", "then", "name"].into_iter();
        for (word, meant) in [
            ("timeuot", Some("timeout")),
            ("time_out", Some("timeout")),
            ("retrys", Some("retry")),
            ("tennant", Some("tenant")),
            ("colour", None),
            ("x", None),
        ] {
            assert_eq!(nearest(word, valid()), meant, "{word}");
        }
    }
}
