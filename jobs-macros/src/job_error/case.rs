//! Understands `#[job_error(..)]` on a variant or a struct.

use crate::{
    args::{Form, Written, distinct, read as read_options, value},
    errors::Errors,
    item::doc_line,
};
use proc_macro2::Ident;
use syn::{Attribute, Expr, Fields, LitStr, Meta, Path, spanned::Spanned};

/// What a variant, or a struct, says of its values.
pub(super) struct Case {
    /// The variant; `None` for a struct.
    pub(super) variant: Option<Ident>,
    pub(super) fields: Fields,
    /// `None` where it leaves everything to its source.
    pub(super) says: Option<Says>,
}

/// The options of one case.
#[derive(Default)]
pub(super) struct Says {
    pub(super) retry: Retry,
    pub(super) code: Option<Code>,
}

/// What shall follow.
#[derive(Default)]
pub(super) enum Retry {
    #[default]
    Backoff,
    Terminal,
    After(Expr),
}

/// A code and what a remote caller learns with it.
pub(super) struct Code {
    pub(super) name: LitStr,
    pub(super) title: String,
    pub(super) fix: String,
}

const OPTIONS: &[(&str, &str)] = &[
    ("code", "`code = \"X_CARD_DECLINED\"`"),
    ("title", "`title = \"the bank declined the card\"`"),
    ("retry", "`retry = terminal`, `retry = backoff` or `retry = after(\"30s\")`"),
    ("caller_fix", "`caller_fix = \"use another card\"`"),
    ("crate", "`crate = ::path::to::jobs`"),
];

/// Reads one case; says every mistake and leaves the default in its place.
pub(super) fn read(variant: Option<&Ident>, attrs: &[Attribute], fields: &Fields, errors: &mut Errors) -> Case {
    let mut draft = Draft::default();
    for option in distinct(options(attrs, errors), OPTIONS, errors) {
        if option.word() == "crate" {
            if variant.is_some() {
                errors.at(option.name.span(), "`crate` goes on the type, not on a variant");
            }
            continue;
        }
        draft.given = true;
        let result = draft.set(option);
        errors.keep(result);
    }
    let doc = attrs.iter().filter(|attr| attr.path().is_ident("doc")).find_map(doc_line);
    Case { variant: variant.cloned(), fields: fields.clone(), says: draft.finish(doc, errors) }
}

/// `crate = path`, from the attributes of the type.
pub(super) fn krate(attrs: &[Attribute], errors: &mut Errors) -> Option<Path> {
    let mut ignored = Errors::default();
    let options = options(attrs, &mut ignored);
    let option = options.into_iter().find(|option| option.word() == "crate")?;
    errors.keep(value::path(option, "`crate = ::path::to::jobs`"))
}

/// Refuses what belongs on a variant.
pub(super) fn refuse_on_enum(attrs: &[Attribute], errors: &mut Errors) {
    for option in distinct(options(attrs, errors), OPTIONS, errors) {
        let word = option.word();
        if word != "crate" {
            errors.at(option.name.span(), format!("`{word}` goes on a variant of the enum, not on the enum"));
        }
    }
}

/// Refuses one code with two meanings.
pub(super) fn same_code_same_meaning(cases: &[Case], errors: &mut Errors) {
    let codes: Vec<&Code> = cases.iter().filter_map(|case| case.says.as_ref()?.code.as_ref()).collect();
    for (at, code) in codes.iter().enumerate() {
        let first = codes.iter().take(at).find(|first| first.name.value() == code.name.value());
        if first.is_some_and(|first| first.title != code.title || first.fix != code.fix) {
            errors.at(
                code.name.span(),
                format!("the code `{}` has another title or fix on an earlier variant", code.name.value()),
            );
        }
    }
}

fn options(attrs: &[Attribute], errors: &mut Errors) -> Vec<Written> {
    attrs
        .iter()
        .filter(|attr| attr.path().is_ident("job_error"))
        .flat_map(|attr| match &attr.meta {
            Meta::List(list) => read_options(list.tokens.clone(), errors),
            _ => {
                errors.at(attr.span(), "`job_error` is written `#[job_error(retry = terminal)]`");
                Vec::new()
            }
        })
        .collect()
}

/// Options as they are gathered.
#[derive(Default)]
struct Draft {
    given: bool,
    code: Option<LitStr>,
    title: Option<LitStr>,
    retry: Retry,
    fix: Option<LitStr>,
}

impl Draft {
    fn set(&mut self, option: Written) -> syn::Result<()> {
        let word = option.word();
        let takes = OPTIONS.iter().find(|(name, _)| *name == word).map_or("", |(_, takes)| takes);
        match word.as_str() {
            "code" => self.code = Some(value::text(option, takes)?),
            "title" => self.title = Some(value::text(option, takes)?),
            "caller_fix" => self.fix = Some(value::text(option, takes)?),
            _ => self.retry = retry(&option, takes)?,
        }
        Ok(())
    }

    fn finish(self, doc: Option<String>, errors: &mut Errors) -> Option<Says> {
        let title = self.title.as_ref().map(LitStr::value).or(doc).map(|title| title.trim().to_owned());
        let code = match (self.code, title) {
            (Some(name), Some(title)) if !title.is_empty() => {
                Some(Code { name, title, fix: self.fix.as_ref().map(LitStr::value).unwrap_or_default() })
            }
            (Some(name), _) => {
                errors.at(
                    name.span(),
                    "a code needs a title: add `title = \"…\"`, one line on what it means, or a doc comment",
                );
                None
            }
            (None, _) => {
                for (option, text) in [("title", &self.title), ("caller_fix", &self.fix)] {
                    if let Some(text) = text {
                        errors.at(text.span(), format!("`{option}` belongs to a `code`: add `code = \"X_AREA_WHAT\"`"));
                    }
                }
                None
            }
        };
        self.given.then_some(Says { retry: self.retry, code })
    }
}

fn retry(option: &Written, takes: &str) -> syn::Result<Retry> {
    let Form::Value(value) = &option.form else { return Err(value::wrong(option, takes)) };
    if let Some(word) = value::as_word(value) {
        match word.to_string().as_str() {
            "terminal" => return Ok(Retry::Terminal),
            "backoff" => return Ok(Retry::Backoff),
            _ => {}
        }
    }
    match &**value {
        Expr::Call(call) if value::as_word(&call.func).is_some_and(|word| word == "after") && call.args.len() == 1 => {
            call.args.first().cloned().map(Retry::After).ok_or_else(|| value::wrong(option, takes))
        }
        _ => Err(value::wrong(option, takes)),
    }
}
