//! Snapshots of expansions. `UPDATE_EXPECT=1 cargo test -p jobs-macros` writes them anew.

use crate::{event::event, job::job, job_error::job_error};
use expect_test::{ExpectFile, expect_file};
use proc_macro2::TokenStream;
use quote::quote;

fn formatted(tokens: TokenStream) -> String {
    prettyplease::unparse(&syn::parse2(tokens).expect("the expansion parses"))
}

pub(super) fn check(tokens: TokenStream, expected: ExpectFile) {
    expected.assert_eq(&formatted(tokens));
}

fn plain() -> TokenStream {
    job(
        quote!(tenant = none),
        quote! {
            /// Sends a message.
            pub async fn send_email(ctx: &Ctx, input: Email) -> Result<(), MailError> {
                mailer(ctx).send(input).await
            }
        },
    )
}

#[test]
fn a_plain_job() {
    check(plain(), expect_file!["expansions/plain.rs"]);
}

#[test]
fn a_plain_job_expands_to_fewer_than_60_lines() {
    let own = 4;
    let lines = formatted(plain()).lines().count() - own;
    assert!(lines < 60, "{lines} lines");
}

#[test]
fn a_job_with_every_option() {
    let args = quote!(
        name = "orders.place",
        aliases = ["orders.take"],
        version = 2,
        upgrade = older::upgrade,
        queue = QUEUE,
        priority = -10,
        tenant = order.org,
        unique(by = [number, address.city], for = "1h", on_conflict = reject),
        retry(max_attempts = 7, backoff = exponential("2s", max = "10m"), jitter = none),
        timeout = "2m",
        expires_after = "3d",
        keep = "30d",
        dead_letter = false,
        crash_budget = 5,
        needs(Bank, Warehouse),
        then = notify,
        on_dead = alarms::raise,
        on_settled = look_at,
        schema,
        handle = PlaceOrder,
        crate = crate::jobs
    );
    let item = quote! {
        #[cfg(feature = "orders")]
        #[deprecated]
        async fn place_order(ctx: &Ctx, order: Order) -> anyhow::Result<Receipt> {}
    };
    check(job(args, item), expect_file!["expansions/every_option.rs"]);
}

#[test]
fn a_job_with_steps() {
    let item = quote! {
        async fn r#move(_: &Ctx, Parcel { from, to }: Parcel) -> Result<(), Failure> {
            let at = Utc::now();
            let hold: Hold = step!(ctx, "hold stock", async { Utc::now() }).await?;
            compensate!(ctx, "hold stock", [hold], async move |ctx| { release(hold).await });
            sleep!(ctx, "cool down", "1h").await;
        }
    };
    check(job(quote!(tenant = input.from), item), expect_file!["expansions/steps.rs"]);
}

#[test]
fn a_bad_option_still_gives_the_whole_job() {
    let item = quote!(
        async fn tick(ctx: &Ctx) -> Result<(), Failure> {}
    );
    check(job(quote!(queue = , colour = "red", tenant none), item), expect_file!["expansions/bad_options.rs"]);
}

#[test]
fn a_bad_signature_gives_the_fn_and_an_empty_handle() {
    let item = quote!(
        fn tick<T>(ctx: &mut Ctx, input: impl Send) {}
    );
    check(job(quote!(tenant = none), item), expect_file!["expansions/bad_signature.rs"]);
}

#[test]
fn a_body_in_the_middle_of_an_edit_is_passed_on_as_it_is() {
    let item = quote! {
        async fn tick(ctx: &Ctx) -> Result<(), Failure> {
            let x = step!(ctx, "a", async { input. }).
            match
        }
    };
    let expansion = job(quote!(tenant = none), item.clone());
    let expansion = expansion.to_string();
    assert!(expansion.starts_with(&item.to_string()));
    assert!(expansion.contains("register"));
    assert!(!expansion.contains("compile_error"), "{expansion}");
}

#[test]
fn a_head_in_the_middle_of_an_edit_keeps_fn_and_handle() {
    let item = quote!(
        pub async fn tick(ctx: &Ctx, in) -> Result<(), {}
    );
    let expansion = job(quote!(tenant = none), item.clone()).to_string();
    assert!(expansion.starts_with(&item.to_string()));
    assert!(expansion.contains("enum tick { }"), "{expansion}");
    assert!(expansion.contains("compile_error"));
}

#[test]
fn an_error_type() {
    let input = quote! {
        enum ChargeError {
            #[job_error(code = "X_CARD_DECLINED", title = "declined", retry = terminal, caller_fix = "another card")]
            Declined,
            #[job_error(retry = after("30s"))]
            Closed(u8),
            #[job_error(retry = after(*wait))]
            Busy { wait: Duration, line: u8 },
            Other(io::Error),
        }
    };
    check(job_error(input), expect_file!["expansions/error.rs"]);
}

#[test]
fn events() {
    let items = [
        event(
            quote!(name = "order.shipped"),
            quote!(
                pub struct Shipped {
                    at: Place,
                }
            ),
        ),
        event(
            quote!(name = "order.lost", tenant = self.org, ttl = "30d", crate = crate::jobs),
            quote!(
                #[cfg(feature = "orders")]
                enum Lost {
                    Stolen { by: String },
                    Burnt,
                }
            ),
        ),
        event(
            quote!(nmae = "x", ttl = 5 6),
            quote!(
                struct Bad;
            ),
        ),
        event(
            quote!(name = "x"),
            quote!(
                struct Generic<T>(T);
            ),
        ),
        event(
            quote!(name = "x"),
            quote!(
                fn no() {}
            ),
        ),
    ];
    check(quote!(#(#items)*), expect_file!["expansions/events.rs"]);
}
