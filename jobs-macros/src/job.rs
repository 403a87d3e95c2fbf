//! Runs the passes of `#[job]`: args → item → signature → outline → validate → expand, or fallback.

use crate::{
    args,
    errors::Errors,
    expand, fallback,
    item::{Item, name_in},
    outline, signature, validate,
};
use proc_macro2::TokenStream;
use quote::quote;

/// The fn as it was written, followed by what the attribute makes of it.
pub(crate) fn job(args: TokenStream, item: TokenStream) -> TokenStream {
    let generated = generate(args, &item);
    quote! { #item #generated }
}

fn generate(args: TokenStream, tokens: &TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let mut args = args::parse(args, &mut errors);
    let item: Item = match syn::parse2(tokens.clone()) {
        Ok(item) => item,
        Err(error) => {
            match name_in(tokens) {
                Some(_) => errors.push(error),
                None => errors.at(error.span(), "`#[job]` goes on an `async fn`"),
            }
            return fallback::without_fn(tokens, &args, &errors);
        }
    };
    let head = signature::check(&item.sig, &mut errors);
    let outline = outline::read(&item.body);
    validate::validate(&mut args, &outline, &mut errors);
    let Some(head) = head else { return fallback::without_job(&item, &args, &errors) };
    let chances = match outline.is_empty() || args.allow_nondeterminism {
        true => Vec::new(),
        false => outline::find_chances(&item.body),
    };
    let expansion = expand::expand(&expand::Model { item, head, args, outline, chances });
    let errors = errors.to_tokens();
    quote! { #expansion #errors }
}
