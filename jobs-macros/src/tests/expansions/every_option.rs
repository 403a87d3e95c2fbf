#[cfg(feature = "orders")]
#[deprecated]
async fn place_order(ctx: &Ctx, order: Order) -> anyhow::Result<Receipt> {}
#[cfg(feature = "orders")]
#[deprecated]
///Handle of the job [`place_order`](fn@place_order).
#[allow(dead_code, non_camel_case_types)]
enum PlaceOrder {}
#[cfg(feature = "orders")]
#[allow(dead_code, deprecated, unused_qualifications, unused_variables)]
const _: () = {
    use crate::jobs::__private as __job;
    impl PlaceOrder {
        ///Enqueues the job [`place_order`](fn@place_order). Nothing happens before the answer is awaited.
        fn enqueue(jobs: &__job::Jobs, input: Order) -> __job::Enqueue<'_> {
            jobs.enqueue::<Self>(input)
        }
        ///Enqueues many jobs [`place_order`](fn@place_order) in one go. Nothing happens before the answer is awaited.
        fn enqueue_many(
            jobs: &__job::Jobs,
            inputs: impl __job::IntoIterator<Item = Order>,
        ) -> __job::EnqueueMany<'_> {
            jobs.enqueue_many::<Self>(inputs)
        }
    }
    impl __job::Job for PlaceOrder {
        type Input = <Order as __job::InputType>::Itself;
        type Output = <<anyhow::Result<
            Receipt,
        > as __job::JobReturn>::Ok as __job::OutputType>::Itself;
        const SPEC: __job::JobSpec = {
            const __0: &__job::str = __job::name::must("orders.place");
            const __1: &__job::str = __job::name::must("orders.take");
            const __2: __job::u16 = __job::version(2);
            const __3: &__job::str = __job::name::must(QUEUE);
            const __4: __job::Duration = __job::duration::must("1h");
            const __5: __job::u32 = __job::max_attempts(7);
            const __6: __job::Duration = __job::duration::must("2s");
            const __7: __job::Duration = __job::duration::must("10m");
            const __8: __job::Duration = __job::duration::must("2m");
            const __9: __job::Duration = __job::duration::must("3d");
            const __10: __job::Duration = __job::duration::must("30d");
            const __11: __job::u16 = __job::crash_budget(5);
            __job::JobSpec {
                aliases: &[__1],
                version: __2,
                queue: __3,
                priority: -10,
                unique: __job::Some(__job::Unique {
                    hold: __job::Hold::For(__4),
                    on_conflict: __job::OnConflict::Reject,
                }),
                retry: __job::Retry {
                    max_attempts: __5,
                    backoff: __job::Backoff::new(__job::Growth::Exponential, __6, __7)
                        .without_jitter(),
                },
                timeout: __job::Some(__8),
                expires_after: __job::Some(__9),
                keep: __job::Keep::For(__10),
                dead_letter: false,
                crash_budget: __11,
                needs: &[__job::Need::of::<Bank>(), __job::Need::of::<Warehouse>()],
                then: __job::Some(__job::FollowUp::to::<notify>()),
                on_dead: __job::Some(__job::FollowUp::to::<alarms::raise>()),
                ..__job::JobSpec::new(__0)
                    .written("", ::core::file!(), ::core::line!(), &[])
            }
        };
        fn run(
            ctx: &__job::Ctx,
            input: Self::Input,
        ) -> __job::BoxFuture<'_, __job::Result<Self::Output, __job::Failure>> {
            __job::body(place_order(ctx, input), |error| __job::failure!(error))
        }
        fn tenant(order: &Self::Input) -> __job::Option<__job::String> {
            __job::TenantId::tenant(&(order.org))
        }
        fn unique_key(
            order: &Self::Input,
        ) -> __job::Result<__job::Option<__job::UniqueKey>, __job::Error> {
            __job::unique_fields(
                Self::SPEC.name,
                [
                    ("number", __job::serde_json::to_value(&order.number)),
                    ("address.city", __job::serde_json::to_value(&order.address.city)),
                ],
            )
        }
        fn input_schema() -> __job::Option<__job::schemars::Schema> {
            __job::demanded_schema::<Self::Input>()
        }
        fn output_schema() -> __job::Option<__job::schemars::Schema> {
            __job::demanded_schema::<Self::Output>()
        }
        fn upgrade(
            from: __job::u16,
            input: __job::serde_json::Value,
        ) -> __job::Result<__job::serde_json::Value, __job::Failure> {
            __job::upgraded(older::upgrade(from, input), |error| __job::failure!(error))
        }
        fn on_settled(
            ctx: &__job::Ctx,
            settled: __job::Settled,
        ) -> __job::Option<__job::BoxFuture<'_, __job::Result<(), __job::Failure>>> {
            __job::hook(look_at(ctx, settled), |error| __job::failure!(error))
        }
    }
    __job::register!(PlaceOrder);
};
