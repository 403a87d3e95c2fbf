async fn tick(ctx: &Ctx) -> Result<(), Failure> {}
///Handle of the job [`tick`](fn@tick).
#[allow(dead_code, non_camel_case_types)]
enum tick {}
#[allow(dead_code, deprecated, unused_qualifications, unused_variables)]
const _: () = {
    use ::jobs::__private as __job;
    impl tick {
        ///Enqueues the job [`tick`](fn@tick). Nothing happens before the answer is awaited.
        fn enqueue(jobs: &__job::Jobs, input: ()) -> __job::Enqueue<'_> {
            jobs.enqueue::<Self>(input)
        }
        ///Enqueues many jobs [`tick`](fn@tick) in one go. Nothing happens before the answer is awaited.
        fn enqueue_many(
            jobs: &__job::Jobs,
            inputs: impl __job::IntoIterator<Item = ()>,
        ) -> __job::EnqueueMany<'_> {
            jobs.enqueue_many::<Self>(inputs)
        }
    }
    impl __job::Job for tick {
        type Input = <() as __job::InputType>::Itself;
        type Output = <<Result<
            (),
            Failure,
        > as __job::JobReturn>::Ok as __job::OutputType>::Itself;
        const SPEC: __job::JobSpec = {
            const __0: &__job::str = __job::name::must("tick");
            __job::JobSpec::new(__0).written("", ::core::file!(), ::core::line!(), &[])
        };
        fn run(
            ctx: &__job::Ctx,
            _: Self::Input,
        ) -> __job::BoxFuture<'_, __job::Result<Self::Output, __job::Failure>> {
            __job::body(tick(ctx), |error| __job::failure!(error))
        }
        fn tenant(_: &Self::Input) -> __job::Option<__job::String> {
            __job::None
        }
        fn input_schema() -> __job::Option<__job::schemars::Schema> {
            __job::schema!(Self::Input)
        }
        fn output_schema() -> __job::Option<__job::schemars::Schema> {
            __job::schema!(Self::Output)
        }
    }
    __job::register!(tick);
};
::core::compile_error! {
    "`queue` has no value after `=`"
}
::core::compile_error! {
    "expected `,` between options"
}
::core::compile_error! {
    "unknown option `colour`; the valid options are `name`, `aliases`, `version`, `queue`, `priority`, `tenant`, `unique`, `retry`, `timeout`, `expires_after`, `keep`, `dead_letter`, `crash_budget`, `needs`, `then`, `on_dead`, `on_settled`, `upgrade`, `schema`, `handle`, `crate`, `allow`"
}
::core::compile_error! {
    "`tenant` is written `tenant = input.field` or `tenant = none`"
}
