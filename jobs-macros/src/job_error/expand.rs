//! Writes the implementation of `JobError` and registers the type.

use super::{
    Model,
    case::{Case, Retry},
    site,
};
use crate::{args::value::literal_text, expand::located};
use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::{Expr, Fields, Index, spanned::Spanned};

pub(super) fn expand(model: &Model) -> TokenStream {
    let ident = &model.input.ident;
    let krate = model.krate.as_ref().map_or_else(|| quote_spanned!(site()=> ::jobs), ToTokens::to_token_stream);
    let mut consts = Vec::new();
    let mut codes = Vec::new();
    let mut arms = Vec::new();
    for case in &model.cases {
        if let Some(arm) = arm(case, &mut consts, &mut codes) {
            arms.push(arm);
        }
    }
    let rest = (arms.len() < model.cases.len() || model.cases.is_empty()).then(|| quote!(_ => __job::None,));
    quote_spanned! { site()=>
        #[allow(deprecated, unused_qualifications)]
        const _: () = {
            use #krate::__private as __job;
            #(#consts)*
            #[automatically_derived]
            impl __job::JobError for #ident {
                const CODES: &'static [__job::Code] = &[#(#codes),*];
                fn classify(&self) -> __job::Option<__job::Class> {
                    match self {
                        #(#arms)*
                        #rest
                    }
                }
            }
            __job::register_error!(#ident);
        };
    }
}

/// The match arm of a case that says anything.
fn arm(case: &Case, consts: &mut Vec<TokenStream>, codes: &mut Vec<Ident>) -> Option<TokenStream> {
    let says = case.says.as_ref()?;
    let code = match &says.code {
        Some(code) => {
            let name = format_ident!("__{}", consts.len(), span = site());
            let (text, title, fix) = (&code.name, &code.title, &code.fix);
            let checked = quote_spanned!(located(text.span())=> __job::declared_code(#text));
            consts.push(quote! {
                const #name: __job::Code = __job::Code { name: #checked, title: #title, fix: #fix };
            });
            codes.push(name.clone());
            quote!(__job::Some(#name))
        }
        None => quote!(__job::None),
    };
    let (bound, verdict) = match &says.retry {
        Retry::Backoff => (None, quote!(__job::Verdict::Backoff)),
        Retry::Terminal => (None, quote!(__job::Verdict::Terminal)),
        Retry::After(wait) => match literal_text(wait) {
            Some(text) => {
                let name = format_ident!("__{}", consts.len(), span = site());
                let checked = quote_spanned!(located(text.span())=> __job::duration::must(#text));
                consts.push(quote!(const #name: __job::Duration = #checked;));
                (None, quote!(__job::Verdict::After(#name)))
            }
            None => (Some(wait), quote_spanned!(located(wait.span())=> __job::Wait::verdict(&(#wait)))),
        },
    };
    let pattern = pattern(case.variant.as_ref(), &case.fields, bound);
    Some(quote!(#pattern => __job::Some(__job::Class { verdict: #verdict, code: #code }),))
}

/// Matches a variant or a struct, and binds the fields that an expression names: `_0` for the first of a tuple.
fn pattern(variant: Option<&Ident>, fields: &Fields, expr: Option<&Expr>) -> TokenStream {
    let path = match variant {
        Some(variant) => quote!(Self::#variant),
        None => quote!(Self),
    };
    let Some(expr) = expr else { return quote!(#path { .. }) };
    let words = words(expr.to_token_stream());
    let bound = fields.iter().enumerate().filter_map(|(at, field)| match &field.ident {
        Some(name) => words.contains(name).then(|| quote!(#name,)),
        None => {
            let name = words.iter().find(|word| **word == format!("_{at}"))?;
            let index = Index::from(at);
            Some(quote!(#index: #name,))
        }
    });
    quote!(#path { #(#bound)* .. })
}

/// Every word of an expression.
fn words(tokens: TokenStream) -> Vec<Ident> {
    tokens
        .into_iter()
        .flat_map(|token| match token {
            TokenTree::Ident(word) => vec![word],
            TokenTree::Group(group) => words(group.stream()),
            _ => Vec::new(),
        })
        .collect()
}
