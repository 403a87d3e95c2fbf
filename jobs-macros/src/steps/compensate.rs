//! `compensate!`: says how a step is undone, beside the step.

use super::{
    call::{Call, Form, at, missing, written},
    expanded,
    options::{self, ALWAYS, KEY, RETRY, TIMEOUT},
    tail::Tail,
};
use crate::{errors::Errors, expand::located};
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Expr, ExprClosure, Ident, Pat, PatType, Token, bracketed,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
    spanned::Spanned,
    token::Bracket,
};

const FORM: Form = Form {
    name: "compensate",
    written: "`compensate!(ctx, \"step\", [captures], async move |ctx| { … })`, with options before the captures",
    options: &[ALWAYS, TIMEOUT, RETRY, KEY],
    takes_flags: true,
};

/// The statement that registers an undo.
pub(crate) fn compensate(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &FORM, |call, input, errors| {
        let options = options::read(input, &FORM, errors)?;
        let captures = captures(input)?;
        if input.is_empty() {
            return Err(missing(call, &FORM, "needs a closure that undoes the step"));
        }
        let undo: Expr = input.parse()?;
        let Expr::Closure(undo) = undo else {
            return Err(syn::Error::new(undo.span(), written(&FORM, "needs an async closure")));
        };
        check(&undo, options.always, errors);
        let private = &call.private;
        let captures = captures.iter().map(|capture| capture.expand(call));
        let (ctx, key, spec) = (call.ctx(), options.key(call), options.undo_spec(call));
        let run = run(private, &undo, options.always);
        Ok(quote_spanned! { Span::mixed_site()=> {
            let (ctx, key) = (#ctx, #key);
            #(#captures)*
            #private::saga::undo(ctx, #spec, key, #run);
        }})
    })
}

/// A value that the closure takes.
enum Capture {
    /// `name`: its clone.
    Clone(Ident),
    /// `name = value`
    Value(Ident, Expr),
}

impl Parse for Capture {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name: Ident = input.parse().map_err(|error| {
            syn::Error::new(error.span(), "a capture is the name of a variable, which is cloned, or `name = value`")
        })?;
        match input.peek(Token![=]) {
            false if input.is_empty() || input.peek(Token![,]) => Ok(Self::Clone(name)),
            false => Err(input.error("a capture is the name of a variable, which is cloned, or `name = value`")),
            true => {
                input.parse::<Token![=]>()?;
                Ok(Self::Value(name, input.parse()?))
            }
        }
    }
}

impl Capture {
    fn expand(&self, call: &Call) -> TokenStream {
        match self {
            Self::Clone(name) => {
                let private = call.private_at(name.span());
                quote_spanned!(located(name.span())=> let #name = #private::Clone::clone(&#name);)
            }
            Self::Value(name, value) => quote!(let #name = #value;),
        }
    }
}

fn captures(input: ParseStream<'_>) -> syn::Result<Punctuated<Capture, Token![,]>> {
    if !input.peek(Bracket) {
        return Ok(Punctuated::new());
    }
    let list;
    bracketed!(list in input);
    let captures = list.parse_terminated(Capture::parse, Token![,])?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
    }
    Ok(captures)
}

fn check(undo: &ExprClosure, always: bool, errors: &mut Errors) {
    if undo.asyncness.is_none() || undo.capture.is_none() {
        let span = undo.asyncness.map_or_else(|| undo.inputs_begin.span(), |asyncness| asyncness.span());
        errors.at(
            span,
            "a compensation outlives the body that registers it: write `async move |ctx| { … }`, with what it takes in \
             the captures before it",
        );
    }
    let takes = if always { 2 } else { 1 };
    if undo.inputs.len() != takes {
        let text = match always {
            true => {
                "an `always` compensation takes the context and what the step gave, if anything: \
                 `async move |ctx, done: Option<T>| { … }`"
            }
            false if undo.inputs.len() == 2 => {
                "only an `always` compensation takes what the step gave; others name it in their captures: \
                 `[output], async move |ctx| { … }`"
            }
            false => "a compensation takes its context: `async move |ctx| { … }`",
        };
        errors.at(undo.inputs_begin.span(), text);
    }
}

/// `move |ctx, output| Box::pin(async move { … })`
fn run(private: &TokenStream, undo: &ExprClosure, always: bool) -> TokenStream {
    let site = Span::mixed_site();
    let mut inputs = undo.inputs.iter();
    let context = inputs.next().map(|pat| argument(pat, &quote_spanned!(site=> &ctx), &quote!(&#private::Ctx)));
    let done = match (always, inputs.next()) {
        (true, Some(pat)) => {
            let (pat, ty) = match pat {
                Pat::Type(PatType { pat, ty, .. }) => (quote!(#pat), quote!(: #ty)),
                pat => (quote!(#pat), TokenStream::new()),
            };
            let decode = {
                let private = at(private, pat.span());
                quote_spanned!(located(pat.span())=> #private::saga::decode)
            };
            quote_spanned!(site=> let #pat #ty = #decode(output)?;)
        }
        _ => TokenStream::new(),
    };
    let output = if done.is_empty() { quote!(_) } else { quote_spanned!(site=> output) };
    let body = match &*undo.body {
        Expr::Block(block) if block.attrs.is_empty() && block.label.is_none() => {
            let turned = Tail { private, by: "undo_result" }.block(block.block.clone());
            let stmts = &turned.stmts;
            quote!(#(#stmts)*)
        }
        expr => {
            let turned = Tail { private, by: "undo_result" }.expr(expr.clone());
            quote!(#turned)
        }
    };
    let place = undo.asyncness.map_or_else(|| undo.body.span(), |asyncness| asyncness.span());
    let boxed = {
        let private = at(private, place);
        quote_spanned!(located(place)=> #private::boxed)
    };
    let asyncness = undo.asyncness.unwrap_or_else(|| Token![async](site));
    quote_spanned! { site=>
        move |ctx: #private::Ctx, #output| #boxed(#asyncness move {
            #context
            #done
            #body
        })
    }
}

/// `let pattern: type = value;`
fn argument(pat: &Pat, value: &TokenStream, ty: &TokenStream) -> TokenStream {
    match pat {
        Pat::Type(PatType { pat, ty, .. }) => quote!(let #pat: #ty = #value;),
        pat => quote!(let #pat: #ty = #value;),
    }
}
