//! Finds what gives another answer each time, between the steps of a job that is replayed.

use super::{Kind, arguments, durable_call, is_option};
use proc_macro2::{Span, TokenStream, TokenTree};

/// A source of nondeterminism.
pub(crate) struct Chance {
    pub(crate) span: Span,
    /// The advice.
    pub(crate) note: String,
}

/// What is looked for: path segments, the last one a call or a macro, and what to write instead.
const SOURCES: &[(&[&str], &str)] = &[
    (&["SystemTime", "now"], "use `ctx.now().await?`"),
    (&["Utc", "now"], "use `ctx.now().await?`"),
    (&["Local", "now"], "use `ctx.now().await?`"),
    (&["Instant", "now"], "use `ctx.now().await?`"),
    (&["Uuid", "new_v4"], "use `ctx.uuid()`"),
    (&["Uuid", "now_v7"], "use `ctx.uuid()`"),
    (&["rand"], "use `ctx.random()`"),
    (&["fastrand"], "use `ctx.random()`"),
    (&["thread_rng"], "use `ctx.random()`"),
    (&["OsRng"], "use `ctx.random()`"),
    (&["tokio", "select"], "use `race!`"),
    (&["future", "select"], "use `race!`"),
    (&["future", "select_all"], "use `race!`"),
    (&["tokio", "time", "sleep"], "use `sleep!(ctx, \"name\", …).await`"),
    (&["time", "sleep"], "use `sleep!(ctx, \"name\", …).await`"),
    (&["tokio", "time", "timeout"], "use the `timeout = …` of a step or a wait, or `race!` with a `sleep!`"),
    (&["time", "timeout"], "use the `timeout = …` of a step or a wait, or `race!` with a `sleep!`"),
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
    let mut rest = tokens.as_slice();
    let mut after_dot = false;
    let mut left_of_path = 0_usize;
    while let [token, after @ ..] = rest {
        if let Some((kind, _, args)) = durable_call(rest)
            && kind != Kind::Race
        {
            // Its keys are evaluated at every replay; its body and its input only once.
            let is_key = |arg: &Vec<TokenTree>| is_option(arg, "key") || is_option(arg, "event_key");
            for arg in arguments(args.stream()).into_iter().filter(is_key) {
                walk(arg.into_iter().collect(), found);
            }
            rest = rest.get(3..).unwrap_or_default();
            left_of_path = 0;
            continue;
        }
        if left_of_path == 0 {
            let path = path_at(rest);
            left_of_path = (path.len() * 3).saturating_sub(2);
            if !after_dot {
                let is_macro = matches!(rest.get(left_of_path), Some(TokenTree::Punct(bang)) if bang.as_char() == '!');
                found.extend(chance(&path, is_macro));
            }
        }
        if let TokenTree::Group(group) = token {
            walk(group.stream(), found);
        }
        after_dot = matches!(token, TokenTree::Punct(dot) if dot.as_char() == '.');
        left_of_path = left_of_path.saturating_sub(1);
        rest = after;
    }
}

/// The path that begins at the first token: each segment with its place.
fn path_at(tokens: &[TokenTree]) -> Vec<(String, Span)> {
    let mut path = Vec::new();
    let mut rest = tokens;
    while let [TokenTree::Ident(word), after @ ..] = rest {
        path.push((word.to_string(), word.span()));
        rest = match after {
            [TokenTree::Punct(a), TokenTree::Punct(b), next @ ..] if a.as_char() == ':' && b.as_char() == ':' => next,
            _ => break,
        };
    }
    path
}

fn chance(path: &[(String, Span)], is_macro: bool) -> Option<Chance> {
    let (name, advice) = source(path, is_macro)?;
    let (_, span) = path.last()?;
    Some(Chance {
        span: *span,
        note: format!(
            "`{name}` between steps gives another answer when the job is replayed: {advice}, move it into a step, or \
             write `#[job(allow(nondeterminism))]`"
        ),
    })
}

/// The source that a path is, if it is one, and the advice. A single name counts wherever it stands in a longer path.
fn source(path: &[(String, Span)], is_macro: bool) -> Option<(String, &'static str)> {
    let words: Vec<&str> = path.iter().map(|(word, _)| word.as_str()).collect();
    let listed = SOURCES.iter().find(|(segments, _)| match segments {
        [only] => words.contains(only) && (words.len() > 1 || *only == "thread_rng"),
        _ => words.ends_with(segments),
    });
    match (listed, words.last()) {
        (Some((segments, advice)), _) => Some((segments.join("::"), advice)),
        (None, Some(last @ (&"select" | &"select_biased"))) if is_macro => Some((format!("{last}!"), "use `race!`")),
        _ => None,
    }
}
