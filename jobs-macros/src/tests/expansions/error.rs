#[allow(deprecated, unused_qualifications)]
const _: () = {
    use ::jobs::__private as __job;
    const __0: __job::Code = __job::Code {
        name: __job::declared_code("X_CARD_DECLINED"),
        title: "declined",
        fix: "another card",
    };
    const __1: __job::Duration = __job::duration::must("30s");
    #[automatically_derived]
    impl __job::JobError for ChargeError {
        const CODES: &'static [__job::Code] = &[__0];
        fn classify(&self) -> __job::Option<__job::Class> {
            match self {
                Self::Declined { .. } => {
                    __job::Some(__job::Class {
                        verdict: __job::Verdict::Terminal,
                        code: __job::Some(__0),
                    })
                }
                Self::Closed { .. } => {
                    __job::Some(__job::Class {
                        verdict: __job::Verdict::After(__1),
                        code: __job::None,
                    })
                }
                Self::Busy { wait, .. } => {
                    __job::Some(__job::Class {
                        verdict: __job::Wait::verdict(&(*wait)),
                        code: __job::None,
                    })
                }
                _ => __job::None,
            }
        }
    }
    __job::register_error!(ChargeError);
};
