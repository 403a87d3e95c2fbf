//! Keeps what it can of a fn that cannot be a job: the fn itself and its handle, so that names stay known while the
//! user is typing.

use crate::{args::Args, errors::Errors, expand, item::Item, item::name_in};
use proc_macro2::TokenStream;
use quote::quote;

/// The handle of a fn whose head is wrong, beside the errors. A method gets none: a type cannot stand beside it.
pub(crate) fn without_job(item: &Item, args: &Args, errors: &Errors) -> TokenStream {
    if item.sig.receiver().is_some() {
        return errors.to_tokens();
    }
    let handle = expand::handle(item, &expand::handle_name(&item.sig.ident, args));
    let errors = errors.to_tokens();
    quote! { #handle #errors }
}

/// The handle of tokens that are not a fn, if they name one, beside the errors.
pub(crate) fn without_fn(tokens: &TokenStream, args: &Args, errors: &Errors) -> TokenStream {
    let errors = errors.to_tokens();
    match name_in(tokens) {
        Some(ident) => {
            let name = expand::handle_name(&ident, args);
            quote! {
                #[allow(non_camel_case_types, dead_code)]
                enum #name {}
                #errors
            }
        }
        None => errors,
    }
}
