//! Writes what a job becomes: its handle, the `Job` implementation, the registration. The fn itself is not touched.
//!
//! Everything is named by absolute path, since the user may shadow anything; the work is done by `__private`.

pub(crate) mod spec;
mod warnings;

use crate::{
    args::{Args, Key, Tenant},
    item::Item,
    outline::{Chance, Construct},
    signature::Head,
};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Expr, Path, ext::IdentExt, spanned::Spanned};

/// A job whose every part is understood.
pub(crate) struct Model {
    pub(crate) item: Item,
    pub(crate) head: Head,
    pub(crate) args: Args,
    pub(crate) outline: Vec<Construct>,
    pub(crate) chances: Vec<Chance>,
}

/// The handle, the implementation, the registration and the warnings.
pub(crate) fn expand(model: &Model) -> TokenStream {
    let handle_name = handle_name(&model.item.sig.ident, &model.args);
    let handle = handle(&model.item, &handle_name);
    let implementation = implementation(model, &handle_name);
    let warnings = warnings::warnings(&model.item, &model.chances);
    quote! { #handle #implementation #warnings }
}

/// The name of the handle: the fn's own, unless an option says otherwise.
pub(crate) fn handle_name(ident: &Ident, args: &Args) -> Ident {
    args.handle.clone().unwrap_or_else(|| ident.clone())
}

/// The empty type that stands for the job.
pub(crate) fn handle(item: &Item, name: &Ident) -> TokenStream {
    let Item { vis, sig, .. } = item;
    let doc = format!("Handle of the job [`{0}`](fn@{0}).", sig.ident.unraw());
    let cfg = item.attrs_named("cfg");
    let deprecated = item.attrs_named("deprecated");
    quote! {
        #(#cfg)*
        #(#deprecated)*
        #[doc = #doc]
        #[allow(dead_code, non_camel_case_types)]
        #vis enum #name {}
    }
}

fn implementation(model: &Model, handle: &Ident) -> TokenStream {
    let Model { item, head, args, .. } = model;
    let krate = args.krate();
    let vis = &item.vis;
    let cfg = item.attrs_named("cfg");
    let input = head.input_type();
    let input_type = quote_spanned!(head.input_span()=> type Input = <#input as __job::InputType>::Itself;);
    let output = {
        let output = &head.output;
        quote_spanned!(output.span()=> type Output = <<#output as __job::JobReturn>::Ok as __job::OutputType>::Itself;)
    };
    let spec = spec::spec(model);
    let run = run(head);
    let tenant = tenant(head, args);
    let unique_key = unique_key(head, args);
    let schemas = schemas(head, args);
    let upgrade = args.upgrade.as_ref().map(upgrade);
    let on_settled = args.on_settled.as_ref().map(on_settled);
    let doc = format!(
        "Enqueues the job [`{0}`](fn@{0}). Nothing happens before the answer is awaited.",
        item.sig.ident.unraw()
    );
    let doc_many = format!(
        "Enqueues many jobs [`{0}`](fn@{0}) in one go. Nothing happens before the answer is awaited.",
        item.sig.ident.unraw()
    );
    quote_spanned! { Span::mixed_site()=>
        #(#cfg)*
        #[allow(dead_code, deprecated, unused_qualifications, unused_variables)]
        const _: () = {
            use #krate::__private as __job;
            impl #handle {
                #[doc = #doc]
                #vis fn enqueue(jobs: &__job::Jobs, input: #input) -> __job::Enqueue<'_> {
                    jobs.enqueue::<Self>(input)
                }
                #[doc = #doc_many]
                #vis fn enqueue_many(
                    jobs: &__job::Jobs,
                    inputs: impl __job::IntoIterator<Item = #input>,
                ) -> __job::EnqueueMany<'_> {
                    jobs.enqueue_many::<Self>(inputs)
                }
            }
            impl __job::Job for #handle {
                #input_type
                #output
                #spec
                #run
                #tenant
                #unique_key
                #schemas
                #upgrade
                #on_settled
            }
            __job::register!(#handle);
        };
    }
}

/// `Self::Input` and `Self::Output` at the places of the user's types: an error of such a type is then the same error
/// wherever it shows, and the compiler prints it once.
struct SelfTypes {
    input: TokenStream,
    output: TokenStream,
}

impl SelfTypes {
    fn of(head: &Head) -> Self {
        Self {
            input: quote_spanned!(head.input_span()=> Self::Input),
            output: quote_spanned!(head.output.span()=> Self::Output),
        }
    }
}

