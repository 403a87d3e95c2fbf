//! `race!`: the first of several futures, the same one at every replay.

use super::{
    call::{Form, missing, written},
    expanded,
    options::{self, ALIASES, KEY},
};
use crate::expand::located;
use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{
    Expr, Pat, Token,
    parse::{Parse, ParseStream},
    spanned::Spanned,
};

const FORM: Form = Form {
    name: "race",
    written: "`race!(ctx, \"name\", pattern = future => value, …)`, with options before the branches",
    options: &[KEY, ALIASES],
    takes_flags: true,
};

/// `pattern = future => value`
struct Branch {
    pat: Pat,
    future: Expr,
    value: Expr,
}

impl Parse for Branch {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let pat = input.call(Pat::parse_multi_with_leading_vert)?;
        if !input.peek(Token![=]) || input.peek(Token![=>]) {
            return Err(input.error(written(&FORM, "needs branches")));
        }
        input.parse::<Token![=]>()?;
        let future = input.parse()?;
        if !input.peek(Token![=>]) {
            return Err(input.error(written(&FORM, "needs a `=> value` in each branch")));
        }
        input.parse::<Token![=>]>()?;
        let value: Expr = input.parse()?;
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        } else if !input.is_empty() && !matches!(value, Expr::Block(_)) {
            return Err(input.error("expected `,` between branches"));
        }
        Ok(Self { pat, future, value })
    }
}

/// The future of the first.
pub(crate) fn race(tokens: TokenStream) -> TokenStream {
    expanded(tokens, &FORM, |call, input, errors| {
        let options = options::read(input, &FORM, errors)?;
        let mut branches = Vec::new();
        while !input.is_empty() {
            branches.push(input.parse::<Branch>()?);
        }
        if branches.len() < 2 {
            return Err(missing(call, &FORM, "needs two branches or more"));
        }
        let private = &call.private;
        let (ctx, key, spec) = (call.ctx(), options.key(call), options.step_spec(call));
        let futures = branches.iter().rev().fold(quote!(#private::steps::NoBranch), |rest, branch| {
            let future = &branch.future;
            let private = call.private_at(future.span());
            quote_spanned!(located(future.span())=> #private::steps::Branch(#future, #rest))
        });
        let arms = branches.iter().enumerate().map(|(place, branch)| {
            let Branch { pat, value, .. } = branch;
            let site = Span::mixed_site();
            let won = (0..place).fold(
                quote_spanned!(site=> #private::steps::Won::First(won)),
                |inner, _| quote!(#private::steps::Won::Later(#inner)),
            );
            quote_spanned!(site=> #won => { let #pat = won; #value })
        });
        Ok(quote_spanned! { Span::mixed_site()=>
            async {
                #private::Ok::<_, #private::steps::StepError>(
                    match #private::steps::race(#ctx, #spec, #key, #futures).await? {
                        #(#arms)*
                    }
                )
            }
        })
    })
}
