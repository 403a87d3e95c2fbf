async fn body() {
    {
        let (ctx, key) = (k::__private::steps::ctx(ctx), k::__private::None);
        let hold = k::__private::Clone::clone(&hold);
        let id = hold.id;
        k::__private::saga::undo(
            ctx,
            {
                const __SPEC: &k::__private::UndoSpec = &k::__private::UndoSpec::new(
                    "hold",
                );
                __SPEC
            },
            key,
            move |ctx: k::__private::Ctx, _| k::__private::boxed(async move {
                let ctx: &k::__private::Ctx = &ctx;
                k::__private::undo_result(
                    warehouse(ctx)?.release(hold, id).await,
                    |error| k::__private::failure!(error),
                )
            }),
        );
    };
    {
        let (ctx, key) = (
            k::__private::steps::ctx(ctx),
            k::__private::steps::key(&(id)),
        );
        k::__private::saga::undo(
            ctx,
            {
                use k::__private as __job;
                const __0: __job::Duration = __job::duration::must("10s");
                const __SPEC: &__job::UndoSpec = &__job::UndoSpec {
                    timeout: __job::Some(__0),
                    always: true,
                    ..k::__private::UndoSpec::new("hold")
                };
                __SPEC
            },
            key,
            move |ctx: k::__private::Ctx, output| k::__private::boxed(async move {
                let ctx: &k::__private::Ctx = &ctx;
                let done: Option<Hold> = k::__private::saga::decode(output)?;
                Ok(())
            }),
        );
    };
    {
        let (ctx, key) = (k::__private::steps::ctx(ctx), k::__private::None);
        k::__private::saga::undo(
            ctx,
            {
                use k::__private as __job;
                const __0: __job::u32 = __job::max_attempts(9);
                const __SPEC: &__job::UndoSpec = &__job::UndoSpec {
                    retry: __job::Some(__job::Retry {
                        max_attempts: __0,
                        ..__job::DEFAULT_RETRY
                    }),
                    ..k::__private::UndoSpec::new("hold")
                };
                __SPEC
            },
            key,
            move |ctx: k::__private::Ctx, _| k::__private::boxed(async move {
                let _: &k::__private::Ctx = &ctx;
                k::__private::undo_result(
                    release(id).await,
                    |error| k::__private::failure!(error),
                )
            }),
        );
    };
}
