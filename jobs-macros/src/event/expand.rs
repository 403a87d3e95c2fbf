//! Writes the implementation of `Event`.

use super::{Item, args::Args};
use crate::expand::{
    located,
    spec::{Checks, Rule},
};
use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{quote, quote_spanned};
use syn::{LitStr, spanned::Spanned};

pub(super) fn expand(item: &Item, args: &Args) -> TokenStream {
    let krate = args.krate();
    let ident = &item.ident;
    let cfg = item.attrs_named("cfg");
    let mut checks = Checks::default();
    // Where it is missing, the error is said already.
    let name = args.name.clone().unwrap_or_else(|| LitStr::new("_", ident.span()));
    let name = checks.add(Rule::Name, &name);
    let ttl = args.ttl.as_ref().map(|ttl| {
        let ttl = checks.add(Rule::Duration, ttl);
        quote!(const TTL: __job::Option<__job::Duration> = __job::Some(#ttl);)
    });
    let tenant = args.tenant.as_ref().map(|tenant| {
        let value = quote_spanned!(located(tenant.span())=> __job::TenantId::tenant(&(#tenant)));
        let this = this(quote!(#tenant)).unwrap_or_else(|| Ident::new("self", Span::call_site()));
        quote! {
            fn tenant(&#this) -> __job::Option<__job::String> {
                #value
            }
        }
    });
    let checks = checks.tokens();
    quote_spanned! { Span::mixed_site()=>
        #(#cfg)*
        #[allow(deprecated, unused_qualifications)]
        const _: () = {
            use #krate::__private as __job;
            #checks
            #[automatically_derived]
            impl __job::Event for #ident {
                const NAME: &'static __job::str = #name;
                #ttl
                #tenant
            }
        };
    }
}

/// The user's own `self`: only a `self` of the same place is the same.
fn this(tokens: TokenStream) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if word == "self" => Some(word),
        TokenTree::Group(group) => this(group.stream()),
        _ => None,
    })
}
