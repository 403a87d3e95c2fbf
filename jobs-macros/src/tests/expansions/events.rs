pub struct Shipped {
    at: Place,
}
#[allow(deprecated, unused_qualifications)]
const _: () = {
    use ::jobs::__private as __job;
    const __0: &__job::str = __job::name::must("order.shipped");
    #[automatically_derived]
    impl __job::Event for Shipped {
        const NAME: &'static __job::str = __0;
    }
};
#[cfg(feature = "orders")]
enum Lost {
    Stolen { by: String },
    Burnt,
}
#[cfg(feature = "orders")]
#[allow(deprecated, unused_qualifications)]
const _: () = {
    use crate::jobs::__private as __job;
    const __0: &__job::str = __job::name::must("order.lost");
    const __1: __job::Duration = __job::duration::must("30d");
    #[automatically_derived]
    impl __job::Event for Lost {
        const NAME: &'static __job::str = __0;
        const TTL: __job::Option<__job::Duration> = __job::Some(__1);
        fn tenant(&self) -> __job::Option<__job::String> {
            __job::TenantId::tenant(&(self.org))
        }
    }
};
struct Bad;
#[allow(deprecated, unused_qualifications)]
const _: () = {
    use ::jobs::__private as __job;
    const __0: &__job::str = __job::name::must("_");
    const __1: __job::Duration = __job::duration::must(5);
    #[automatically_derived]
    impl __job::Event for Bad {
        const NAME: &'static __job::str = __0;
        const TTL: __job::Option<__job::Duration> = __job::Some(__1);
    }
};
::core::compile_error! {
    "expected `,` between options"
}
::core::compile_error! {
    "unknown option `nmae`; the valid options are `name`, `tenant`, `ttl`, `crate`"
}
::core::compile_error! {
    "`#[event]` needs the name under which events of this type are stored: add `name = \"order.shipped\"`"
}
struct Generic<T>(T);
::core::compile_error! {
    "an event cannot be generic: what is stored under its name is of one type"
}
fn no() {}
::core::compile_error! {
    "`#[event]` goes on a struct or an enum"
}