fn run(head: &Head) -> TokenStream {
    let ident = &head.ident;
    let site = Span::mixed_site();
    let (input, args) = match head.input {
        Some(_) => (quote_spanned!(site=> input), quote_spanned!(site=> ctx, input)),
        None => (quote!(_), quote_spanned!(site=> ctx)),
    };
    let fail = quote_spanned!(located(head.output.span())=> |error| __job::failure!(error));
    let body = quote_spanned!(located(ident.span())=> __job::body(#ident(#args), #fail));
    let SelfTypes { input: input_type, output } = SelfTypes::of(head);
    quote_spanned! { Span::mixed_site()=>
        fn run(
            ctx: &__job::Ctx,
            #input: #input_type,
        ) -> __job::BoxFuture<'_, __job::Result<#output, __job::Failure>> {
            #body
        }
    }
}

fn tenant(head: &Head, args: &Args) -> TokenStream {
    let (name, value) = match &args.tenant {
        Some(Tenant::Of(expr)) => {
            let name = &head.input_name;
            (quote!(#name), quote_spanned!(located(expr.span())=> __job::TenantId::tenant(&(#expr))))
        }
        _ => (quote!(_), quote!(__job::None)),
    };
    let input = SelfTypes::of(head).input;
    quote_spanned! { Span::mixed_site()=>
        fn tenant(#name: &#input) -> __job::Option<__job::String> {
            #value
        }
    }
}

fn unique_key(head: &Head, args: &Args) -> Option<TokenStream> {
    let name = &head.input_name;
    let key = match &args.unique.as_ref()?.key {
        Key::Input => return None,
        Key::Text(expr) => quote_spanned!(located(expr.span())=> __job::unique_text(&(#expr))),
        Key::Fields(fields) => {
            let fields = fields.iter().map(|field| {
                let text = field_name(field);
                quote_spanned!(located(field.span())=> (#text, __job::serde_json::to_value(&#name.#field)))
            });
            quote!(__job::unique_fields(Self::SPEC.name, [#(#fields),*]))
        }
    };
    let input = SelfTypes::of(head).input;
    Some(quote_spanned! { Span::mixed_site()=>
        fn unique_key(#name: &#input) -> __job::Result<__job::Option<__job::UniqueKey>, __job::Error> {
            #key
        }
    })
}

fn field_name(field: &Expr) -> String {
    match field {
        Expr::Field(inner) => match &inner.member {
            syn::Member::Named(member) => format!("{}.{}", field_name(&inner.base), member.unraw()),
            syn::Member::Unnamed(_) => field_name(&inner.base),
        },
        Expr::Path(path) => path.path.get_ident().map(|word| word.unraw().to_string()).unwrap_or_default(),
        _ => String::new(),
    }
}

fn schemas(head: &Head, args: &Args) -> TokenStream {
    let SelfTypes { input, output } = SelfTypes::of(head);
    let (input, output) = match args.schema {
        true => (
            quote_spanned!(located(head.input_span())=> __job::demanded_schema::<#input>()),
            quote_spanned!(located(head.output.span())=> __job::demanded_schema::<#output>()),
        ),
        false => (quote!(__job::schema!(#input)), quote!(__job::schema!(#output))),
    };
    quote_spanned! { Span::mixed_site()=>
        fn input_schema() -> __job::Option<__job::schemars::Schema> {
            #input
        }
        fn output_schema() -> __job::Option<__job::schemars::Schema> {
            #output
        }
    }
}

fn upgrade(path: &Path) -> TokenStream {
    let span = located(path.span());
    let call = quote_spanned!(span=> __job::upgraded(#path(from, input), |error| __job::failure!(error)));
    quote_spanned! { Span::mixed_site()=>
        fn upgrade(from: __job::u16, input: __job::serde_json::Value) -> __job::Result<__job::serde_json::Value, __job::Failure> {
            #call
        }
    }
}

fn on_settled(path: &Path) -> TokenStream {
    let span = located(path.span());
    let call = quote_spanned!(span=> __job::hook(#path(ctx, settled), |error| __job::failure!(error)));
    quote_spanned! { Span::mixed_site()=>
        fn on_settled(
            ctx: &__job::Ctx,
            settled: __job::Settled,
        ) -> __job::Option<__job::BoxFuture<'_, __job::Result<(), __job::Failure>>> {
            #call
        }
    }
}

/// The place of a user's token, in the macro's own hygiene, so that lints do not take the code for the user's.
pub(crate) fn located(span: Span) -> Span {
    Span::mixed_site().located_at(span)
}
