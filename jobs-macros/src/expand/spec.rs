//! Writes the declaration. Each value becomes a constant of its own, so that every bad one is reported, at its token.

use super::{Model, located};
use crate::{
    args::{Backoff, Growth, Hold, Keep, Retry, Unique},
    outline::{Construct, Kind, line},
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{LitStr, Path, ext::IdentExt, spanned::Spanned};

/// `const SPEC: JobSpec = …;`
pub(super) fn spec(model: &Model) -> TokenStream {
    let args = &model.args;
    let mut checks = Checks::default();
    let name = args.name.clone().unwrap_or_else(|| {
        let ident = &model.head.ident;
        LitStr::new(&ident.unraw().to_string(), ident.span())
    });
    let name = checks.add(Rule::Name, &name);
    let mut fields = Vec::new();
    if !args.aliases.is_empty() {
        let aliases: Vec<Ident> = args.aliases.iter().map(|alias| checks.add(Rule::Name, alias)).collect();
        fields.push(quote!(aliases: &[#(#aliases),*]));
    }
    if let Some(version) = &args.version {
        let version = checks.add(Rule::Version, version);
        fields.push(quote!(version: #version));
    }
    if let Some(queue) = &args.queue {
        let queue = checks.add(Rule::Name, queue);
        fields.push(quote!(queue: #queue));
    }
    if let Some(priority) = &args.priority {
        fields.push(quote!(priority: #priority));
    }
    if let Some(unique) = &args.unique {
        let unique = self::unique(unique, &mut checks);
        fields.push(quote!(unique: __job::Some(#unique)));
    }
    if let Some(retry) = retry(&args.retry, &mut checks) {
        fields.push(quote!(retry: #retry));
    }
    if let Some(timeout) = &args.timeout {
        let timeout = checks.add(Rule::Duration, timeout);
        fields.push(quote!(timeout: __job::Some(#timeout)));
    }
    if let Some(age) = &args.expires_after {
        let age = checks.add(Rule::Duration, age);
        fields.push(quote!(expires_after: __job::Some(#age)));
    }
    match &args.keep {
        Some(Keep::None) => fields.push(quote!(keep: __job::Keep::None)),
        Some(Keep::For(period)) => {
            let period = checks.add(Rule::Duration, period);
            fields.push(quote!(keep: __job::Keep::For(#period)));
        }
        None => {}
    }
    if let Some(dead_letter) = &args.dead_letter {
        fields.push(quote!(dead_letter: #dead_letter));
    }
    if let Some(budget) = &args.crash_budget {
        let budget = checks.add(Rule::CrashBudget, budget);
        fields.push(quote!(crash_budget: #budget));
    }
    if !args.needs.is_empty() {
        let needs = args.needs.iter().map(|ty| quote_spanned!(located(ty.span())=> __job::Need::of::<#ty>()));
        fields.push(quote!(needs: &[#(#needs),*]));
    }
    if let Some(job) = &args.then {
        let follow_up = follow_up(job);
        fields.push(quote!(then: __job::Some(#follow_up)));
    }
    if let Some(job) = &args.on_dead {
        let follow_up = follow_up(job);
        fields.push(quote!(on_dead: __job::Some(#follow_up)));
    }
    let checks = checks.tokens();
    let doc = model.item.doc();
    let outline = model.outline.iter().filter(|construct| construct.kind.is_listed()).map(outline_item);
    let written = quote! {
        __job::JobSpec::new(#name).written(#doc, ::core::file!(), ::core::line!(), &[#(#outline),*])
    };
    let declared = match fields.is_empty() {
        true => written,
        false => quote!(__job::JobSpec { #(#fields,)* ..#written }),
    };
    quote! {
        const SPEC: __job::JobSpec = {
            #checks
            #declared
        };
    }
}

/// Constants that check one value each.
#[derive(Default)]
pub(crate) struct Checks(Vec<TokenStream>);

/// A rule of the runtime for one value.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    Name,
    StepName,
    Version,
    Attempts,
    CrashBudget,
    Duration,
}

impl Checks {
    /// The constants.
    pub(crate) fn tokens(&self) -> TokenStream {
        self.0.iter().cloned().collect()
    }

    /// Adds the check of a value, and answers the name of the constant that passed it.
    pub(crate) fn add(&mut self, rule: Rule, value: &impl ToTokens) -> Ident {
        let name = format_ident!("__{}", self.0.len(), span = Span::mixed_site());
        let value = value.to_token_stream();
        let check = match rule {
            Rule::Name => quote_spanned!(located(value.span())=> &__job::str = __job::name::must(#value)),
            Rule::StepName => quote_spanned!(located(value.span())=> &__job::str = __job::name::step(#value)),
            Rule::Version => quote_spanned!(located(value.span())=> __job::u16 = __job::version(#value)),
            Rule::Attempts => quote_spanned!(located(value.span())=> __job::u32 = __job::max_attempts(#value)),
            Rule::CrashBudget => quote_spanned!(located(value.span())=> __job::u16 = __job::crash_budget(#value)),
            Rule::Duration => {
                quote_spanned!(located(value.span())=> __job::Duration = __job::duration::must(#value))
            }
        };
        self.0.push(quote!(const #name: #check;));
        name
    }
}

fn unique(unique: &Unique, checks: &mut Checks) -> TokenStream {
    let hold = match &unique.hold {
        Hold::Live => quote!(Live),
        Hold::Queued => quote!(Queued),
        Hold::Forever => quote!(Forever),
        Hold::For(period) => {
            let period = checks.add(Rule::Duration, period);
            quote!(For(#period))
        }
    };
    let on_conflict = if unique.reject { quote!(Reject) } else { quote!(Existing) };
    quote!(__job::Unique { hold: __job::Hold::#hold, on_conflict: __job::OnConflict::#on_conflict })
}

/// Attempts and waits, where any of them is given.
pub(crate) fn retry(retry: &Retry, checks: &mut Checks) -> Option<TokenStream> {
    let attempts = retry.max_attempts.as_ref().map(|attempts| checks.add(Rule::Attempts, attempts));
    let backoff = retry.backoff.as_ref().map(|waits| backoff(waits, checks));
    let backoff = match (backoff, retry.without_jitter) {
        (Some(backoff), false) => Some(backoff),
        (Some(backoff), true) => Some(quote!(#backoff.without_jitter())),
        (None, true) => Some(quote!(__job::DEFAULT_RETRY.backoff.without_jitter())),
        (None, false) => None,
    };
    let fields: Vec<TokenStream> = attempts
        .map(|attempts| quote!(max_attempts: #attempts))
        .into_iter()
        .chain(backoff.map(|backoff| quote!(backoff: #backoff)))
        .collect();
    match fields.as_slice() {
        [] => None,
        [_, _] => Some(quote!(__job::Retry { #(#fields),* })),
        _ => Some(quote!(__job::Retry { #(#fields,)* ..__job::DEFAULT_RETRY })),
    }
}

fn backoff(backoff: &Backoff, checks: &mut Checks) -> TokenStream {
    let base = checks.add(Rule::Duration, &backoff.base);
    let max = backoff.max.as_ref().map(|max| checks.add(Rule::Duration, max));
    let span = located(backoff.max.as_ref().unwrap_or(&backoff.base).span());
    match (backoff.growth, max) {
        (Growth::Fixed, _) => {
            quote_spanned!(span=> __job::Backoff::new(__job::Growth::Fixed, #base, #base).without_jitter())
        }
        (Growth::Linear, Some(max)) => quote_spanned!(span=> __job::Backoff::new(__job::Growth::Linear, #base, #max)),
        (Growth::Linear, None) => {
            quote_spanned!(span=> __job::Backoff::new(__job::Growth::Linear, #base, __job::DEFAULT_RETRY.backoff.max))
        }
        (Growth::Exponential, Some(max)) => {
            quote_spanned!(span=> __job::Backoff::new(__job::Growth::Exponential, #base, #max))
        }
        (Growth::Exponential, None) => {
            quote_spanned!(span=> __job::Backoff::new(__job::Growth::Exponential, #base, __job::DEFAULT_RETRY.backoff.max))
        }
    }
}

fn follow_up(job: &Path) -> TokenStream {
    quote_spanned!(located(job.span())=> __job::FollowUp::to::<#job>())
}

fn outline_item(construct: &Construct) -> TokenStream {
    let kind = match construct.kind {
        Kind::Step => quote!(Step),
        Kind::StepTx => quote!(StepTx),
        Kind::Compensate => quote!(Compensate),
        Kind::WaitFor => quote!(WaitFor),
        Kind::Sleep => quote!(Sleep),
        Kind::Race => quote!(Race),
        Kind::Spawn => quote!(Spawn),
        Kind::Pivot | Kind::Patch => quote!(Pivot),
    };
    let name = construct.name.as_deref().unwrap_or_default();
    let keyed = construct.keyed;
    let line = proc_macro2::Literal::usize_unsuffixed(line(construct.span));
    quote!(__job::OutlineItem::new(__job::OutlineKind::#kind, #name, #keyed, #line))
}
