fn tick<T>(ctx: &mut Ctx, input: impl Send) {}
///Handle of the job [`tick`](fn@tick).
#[allow(dead_code, non_camel_case_types)]
enum tick {}
::core::compile_error! {
    "a job is an `async fn`"
}
::core::compile_error! {
    "a job cannot be generic: what is stored names one concrete input type"
}
::core::compile_error! {
    "a job takes its context as `&Ctx`, not `&mut Ctx`: its steps may run side by side"
}
::core::compile_error! {
    "the input of a job is one concrete type, not `impl Trait`"
}
::core::compile_error! {
    "a job returns a `Result`: write `-> Result<(), jobs::Failure>`"
}
