//! Masks the passwords of connection strings, so that an error which quotes one does not carry it to a row.

/// What stands where a secret stood.
const MASK: &str = "***";
/// Schemes whose passwords are masked also where they hold an unescaped `/`, `?` or `#`.
const STORES: [&str; 7] = ["postgres", "postgresql", "redis", "rediss", "mysql", "amqp", "amqps"];

/// The text with the passwords of `scheme://user:password@host` and of `password=…` masked. `is_cut` says that the
/// text goes on past its end, so that what may be the beginning of a secret there is masked as well.
pub(super) fn masked(text: &str, is_cut: bool) -> String {
    keyword(&urls(text, is_cut))
}

fn urls(text: &str, is_cut: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, after) = rest.split_at(at + 3);
        out.push_str(before);
        let scheme = before[..at].rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '+').next().unwrap_or("");
        let is_store = STORES.iter().any(|store| scheme.eq_ignore_ascii_case(store));
        let ends = |c: char| {
            c.is_whitespace()
                || matches!(c, '"' | '\'' | '`' | '<' | '>')
                || (!is_store && matches!(c, '/' | '?' | '#'))
        };
        let end = after.find(ends).unwrap_or(after.len());
        let authority = &after[..end];
        match authority.rfind('@') {
            Some(host) => {
                push_user(&mut out, &authority[..host]);
                out.push_str(&authority[host..]);
            }
            None if is_cut && end == after.len() => push_user(&mut out, authority),
            None => out.push_str(authority),
        }
        rest = &after[end..];
    }
    out.push_str(rest);
    out
}

fn push_user(out: &mut String, user_info: &str) {
    if let Some((user, _)) = user_info.split_once(':') {
        out.push_str(user);
        out.push(':');
    }
    out.push_str(MASK);
}

/// Masks what follows `password=` and `password: `, in any case, quoted or not.
fn keyword(text: &str) -> String {
    const WORD: &str = "password=";
    let lower = text.to_ascii_lowercase();
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    while let Some(found) = lower[from..].find(WORD) {
        let value = from + found + WORD.len();
        out.push_str(&text[from..value]);
        out.push_str(MASK);
        let rest = &text[value..];
        let length = match rest.chars().next() {
            Some(quote @ ('\'' | '"')) => rest[1..].find(quote).map_or(rest.len(), |end| end + 2),
            _ => rest
                .find(|c: char| c.is_whitespace() || matches!(c, '&' | ';' | ',' | ')' | '"' | '\'' | '`'))
                .unwrap_or(rest.len()),
        };
        from = value + length;
    }
    out.push_str(&text[from..]);
    out
}

#[cfg(test)]
mod tests {
    use super::masked;

    #[test]
    fn passwords_are_masked_and_the_rest_stays() {
        for (text, shown) in [
            ("postgres://app:s3cret@db/shop", "postgres://app:***@db/shop"),
            ("at postgresql://app:a/b?c@d@db:5432/x?y=z, then", "at postgresql://app:***@db:5432/x?y=z, then"),
            ("redis://:token@cache", "redis://:***@cache"),
            ("https://token@git.example/x", "https://***@git.example/x"),
            ("https://example.com/@user", "https://example.com/@user"),
            ("host=db password=s3cret user=app", "host=db password=*** user=app"),
            ("PASSWORD='a b' user=app", "PASSWORD=*** user=app"),
            ("postgres://db/x?user=a&password=s3cret&c=1", "postgres://db/x?user=a&password=***&c=1"),
            ("two: postgres://a:b@c and amqp://d:e@f", "two: postgres://a:***@c and amqp://d:***@f"),
            ("no secret :// here @ all", "no secret :// here @ all"),
        ] {
            assert_eq!(masked(text, false), shown);
        }
        assert_eq!(masked("postgres://app:s3cr", true), "postgres://app:***");
    }
}
