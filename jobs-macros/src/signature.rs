//! Checks that the fn can be a job: `async fn name(ctx: &Ctx, input: Payload) -> Result<T, E>`.

use crate::errors::Errors;
use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::{FnArg, GenericParam, Ident, Pat, PatType, ReturnType, Safety, Signature, Type, spanned::Spanned};

/// The parts of the head that the expansion needs.
pub(crate) struct Head {
    /// The fn's name.
    pub(crate) ident: Ident,
    /// The input's type; `None` for a job that takes only its context.
    pub(crate) input: Option<Type>,
    /// The name by which the options speak of the input.
    pub(crate) input_name: Ident,
    /// The return type.
    pub(crate) output: Type,
}

/// Understands the head; `None` if it cannot be a job's, every reason said.
pub(crate) fn check(sig: &Signature, errors: &mut Errors) -> Option<Head> {
    let mut mistakes = Errors::default();
    qualifiers(sig, &mut mistakes);
    generics(sig, &mut mistakes);
    let input = inputs(sig, &mut mistakes);
    let output = output(sig, &mut mistakes);
    if !mistakes.is_empty() {
        errors.absorb(mistakes);
        return None;
    }
    Some(Head {
        ident: sig.ident.clone(),
        input_name: input.map_or_else(default_name, input_name),
        input: input.map(|input| (*input.ty).clone()),
        output: output?.clone(),
    })
}

fn qualifiers(sig: &Signature, errors: &mut Errors) {
    if sig.asyncness.is_none() {
        errors.at(sig.fn_token.span, "a job is an `async fn`");
    }
    if let Some(token) = &sig.constness {
        errors.at(token.span, "a job cannot be a `const fn`");
    }
    if let Safety::Unsafe(token) = &sig.safety {
        errors.at(token.span, "a job cannot be an `unsafe fn`: a worker calls it with any stored input");
    }
    if let Some(abi) = &sig.abi {
        errors.at(abi.extern_token.span, "a job cannot be an `extern fn`");
    }
    if let Some(variadic) = &sig.variadic {
        errors.at(variadic.dots.span(), "a job cannot be variadic");
    }
}

fn generics(sig: &Signature, errors: &mut Errors) {
    for param in &sig.generics.params {
        errors.at(
            param.span(),
            match param {
                GenericParam::Lifetime(_) => {
                    "a job has no lifetime parameters: write `ctx: &Ctx`, and let the input own its data"
                }
                _ => "a job cannot be generic: what is stored names one concrete input type",
            },
        );
    }
}

/// The argument of the input, if there is one. What follows a wrong first argument is not judged.
fn inputs<'a>(sig: &'a Signature, errors: &mut Errors) -> Option<&'a PatType> {
    let mut args = sig.inputs.iter();
    if !takes_context(sig, args.next(), errors) {
        return None;
    }
    let input = match args.next() {
        Some(FnArg::Typed(input)) => Some(input),
        _ => None,
    };
    if let Some(input) = input {
        payload(&input.ty, errors);
    }
    if let Some(extra) = args.next() {
        errors.at(extra.span(), "a job takes one input beside its context: put the values into one struct");
    }
    input
}

fn takes_context(sig: &Signature, first: Option<&FnArg>, errors: &mut Errors) -> bool {
    match first {
        None => {
            errors.at(sig.paren_token.span.join(), "a job takes its context: write `ctx: &Ctx` as the first argument");
            false
        }
        Some(FnArg::Receiver(receiver)) => {
            errors.at(receiver.self_token.span, "a job is a free fn without `self`: a worker gives it state by `ctx`");
            false
        }
        Some(FnArg::Typed(ctx)) => match peeled(&ctx.ty) {
            Type::Reference(reference) => {
                if let Some(token) = &reference.mutability {
                    errors.at(
                        token.span,
                        "a job takes its context as `&Ctx`, not `&mut Ctx`: its steps may run side by side",
                    );
                }
                true
            }
            ty => {
                errors.at(ty.span(), "the first argument of a job is its context: write `ctx: &Ctx`");
                false
            }
        },
    }
}

/// A type without the invisible brackets that `macro_rules` puts around it.
fn peeled(ty: &Type) -> &Type {
    match ty {
        Type::Group(group) => peeled(&group.elem),
        _ => ty,
    }
}

fn payload(ty: &Type, errors: &mut Errors) {
    match peeled(ty) {
        Type::ImplTrait(_) => errors.at(ty.span(), "the input of a job is one concrete type, not `impl Trait`"),
        Type::Reference(_) => {
            errors.at(ty.span(), "the input of a job owns its data, since it is stored: take it by value");
        }
        _ => {}
    }
}

fn output<'a>(sig: &'a Signature, errors: &mut Errors) -> Option<&'a Type> {
    match &sig.output {
        ReturnType::Default => {
            errors.at(sig.ident.span(), "a job returns a `Result`: write `-> Result<(), jobs::Failure>`");
            None
        }
        ReturnType::Type(_, ty) => {
            if let Type::ImplTrait(_) = peeled(ty) {
                errors.at(ty.span(), "the output of a job is one concrete `Result`, not `impl Trait`");
            }
            Some(ty)
        }
    }
}

/// The name of the argument; `input` where it is taken apart or not used.
fn input_name(input: &PatType) -> Ident {
    match &*input.pat {
        Pat::Ident(pat) if !pat.ident.to_string().starts_with('_') => pat.ident.clone(),
        _ => default_name(),
    }
}

fn default_name() -> Ident {
    Ident::new("input", Span::call_site())
}

impl Head {
    /// The type of the input, `()` where the job takes none.
    pub(crate) fn input_type(&self) -> TokenStream {
        match &self.input {
            Some(ty) => ty.to_token_stream(),
            None => quote!(()),
        }
    }

    /// The place of the input's type.
    pub(crate) fn input_span(&self) -> Span {
        self.input.as_ref().map_or_else(|| self.ident.span(), Spanned::span)
    }
}
