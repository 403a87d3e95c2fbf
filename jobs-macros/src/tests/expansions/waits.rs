async fn body() {
    k::__private::steps::sleep(
        k::__private::steps::ctx(ctx),
        {
            const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new("nap");
            __SPEC
        },
        k::__private::None,
        {
            const LENGTH: k::__private::Duration = k::__private::duration::must("1h");
            LENGTH
        },
    );
    k::__private::steps::sleep(
        k::__private::steps::ctx(ctx),
        {
            const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new("nap");
            __SPEC
        },
        k::__private::steps::key(&(day)),
        left * 2,
    );
    k::__private::steps::sleep_until(
        k::__private::steps::ctx(&ctx),
        {
            const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new(
                "morning",
            );
            __SPEC
        },
        k::__private::None,
        at,
    );
    k::__private::steps::wait_for(
        k::__private::steps::ctx(ctx),
        {
            const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new(
                "shipped",
            );
            __SPEC
        },
        k::__private::steps::key(&(order)),
        k::__private::None,
    );
    k::__private::steps::wait_for_within(
        k::__private::steps::ctx(ctx),
        {
            use k::__private as __job;
            const __0: &__job::str = __job::name::step("sent");
            const __SPEC: &__job::StepSpec = &__job::StepSpec {
                aliases: &[__0],
                ..k::__private::StepSpec::new("shipped")
            };
            __SPEC
        },
        k::__private::steps::key(&(order)),
        k::__private::None,
        {
            const LENGTH: k::__private::Duration = k::__private::duration::must("3d");
            LENGTH
        },
    );
    k::__private::steps::wait_for_within(
        k::__private::steps::ctx(ctx),
        {
            const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new(
                "decided",
            );
            __SPEC
        },
        k::__private::steps::key(&(day)),
        k::__private::steps::key(&(order)),
        {
            const LENGTH: k::__private::Duration = k::__private::duration::must("1d");
            LENGTH
        },
    );
    k::__private::steps::spawn::<
        mails::send,
    >(
        k::__private::steps::ctx(ctx),
        {
            const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new("mail");
            __SPEC
        },
        k::__private::None,
        Email { to },
    );
    k::__private::steps::patch(
        k::__private::steps::ctx(ctx),
        {
            const __SPEC: &k::__private::StepSpec = &k::__private::StepSpec::new(
                "new mail",
            );
            __SPEC
        },
    );
    k::__private::steps::pivot(k::__private::steps::ctx(ctx));
}
