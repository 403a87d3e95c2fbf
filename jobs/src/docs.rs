//! The guide, a page each. The code in it is compiled.

macro_rules! pages {
    ($($page:ident)*) => {
        $(
            #[doc = include_str!(concat!("../docs/", stringify!($page), ".md"))]
            pub mod $page {}
        )*
    };
}

pages! {
    getting_started
    enqueue
    failing
    steps
    sagas
    events
    tenants
    workers
    postgres
    testing
    guarantees
    states
    errors
}
