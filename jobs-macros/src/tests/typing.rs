//! Every state of a job while it is being typed: the macros answer, and pass on what is there.

use crate::{job::job, job_error::job_error};
use proc_macro2::TokenStream;

const ARGS: &str = r#"name = "orders.place", aliases = ["orders.take"], version = 2, upgrade = older::upgrade,
    queue = QUEUE, priority = -10, tenant = input.org.as_deref().map(Org::<A, B>::from), crate = ::a::jobs, schema,
    unique(by = [number, address.city], for = "1h", on_conflict = reject), timeout = "2m", keep = none,
    retry(max_attempts = 7, backoff = exponential("2s", max = "10m"), jitter = none), needs(Bank, Vec<u8>),
    then = notify, on_settled = look_at, handle = PlaceOrder, allow(nondeterminism)"#;

const ITEM: &str = r#"/// Takes an order.
    #[cfg(feature = "orders")] pub(crate) async fn r#place(ctx: &Ctx, Order { org, .. }: Order) -> Result<T<u8>, E> {
        let hold: Hold = step!(ctx, "hold", key = input.id, async { Utc::now() }).await?;
        compensate!(ctx, "hold", [hold], async move |ctx| { release(ctx, hold).await });
        tokio::select! { _ = a => {} }
    }"#;

const ERROR: &str = r#"/// An error.
    #[derive(Debug)] pub enum ChargeError {
        #[job_error(code = "X_A_B", title = "t", retry = after(*wait), caller_fix = "f")] Busy { wait: Duration },
        #[job_error(retry = terminal)] Declined(u8, #[source] io::Error),
    }"#;

/// Every beginning of a text that the lexer accepts, its open brackets closed as an editor closes them.
fn beginnings(text: &str) -> impl Iterator<Item = TokenStream> + '_ {
    text.char_indices().filter_map(|(end, _)| {
        let mut typed = text.get(..end)?.to_owned();
        let mut open = Vec::new();
        for letter in typed.chars() {
            match letter {
                '(' => open.push(')'),
                '[' => open.push(']'),
                '{' => open.push('}'),
                ')' | ']' | '}' => drop(open.pop()),
                _ => {}
            }
        }
        typed.extend(open.into_iter().rev());
        typed.parse().ok()
    })
}

#[test]
fn the_options_may_be_in_any_state() {
    let item: TokenStream = ITEM.parse().expect("lexes");
    let mut seen = 0;
    for args in beginnings(ARGS) {
        let expansion = job(args, item.clone()).to_string();
        assert!(expansion.starts_with(&item.to_string()));
        assert!(expansion.contains("__job :: Job for"));
        seen += 1;
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn the_fn_may_be_in_any_state() {
    let args: TokenStream = "tenant = none".parse().expect("lexes");
    let mut seen = 0;
    for item in beginnings(ITEM) {
        let expansion = job(args.clone(), item.clone()).to_string();
        assert!(expansion.starts_with(&item.to_string()));
        seen += 1;
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn an_error_type_may_be_in_any_state() {
    assert!(beginnings(ERROR).map(job_error).count() > 200);
}
