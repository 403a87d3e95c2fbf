//! The expansion names nothing that the user's scope could change.

/// Shadows what an expansion is tempted to name.
#[allow(
    nonstandard_style,
    dead_code,
    unused_imports,
    unused_macros,
    unreachable_pub,
    reason = "they only stand in the way"
)]
mod shadowed {
    pub struct Result;
    pub struct Option;
    pub struct Box;
    pub struct String;
    pub struct Vec;
    pub struct Send;
    pub struct Sync;
    pub struct Future;
    pub struct u16;
    pub struct u32;
    pub struct bool;
    pub struct Job;
    pub struct JobSpec;
    pub struct Failure;
    pub trait From {}
    pub trait Into {}
    pub trait IntoIterator {}
    pub fn Ok() {}
    pub fn Err() {}
    pub fn Some() {}
    pub const None: () = ();
    pub mod std {}
    pub mod core {}
    pub mod alloc {}
    pub mod jobs {}
    pub mod inventory {}
    pub mod serde_json {}
    macro_rules! file {
        () => {
            compile_error!("shadowed")
        };
    }
    macro_rules! line {
        () => {
            compile_error!("shadowed")
        };
    }
    macro_rules! vec {
        () => {
            compile_error!("shadowed")
        };
    }

    #[derive(::jobs::serde::Serialize, ::jobs::serde::Deserialize)]
    #[serde(crate = "::jobs::serde")]
    pub(super) struct Email {
        pub(super) to: ::std::string::String,
    }

    #[::jobs::job(
        tenant = input.to,
        version = 2,
        upgrade = upgrade,
        unique(by = [to]),
        retry(max_attempts = 2, backoff = exponential("1s")),
        timeout = "1s",
        needs(Email),
        on_settled = settled
    )]
    pub(super) async fn shadowed_job(
        _: &::jobs::Ctx,
        input: Email,
    ) -> ::core::result::Result<::std::string::String, ::jobs::Failure> {
        ::core::result::Result::Ok(input.to)
    }

    #[derive(::jobs::serde::Serialize, ::jobs::serde::Deserialize)]
    #[serde(crate = "::jobs::serde")]
    #[::jobs::event(name = "shadowed.shipped", tenant = self.to, ttl = "1h")]
    pub(super) struct Shipped {
        pub(super) to: ::std::string::String,
    }

    #[::jobs::job(tenant = none)]
    pub(super) async fn shadowed_steps(
        context: &::jobs::Ctx,
        input: ::core::primitive::u64,
    ) -> ::core::result::Result<(), ::jobs::Failure> {
        let run = ::jobs::step!(context, "plain", async { ::core::result::Result::Ok(input) }).await?;
        ::jobs::compensate!(context, "plain", timeout = "1s", [run, output = run], async move |error| {
            let _: &::jobs::Ctx = error;
            let _ = (run, output);
            settles(run).await
        });
        let key: ::core::primitive::u64 = ::jobs::step!(
            context,
            "options",
            timeout = "1s",
            retry(max_attempts = 2, backoff = exponential("1s", max = "5s")),
            key = run,
            aliases = ["older"],
            async move { settles(run).await.map(|()| run) }
        )
        .await?;
        ::jobs::sleep!(context, "sleep", "1ms").await;
        let done: ::core::option::Option<Shipped> =
            ::jobs::wait_for!(context, "wait", key = key, timeout = "1ms").await?;
        ::core::mem::drop(done);
        let won = ::jobs::race!(
            context,
            "race",
            () = ::jobs::sleep!(context, "left", "1ms") => run,
            () = ::jobs::sleep!(context, "right", "1ms") => key,
        )
        .await?;
        let open: ::core::primitive::u64 = ::jobs::step_tx!(context, "tx", key = won, async |tx| {
            let _: &mut ::jobs::StepTx = tx;
            ::core::result::Result::Ok(won)
        })
        .await?;
        ::core::mem::drop(::jobs::spawn!(context, "child", shadowed_steps, open).await?);
        if ::jobs::patch!(context, "patch").await? {
            ::jobs::pivot!(context).await?;
        }
        ::core::result::Result::Ok(())
    }

    async fn settles(_: ::core::primitive::u64) -> ::core::result::Result<(), ::std::io::Error> {
        ::core::result::Result::Ok(())
    }

    async fn settled(_: &::jobs::Ctx, _: ::jobs::Settled) -> ::core::result::Result<(), ::jobs::Failure> {
        ::core::result::Result::Ok(())
    }

    fn upgrade(
        _: ::core::primitive::u16,
        input: ::jobs::serde_json::Value,
    ) -> ::core::result::Result<::jobs::serde_json::Value, ::jobs::Failure> {
        ::core::result::Result::Ok(input)
    }
}

/// Another name for the crate, as a renamed dependency has it.
mod renamed {
    pub(super) use ::jobs as work;
}

mod forms {
    use super::renamed::work;
    use jobs::prelude::*;

