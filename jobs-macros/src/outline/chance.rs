//! Finds what gives another answer each time, between the steps of a job that is replayed.

use super::{Kind, durable_call};
use proc_macro2::{Span, TokenStream, TokenTree};

/// A source of nondeterminism.
pub(crate) struct Chance {
    pub(crate) span: Span,
    /// The advice.
    pub(crate) note: String,
}

/// What is looked for: path segments, the last one a call or a macro, and what to write instead.
const SOURCES: &[(&[&str], &str)] = &[
    (&["SystemTime", "now"], "use `ctx.now()`"),
    (&["Utc", "now"], "use `ctx.now()`"),
    (&["Local", "now"], "use `ctx.now()`"),
    (&["Instant", "now"], "use `ctx.now()`"),
    (&["Uuid", "new_v4"], "use `ctx.uuid()`"),
    (&["Uuid", "now_v7"], "use `ctx.uuid()`"),
    (&["rand"], "use `ctx.random()`"),
    (&["fastrand"], "use `ctx.random()`"),
    (&["thread_rng"], "use `ctx.random()`"),
    (&["tokio", "select"], "use `race!`"),
    (&["tokio", "time", "sleep"], "use `sleep!`"),
    (&["tokio", "spawn"], "use `spawn!`, or `tokio::join!` over steps"),
    (&["tokio", "task", "spawn"], "use `spawn!`, or `tokio::join!` over steps"),
];

/// Every source of nondeterminism of a body that is not inside a step.
pub(crate) fn find(body: &TokenStream) -> Vec<Chance> {
    let mut found = Vec::new();
    walk(body.clone(), &mut found);
    found
}

fn walk(tokens: TokenStream, found: &mut Vec<Chance>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut at = 0;
    while at < tokens.len() {
        let rest = &tokens[at..];
        if let Some((kind, ..)) = durable_call(rest)
            && kind != Kind::Race
        {
            at += 3;
            continue;
        }
        let path = path_at(rest);
        if let Some((segments, advice)) = source(&path, &tokens[..at])
            && let Some((_, span)) = path.last()
        {
            found.push(Chance {
                span: *span,
                note: format!(
                    "`{}` between steps gives another answer when the job is replayed: {advice}, move it into a \
                     step, or write `#[job(allow(nondeterminism))]`",
                    segments.join("::")
                ),
            });
        }
        match &tokens[at] {
            TokenTree::Group(group) => walk(group.stream(), found),
            _ if path.len() > 1 => at += 3 * (path.len() - 1),
            _ => {}
        }
        at += 1;
    }
}

/// The path that begins at the first token: each segment with its place.
fn path_at(tokens: &[TokenTree]) -> Vec<(String, Span)> {
    let mut path = Vec::new();
    let mut rest = tokens;
    while let [TokenTree::Ident(word), ..] = rest {
        path.push((word.to_string(), word.span()));
        match &rest[1..] {
            [TokenTree::Punct(a), TokenTree::Punct(b), TokenTree::Ident(_), ..]
                if a.as_char() == ':' && b.as_char() == ':' =>
            {
                rest = &rest[3..];
            }
            _ => break,
        }
    }
    path
}

/// The source that a path is, if it is one: an end of the path, or all of a name that needs nothing before it.
fn source(path: &[(String, Span)], before: &[TokenTree]) -> Option<(&'static [&'static str], &'static str)> {
    if matches!(before.last(), Some(TokenTree::Punct(dot)) if dot.as_char() == '.') {
        return None;
    }
    SOURCES
        .iter()
        .find(|(segments, _)| match segments {
            [only] => path.iter().any(|(word, _)| word == only) && (path.len() > 1 || *only == "thread_rng"),
            _ => ends_with(path, segments),
        })
        .map(|(segments, advice)| (*segments, *advice))
}

fn ends_with(path: &[(String, Span)], segments: &[&str]) -> bool {
    path.len() >= segments.len()
        && path[path.len() - segments.len()..].iter().zip(segments).all(|((word, _), segment)| word == segment)
}
