//! Runs the passes of `#[derive(JobError)]`: cases → expand. Each variant, or the struct, is one case.

mod case;
mod expand;

use crate::errors::Errors;
use case::Case;
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::{Data, DeriveInput, Path, spanned::Spanned};

/// What an error type is made of.
struct Model {
    input: DeriveInput,
    krate: Option<Path>,
    cases: Vec<Case>,
}

/// The implementation and the registration, or one with defaults beside the errors.
pub(crate) fn job_error(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let model = match syn::parse2(input) {
        Ok(input) => model(input, &mut errors),
        Err(error) => {
            errors.push(error);
            None
        }
    };
    let expansion = model.as_ref().map(expand::expand);
    let errors = errors.to_tokens();
    quote! { #expansion #errors }
}

fn model(input: DeriveInput, errors: &mut Errors) -> Option<Model> {
    if let Some(param) = input.generics.params.first() {
        errors.at(param.span(), "an error that derives `JobError` cannot be generic: it registers itself as one type");
        return None;
    }
    let krate = case::krate(&input.attrs, errors);
    let cases = match &input.data {
        Data::Struct(data) => {
            vec![case::read(None, &input.attrs, &data.fields, errors)]
        }
        Data::Enum(data) => {
            case::refuse_on_enum(&input.attrs, errors);
            data.variants
                .iter()
                .map(|variant| case::read(Some(&variant.ident), &variant.attrs, &variant.fields, errors))
                .collect()
        }
        Data::Union(data) => {
            errors.at(data.union_token.span, "a union cannot be an error");
            return None;
        }
    };
    case::same_code_same_meaning(&cases, errors);
    Some(Model { input, krate, cases })
}

/// The place of a generated name.
fn site() -> Span {
    Span::mixed_site()
}
