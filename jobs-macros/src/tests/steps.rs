//! Snapshots of what the macros of a body become, and the mistakes that they find.

use super::expansion::check;
use crate::steps;
use expect_test::expect_file;
use proc_macro2::TokenStream;
use quote::quote;

/// The fn around expressions, so that they can be formatted.
fn within(expressions: impl IntoIterator<Item = TokenStream>) -> TokenStream {
    let expressions = expressions.into_iter();
    quote! { async fn body() { #(#expressions;)* } }
}

#[test]
fn a_step_in_all_its_forms() {
    let forms = [
        quote!(k; ctx, "charge", async { bank.charge(5).await }),
        quote!(k; ctx, "charge", async move { Ok(5) }),
        quote!(k; ctx, "charge", bank.charge(5)),
        quote!(k; ctx, "charge", once, timeout = "10s", key = order.id, aliases = ["old"], async { Ok(5) }),
        quote!(k; ctx, "charge", retry(max_attempts = 3, backoff = exponential("1s")), async { Ok(5) }),
    ];
    check(within(forms.map(steps::step)), expect_file!["expansions/step.rs"]);
}

#[test]
fn waits_in_all_their_forms() {
    let forms = [
        steps::sleep(quote!(k; ctx, "nap", "1h")),
        steps::sleep(quote!(k; ctx, "nap", key = day, left * 2)),
        steps::sleep_until(quote!(k; &ctx, "morning", at)),
        steps::wait_for(quote!(k; ctx, "shipped", key = order)),
        steps::wait_for(quote!(k; ctx, "shipped", timeout = "3d", key = order, aliases = ["sent"])),
        steps::wait_for(quote!(k; ctx, "decided", key = day, event_key = order, timeout = "1d")),
        steps::spawn(quote!(k; ctx, "mail", mails::send, Email { to })),
        steps::patch(quote!(k; ctx, "new mail")),
        steps::pivot(quote!(k; ctx)),
    ];
    check(within(forms), expect_file!["expansions/waits.rs"]);
}

#[test]
fn a_compensation_in_all_its_forms() {
    let forms = [
        quote!(k; ctx, "hold", [hold, id = hold.id], async move |ctx| { warehouse(ctx)?.release(hold, id).await }),
        quote!(k; ctx, "hold", always, timeout = "10s", key = id, [], async move |ctx, done: Option<Hold>| { Ok(()) }),
        quote!(k; ctx, "hold", retry(max_attempts = 9), async move |_| release(id).await),
    ];
    check(within(forms.map(steps::compensate)), expect_file!["expansions/compensate.rs"]);
}
