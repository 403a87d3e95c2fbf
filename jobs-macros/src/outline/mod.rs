//! Reads the outline of a job from the tokens of its body: which durable constructs it has, under which names.
//!
//! Works on any token stream, also of a body that is being edited. Upstream: `item`. Downstream: `validate`, `expand`.

mod chance;
mod check;
mod loops;

pub(crate) use chance::{Chance, find as find_chances};
pub(crate) use check::check;
use loops::Loops;
use proc_macro2::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};
use syn::LitStr;

/// One durable construct.
#[derive(Debug)]
pub(crate) struct Construct {
    pub(crate) kind: Kind,
    /// Its macro.
    pub(crate) word: String,
    /// Its name; `None` where it has none, or one that is no literal.
    pub(crate) name: Option<String>,
    /// The place of its name, or of its macro.
    pub(crate) span: Span,
    /// Its earlier names.
    pub(crate) aliases: Vec<(String, Span)>,
    /// Whether it carries `key = …`.
    pub(crate) keyed: bool,
    /// Whether it carries `always`.
    pub(crate) always: bool,
    /// The construct whose body it stands in, as messages call it.
    pub(crate) inside: Option<String>,
    /// Whether it stands in a loop of the body.
    pub(crate) in_loop: bool,
}

/// Which durable construct it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Step,
    StepTx,
    Compensate,
    WaitFor,
    Sleep,
    Race,
    Spawn,
    Patch,
    Pivot,
}

impl Kind {
    /// The kind of a macro's name.
    pub(crate) fn of(word: &Ident) -> Option<Self> {
        Some(match word.to_string().as_str() {
            "step" => Self::Step,
            "step_tx" => Self::StepTx,
            "compensate" => Self::Compensate,
            "wait_for" => Self::WaitFor,
            "sleep" | "sleep_until" => Self::Sleep,
            "race" => Self::Race,
            "spawn" => Self::Spawn,
            "patch" => Self::Patch,
            "pivot" => Self::Pivot,
            _ => return None,
        })
    }

    /// Whether the outline that is stored has it: what a person sees of a run.
    pub(crate) fn is_listed(self) -> bool {
        self != Self::Patch
    }

    /// Whether its last argument is a body that runs apart: no construct may stand in it.
    fn has_body(self) -> bool {
        matches!(self, Self::Step | Self::StepTx | Self::Compensate)
    }

    /// Whether the construct leaves a record under its name.
    fn is_recorded(self) -> bool {
        !matches!(self, Self::Compensate | Self::Pivot)
    }
}

/// The durable constructs of a body, in source order, those inside groups and inside each other included.
pub(crate) fn read(body: &TokenStream) -> Vec<Construct> {
    let mut found = Vec::new();
    walk(body.clone(), Place { inside: None, in_loop: false }, &mut found);
    found
}

/// Where tokens stand.
#[derive(Clone, Copy)]
struct Place<'a> {
    inside: Option<&'a str>,
    in_loop: bool,
}

/// A macro call: its name and its arguments.
struct Call<'a> {
    word: &'a Ident,
    args: &'a Group,
}

/// Adds every durable construct, depth first.
fn walk(tokens: TokenStream, place: Place<'_>, found: &mut Vec<Construct>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut rest = tokens.as_slice();
    let mut loops = Loops::default();
    while let [token, after @ ..] = rest {
        let here = Place { in_loop: place.in_loop || loops.repeats(token), ..place };
        if let Some((kind, word, args)) = durable_call(rest) {
            let construct = construct(kind, Call { word, args }, here);
            let label = construct.label();
            found.push(construct);
            let inside = if kind.has_body() { Some(label.as_str()) } else { here.inside };
            walk(args.stream(), Place { inside, ..here }, found);
            rest = rest.get(3..).unwrap_or_default();
            continue;
        }
        if let TokenTree::Group(group) = token {
            walk(group.stream(), here, found);
        }
        loops.pass(token);
        rest = after;
    }
}

/// The durable construct that begins at the first token: `step!(..)`. A path before it does not matter.
fn durable_call(tokens: &[TokenTree]) -> Option<(Kind, &Ident, &Group)> {
    match tokens {
        [TokenTree::Ident(word), TokenTree::Punct(bang), TokenTree::Group(args), ..]
            if bang.as_char() == '!' && args.delimiter() != Delimiter::None =>
        {
            Some((Kind::of(word)?, word, args))
        }
        _ => None,
    }
}

fn construct(kind: Kind, call: Call<'_>, place: Place<'_>) -> Construct {
    let args = arguments(call.args.stream());
    let literal = args.get(1).and_then(|arg| literal(arg));
    let (name, span) = match literal {
        Some(literal) => (Some(literal.value()), literal.span()),
        None => (None, call.word.span()),
    };
    Construct {
        kind,
        word: call.word.to_string(),
        name,
        span,
        aliases: args.iter().filter(|arg| is_option(arg, "aliases")).flat_map(|arg| listed(arg)).collect(),
        keyed: args.iter().any(|arg| is_option(arg, "key")),
        always: args.iter().any(|arg| matches!(arg.as_slice(), [TokenTree::Ident(word)] if word == "always")),
        inside: place.inside.map(str::to_owned),
        in_loop: place.in_loop,
    }
}

impl Construct {
    /// What messages call it.
    fn label(&self) -> String {
        match &self.name {
            Some(name) => format!("`{}!` of `{name}`", self.word),
            None => format!("`{}!`", self.word),
        }
    }
}

/// Splits arguments at their top-level commas.
fn arguments(tokens: TokenStream) -> Vec<Vec<TokenTree>> {
    let mut args = vec![Vec::new()];
    for token in tokens {
        match (&token, args.last_mut()) {
            (TokenTree::Punct(comma), _) if comma.as_char() == ',' => args.push(Vec::new()),
            (_, Some(last)) => last.push(token),
            (_, None) => {}
        }
    }
    args
}

fn literal(arg: &[TokenTree]) -> Option<LitStr> {
    match arg {
        [TokenTree::Literal(_)] => syn::parse2(arg.iter().cloned().collect()).ok(),
        [TokenTree::Group(group)] if group.delimiter() == Delimiter::None => syn::parse2(group.stream()).ok(),
        _ => None,
    }
}

/// The texts of `name = [..]`.
fn listed(arg: &[TokenTree]) -> Vec<(String, Span)> {
    match arg {
        [.., TokenTree::Group(list)] => arguments(list.stream())
            .iter()
            .filter_map(|arg| literal(arg))
            .map(|text| (text.value(), text.span()))
            .collect(),
        _ => Vec::new(),
    }
}

/// `key = …`, and not `key == …`
fn is_option(arg: &[TokenTree], name: &str) -> bool {
    match arg {
        [TokenTree::Ident(word), TokenTree::Punct(equals), ..] => {
            word == name && equals.as_char() == '=' && equals.spacing() == Spacing::Alone
        }
        _ => false,
    }
}

/// The line of a place, counted from 1; 0 outside the compiler.
pub(crate) fn line(span: Span) -> usize {
    if proc_macro::is_available() { span.unwrap().line() } else { 0 }
}
