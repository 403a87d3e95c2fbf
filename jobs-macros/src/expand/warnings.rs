//! Writes warnings on the stable compiler: each is the use of a deprecated constant, at the user's token.

use crate::{item::Item, outline::Chance};
use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

/// A warning for each source of nondeterminism.
pub(super) fn warnings(item: &Item, chances: &[Chance]) -> TokenStream {
    let cfg = item.attrs_named("cfg");
    let warnings = chances.iter().map(|chance| {
        let note = &chance.note;
        let read = quote_spanned!(chance.span=> nondeterminism);
        quote! {
            #(#cfg)*
            const _: () = {
                #[deprecated(note = #note)]
                #[allow(non_upper_case_globals)]
                const nondeterminism: () = ();
                #read
            };
        }
    });
    quote!(#(#warnings)*)
}
