/// Sends a message.
pub async fn send_email(ctx: &Ctx, input: Email) -> Result<(), MailError> {
    mailer(ctx).send(input).await
}
///Handle of the job [`send_email`](fn@send_email).
#[allow(dead_code, non_camel_case_types)]
pub enum send_email {}
#[allow(dead_code, deprecated, unused_qualifications, unused_variables)]
const _: () = {
    use ::jobs::__private as __job;
    impl send_email {
        ///Enqueues the job [`send_email`](fn@send_email). Nothing happens before the answer is awaited.
        pub fn enqueue(jobs: &__job::Jobs, input: Email) -> __job::Enqueue<'_> {
            jobs.enqueue::<Self>(input)
        }
        ///Enqueues many jobs [`send_email`](fn@send_email) in one go. Nothing happens before the answer is awaited.
        pub fn enqueue_many(
            jobs: &__job::Jobs,
            inputs: impl __job::IntoIterator<Item = Email>,
        ) -> __job::EnqueueMany<'_> {
            jobs.enqueue_many::<Self>(inputs)
        }
    }
    impl __job::Job for send_email {
        type Input = <Email as __job::InputType>::Itself;
        type Output = <<Result<
            (),
            MailError,
        > as __job::JobReturn>::Ok as __job::OutputType>::Itself;
        const SPEC: __job::JobSpec = {
            const __0: &__job::str = __job::name::must("send_email");
            __job::JobSpec::new(__0)
                .written("Sends a message.", ::core::file!(), ::core::line!(), &[])
        };
        fn run(
            ctx: &__job::Ctx,
            input: Self::Input,
        ) -> __job::BoxFuture<'_, __job::Result<Self::Output, __job::Failure>> {
            __job::body(send_email(ctx, input), |error| __job::failure!(error))
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
    __job::register!(send_email);
};
