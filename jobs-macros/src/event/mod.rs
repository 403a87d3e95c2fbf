//! Runs the passes of `#[event]`: args → item → expand. The type itself is not touched.

mod args;
mod expand;

use crate::{errors::Errors, item};
use proc_macro2::{Ident, TokenStream};
use quote::quote;
use syn::{
    Attribute, Generics, Token, Visibility,
    parse::{Parse, ParseStream},
};

/// The type as it was written, followed by what the attribute makes of it.
pub(crate) fn event(args: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let args = args::parse(args, &mut errors);
    let expansion = match syn::parse2::<Item>(item.clone()) {
        Ok(found) => found.checked(&mut errors).map(|found| expand::expand(&found, &args)),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    let errors = errors.to_tokens();
    quote! { #item #expansion #errors }
}

/// The head of a type. The rest is never read: it may be mid-edit.
struct Item {
    attrs: Vec<Attribute>,
    ident: Ident,
    generics: Generics,
}

impl Parse for Item {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        if input.peek(Token![struct]) {
            input.parse::<Token![struct]>()?;
        } else if input.peek(Token![enum]) {
            input.parse::<Token![enum]>()?;
        } else {
            return Err(input.error("`#[event]` goes on a struct or an enum"));
        }
        let (ident, generics) = (input.parse()?, input.parse()?);
        input.parse::<TokenStream>()?;
        Ok(Self { attrs, ident, generics })
    }
}

impl Item {
    /// The item, if it can be an event.
    fn checked(self, errors: &mut Errors) -> Option<Self> {
        match self.generics.params.first() {
            Some(param) => {
                let text = "an event cannot be generic: what is stored under its name is of one type";
                errors.at(syn::spanned::Spanned::span(param), text);
                None
            }
            None => Some(self),
        }
    }

    /// The attributes that what is generated must carry as well.
    fn attrs_named(&self, name: &str) -> Vec<&Attribute> {
        item::attrs_named(&self.attrs, name)
    }
}