    type Result<T, E = Failure> = std::result::Result<T, E>;

    #[derive(Debug, Serialize, Deserialize)]
    pub(super) struct Pair {
        pub(super) left: u32,
        pub(super) right: u32,
    }

    #[job(tenant = none)]
    pub(super) async fn r#match(_: &Ctx, _: ()) -> Result<()> {
        Ok(())
    }

    #[job(tenant = input.left)]
    pub(super) async fn takes_apart(_ctx: &Ctx, Pair { left, right }: Pair) -> Result<u32> {
        Ok(left + right)
    }

    #[work::job(tenant = none, crate = super::renamed::work)]
    pub(super) async fn by_another_name(_ctx: &Ctx, mut input: Pair) -> Result<Pair> {
        input.left += 1;
        Ok(input)
    }

    #[derive(Serialize, Deserialize)]
    #[work::event(name = "renamed", crate = super::renamed::work)]
    pub(super) struct Renamed;

    #[work::job(tenant = none, crate = super::renamed::work)]
    pub(super) async fn steps_by_another_name(ctx: &Ctx) -> Result<u32> {
        let value: u32 = work::step!(ctx, "value", async { Ok(5) }).await?;
        work::compensate!(ctx, "value", [value], async move |_| {
            let _ = value;
            Ok(())
        });
        Ok(value)
    }

    #[job(tenant = none)]
    pub(super) async fn without_schema(_ctx: &Ctx, _input: Pair) -> Result<()> {
        Ok(())
    }
}

use jobs::{Event, Job, Registry, Settled};

#[test]
fn a_scope_that_shadows_the_prelude_changes_nothing() {
    let email = shadowed::Email { to: "a@b.c".to_owned() };
    assert_eq!(shadowed::shadowed_job::tenant(&email).as_deref(), Some("a@b.c"));
    assert_eq!(shadowed::shadowed_job::SPEC.needs.len(), 1);
}

#[test]
fn steps_in_such_a_scope_are_listed_as_anywhere() {
    let names: Vec<&str> = shadowed::shadowed_steps::SPEC.outline.iter().map(|item| item.name).collect();
    assert_eq!(names, ["plain", "plain", "options", "sleep", "wait", "race", "left", "right", "tx", "child", ""]);
    let shipped = shadowed::Shipped { to: "acme".to_owned() };
    assert_eq!((shadowed::Shipped::NAME, shipped.tenant().as_deref()), ("shadowed.shipped", Some("acme")));
    assert_eq!(forms::Renamed::NAME, "renamed");
}

#[tokio::test]
async fn steps_run_under_another_name_of_the_crate() -> Result<(), jobs::Failure> {
    let jobs = jobs::Jobs::memory()?;
    let ctx = jobs::Ctx::for_test(&jobs).build();
    assert_eq!(forms::steps_by_another_name(&ctx).await?, 5);
    Ok(())
}

#[test]
fn a_raw_name_is_stored_without_its_mark() {
    assert_eq!(forms::r#match::SPEC.name, "match");
}

#[test]
fn an_input_that_the_signature_takes_apart_is_called_input() {
    assert_eq!(forms::takes_apart::tenant(&forms::Pair { left: 1, right: 2 }).as_deref(), Some("1"));
}

#[test]
fn an_input_without_a_schema_is_listed_without_one() {
    assert!(forms::without_schema::input_schema().is_none());
    assert!(forms::by_another_name::output_schema().is_none());
}

#[test]
fn a_job_inside_a_fn_registers_itself() {
    #[jobs::job(tenant = settled.tenant)]
    async fn nested_in_a_test(_ctx: &jobs::Ctx, settled: Settled) -> Result<(), jobs::Failure> {
        drop(settled);
        Ok(())
    }
    let registry = Registry::linked().expect("no name twice");
    assert!(registry.get("nested_in_a_test").is_some());
    assert!(registry.get(nested_in_a_test::SPEC.name).is_some());
    assert!(registry.get("by_another_name").is_some());
}

/// The names of a macro's own parameters and those of the user do not meet.
#[test]
fn a_job_may_be_declared_by_a_macro() {
    macro_rules! declare {
        ($name:ident, $queue:literal, $tenant:expr) => {
            #[jobs::job(tenant = $tenant, queue = $queue)]
            async fn $name(ctx: &jobs::Ctx, input: u32) -> Result<(), jobs::Failure> {
                let run: u32 = jobs::step!(ctx, $queue, key = $tenant, async { Ok(input) }).await?;
                jobs::compensate!(ctx, $queue, key = $tenant, [run], async move |ctx| {
                    let _: (&jobs::Ctx, u32) = (ctx, run);
                    Ok(())
                });
                Ok(())
            }
        };
    }
    declare!(by_macro, "mail", 7);
    assert_eq!((by_macro::SPEC.name, by_macro::SPEC.queue), ("by_macro", "mail"));
    assert_eq!(by_macro::tenant(&1).as_deref(), Some("7"));
}
