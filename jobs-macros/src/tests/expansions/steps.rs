async fn r#move(_: &Ctx, Parcel { from, to }: Parcel) -> Result<(), Failure> {
    let at = Utc::now();
    let hold: Hold = step!(ctx, "hold stock", async { Utc::now() }).await?;
    compensate!(ctx, "hold stock", [hold], async move | ctx | { release(hold). await });
    sleep!(ctx, "cool down", "1h").await;
}
///Handle of the job [`move`](fn@move).
#[allow(dead_code, non_camel_case_types)]
enum r#move {}
#[allow(dead_code, deprecated, unused_qualifications, unused_variables)]
const _: () = {
    use ::jobs::__private as __job;
    impl r#move {
        ///Enqueues the job [`move`](fn@move). Nothing happens before the answer is awaited.
        fn enqueue(jobs: &__job::Jobs, input: Parcel) -> __job::Enqueue<'_> {
            jobs.enqueue::<Self>(input)
        }
        ///Enqueues many jobs [`move`](fn@move) in one go. Nothing happens before the answer is awaited.
        fn enqueue_many(
            jobs: &__job::Jobs,
            inputs: impl __job::IntoIterator<Item = Parcel>,
        ) -> __job::EnqueueMany<'_> {
            jobs.enqueue_many::<Self>(inputs)
        }
    }
    impl __job::Job for r#move {
        type Input = <Parcel as __job::InputType>::Itself;
        type Output = <<Result<
            (),
            Failure,
        > as __job::JobReturn>::Ok as __job::OutputType>::Itself;
        const SPEC: __job::JobSpec = {
            const __0: &__job::str = __job::name::must("move");
            __job::JobSpec::new(__0)
                .written(
                    "",
                    ::core::file!(),
                    ::core::line!(),
                    &[
                        __job::OutlineItem::new(
                            __job::OutlineKind::Step,
                            "hold stock",
                            false,
                            0,
                        ),
                        __job::OutlineItem::new(
                            __job::OutlineKind::Compensate,
                            "hold stock",
                            false,
                            0,
                        ),
                        __job::OutlineItem::new(
                            __job::OutlineKind::Sleep,
                            "cool down",
                            false,
                            0,
                        ),
                    ],
                )
        };
        fn run(
            ctx: &__job::Ctx,
            input: Self::Input,
        ) -> __job::BoxFuture<'_, __job::Result<Self::Output, __job::Failure>> {
            __job::body(r#move(ctx, input), |error| __job::failure!(error))
        }
        fn tenant(input: &Self::Input) -> __job::Option<__job::String> {
            __job::TenantId::tenant(&(input.from))
        }
        fn input_schema() -> __job::Option<__job::schemars::Schema> {
            __job::schema!(Self::Input)
        }
        fn output_schema() -> __job::Option<__job::schemars::Schema> {
            __job::schema!(Self::Output)
        }
    }
    __job::register!(r#move);
};
const _: () = {
    #[deprecated(
        note = "`Utc::now` between steps gives another answer when the job is replayed: use `ctx.now().await?`, move it into a step, or write `#[job(allow(nondeterminism))]`"
    )]
    #[allow(non_upper_case_globals)]
    const nondeterminism: () = ();
    nondeterminism
};
