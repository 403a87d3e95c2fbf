async fn body() {
    async {
        match k::__private::steps::begin(
                k::__private::steps::ctx(ctx),
                {
                    const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new(
                        "charge",
                    );
                    __SPEC
                },
                k::__private::None,
            )
            .await?
        {
            k::__private::steps::Begin::Done(done) => k::__private::Ok(done),
            k::__private::steps::Begin::Run(run) => {
                run.once(
                        k::__private::boxed(async {
                            k::__private::step_result(
                                bank.charge(5).await,
                                |error| k::__private::failure!(error),
                            )
                        }),
                    )
                    .await
            }
        }
    };
    {
        let (ctx, key) = (k::__private::steps::ctx(ctx), k::__private::None);
        async move {
            match k::__private::steps::begin(
                    ctx,
                    {
                        const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new(
                            "charge",
                        );
                        __SPEC
                    },
                    key,
                )
                .await?
            {
                k::__private::steps::Begin::Done(done) => k::__private::Ok(done),
                k::__private::steps::Begin::Run(run) => {
                    run.once(k::__private::boxed(async move { Ok(5) })).await
                }
            }
        }
    };
    async {
        match k::__private::steps::begin(
                k::__private::steps::ctx(ctx),
                {
                    const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new(
                        "charge",
                    );
                    __SPEC
                },
                k::__private::None,
            )
            .await?
        {
            k::__private::steps::Begin::Done(done) => k::__private::Ok(done),
            k::__private::steps::Begin::Run(run) => {
                run.once(
                        k::__private::boxed(async {
                            k::__private::step_result(
                                (bank.charge(5)).await,
                                |error| k::__private::failure!(error),
                            )
                        }),
                    )
                    .await
            }
        }
    };
    async {
        match k::__private::steps::begin(
                k::__private::steps::ctx(ctx),
                {
                    use k::__private as __job;
                    const __0: __job::Duration = __job::duration::must("10s");
                    const __1: &__job::str = __job::name::step("old");
                    const __SPEC: &__job::StepSpec = &__job::StepSpec {
                        timeout: __job::Some(__0),
                        aliases: &[__1],
                        once: true,
                        ..k::__private::StepSpec::new("charge")
                    };
                    __SPEC
                },
                k::__private::steps::key(&(order.id)),
            )
            .await?
        {
            k::__private::steps::Begin::Done(done) => k::__private::Ok(done),
            k::__private::steps::Begin::Run(run) => {
                run.once(k::__private::boxed(async { Ok(5) })).await
            }
        }
    };
    async {
        match k::__private::steps::begin(
                k::__private::steps::ctx(ctx),
                {
                    use k::__private as __job;
                    const __0: __job::u32 = __job::max_attempts(3);
                    const __1: __job::Duration = __job::duration::must("1s");
                    const __SPEC: &__job::StepSpec = &__job::StepSpec {
                        retry: __job::Some(__job::Retry {
                            max_attempts: __0,
                            backoff: __job::Backoff::new(
                                __job::Growth::Exponential,
                                __1,
                                __job::DEFAULT_RETRY.backoff.max,
                            ),
                        }),
                        ..k::__private::StepSpec::new("charge")
                    };
                    __SPEC
                },
                k::__private::None,
            )
            .await?
        {
            k::__private::steps::Begin::Done(done) => k::__private::Ok(done),
            k::__private::steps::Begin::Run(mut run) => {
                loop {
                    if let k::__private::Some(done) = run
                        .attempt(k::__private::boxed(async { Ok(5) }))
                        .await
                    {
                        break done;
                    }
                }
            }
        }
    };
}
