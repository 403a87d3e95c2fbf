//! Finds the word that a misspelt one was meant to be. A leaf.

/// The word that is at most a third of `word`'s letters away from it, and two at most.
pub(super) fn nearest<'a>(word: &str, valid: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = valid.map(|name| (distance(word, name), name)).min()?;
    (near.0 <= 2 && near.0 * 3 <= word.len()).then_some(near.1)
}

/// How many letters are to be inserted, removed or replaced; two that changed places count as one.
fn distance(from: &str, to: &str) -> usize {
    let (from, to) = (from.as_bytes(), to.as_bytes());
    let mut rows = vec![vec![0; to.len() + 1]; from.len() + 1];
    for i in 0..=from.len() {
        for j in 0..=to.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(from[i - 1] != to[j - 1]);
                let mut least = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                    least = least.min(rows[i - 2][j - 2] + 1);
                }
                least
            };
        }
    }
    rows[from.len()][to.len()]
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
