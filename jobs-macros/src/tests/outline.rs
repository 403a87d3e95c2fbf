//! The outline of a body, its checks, and what is found between its steps.

use crate::{
    errors::Errors,
    outline::{self, Kind, find_chances},
};
use proc_macro2::TokenStream;
use quote::quote;

fn outlined(body: TokenStream) -> Vec<(Kind, String, bool)> {
    let read = outline::read(&body);
    read.into_iter().map(|found| (found.kind, found.name.unwrap_or_default(), found.keyed)).collect()
}

fn mistakes(body: TokenStream) -> Vec<String> {
    let mut errors = Errors::default();
    outline::check(&outline::read(&body), &mut errors);
    errors.messages()
}

fn chances(body: TokenStream) -> Vec<String> {
    find_chances(&body).into_iter().map(|chance| chance.note.split('`').nth(1).unwrap_or_default().to_owned()).collect()
}

#[test]
fn constructs_are_listed_in_source_order() {
    let found = outlined(quote! {
        let hold: Hold = step!(ctx, "hold stock", async { 1 }).await?;
        compensate!(ctx, "hold stock", [hold], async move |ctx| { () });
        step_tx!(ctx, "book", async |tx| {}).await?;
        let shipped = wait_for!(ctx, "shipped", key = input.order, timeout = "3d").await?;
        sleep!(ctx, "cool down", "1h").await;
        sleep_until!(ctx, "morning", at).await;
        race!(ctx, "first", a, b).await;
        spawn!(ctx, "child", other, input).await;
        patch!(ctx, "change").await;
        pivot!(ctx);
    });
    let expected = [
        (Kind::Step, "hold stock", false),
        (Kind::Compensate, "hold stock", false),
        (Kind::StepTx, "book", false),
        (Kind::WaitFor, "shipped", true),
        (Kind::Sleep, "cool down", false),
        (Kind::Sleep, "morning", false),
        (Kind::Race, "first", false),
        (Kind::Spawn, "child", false),
        (Kind::Patch, "change", false),
        (Kind::Pivot, "", false),
    ];
    assert_eq!(found, expected.map(|(kind, name, keyed)| (kind, name.to_owned(), keyed)));
}

#[test]
fn constructs_are_found_in_groups_by_path_and_in_any_bracket() {
    let found = outlined(quote! {
        for item in items {
            if item.ok { tokio::join!(jobs::step!(ctx, "a", async {}), ::jobs::step![ctx, "b", async {}]); }
        }
        let f = || { step! { ctx, "c", async { [step!(ctx, r"d", async {})] } } };
    });
    let names: Vec<String> = found.into_iter().map(|(_, name, _)| name).collect();
    assert_eq!(names, ["a", "b", "c", "d"]);
}

#[test]
fn what_only_looks_like_a_construct_is_not_one() {
    let found = outlined(quote! {
        step(ctx, "fn");
        if step != (1) {}
        self.sleep!();
        let step = "step!(ctx, \"text\", async {})";
        other!(ctx, "x");
    });
    assert_eq!(found, [(Kind::Sleep, String::new(), false)]);
}

#[test]
fn a_name_that_is_no_literal_is_listed_without_a_name() {
    let found = outlined(quote!(step!(ctx, NAME, async {}); step!(ctx, 5, async {}); step!(); step!(ctx)));
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|(_, name, _)| name.is_empty()));
    assert!(mistakes(quote!(step!(ctx, NAME, async {}); step!(ctx, NAME, async {});)).is_empty());
}

#[test]
fn a_key_is_told_from_a_comparison_and_from_a_body() {
    let keyed = |body| outlined(body).iter().all(|(.., keyed)| *keyed);
    assert!(keyed(quote!(step!(ctx, "a", key = x.id, async {}))));
    assert!(keyed(quote!(step!(ctx, "a", once, timeout = "1s", key = (a, b), async {}))));
    assert!(!keyed(quote!(step!(ctx, "a", key == x, async {}))));
    assert!(!keyed(quote!(step!(ctx, "a", async { key = 1 }))));
}

#[test]
fn a_name_twice_is_refused_unless_a_key_tells_the_runs_apart() {
    assert_eq!(mistakes(quote!(step!(ctx, "a", async {}); step!(ctx, "a", async {}); sleep!(ctx, "a", "1s"))).len(), 2);
    assert!(mistakes(quote!(step!(ctx, "a", key = 1, async {}); step!(ctx, "a", key = 2, async {}))).is_empty());
    assert!(mistakes(quote!(step!(ctx, "a", async {}); step!(ctx, "a", key = 2, async {}))).is_empty());
    assert!(
        mistakes(quote!(step!(ctx, "a", async {}); compensate!(ctx, "a", [], f); compensate!(ctx, "a", [], f)))
            .is_empty()
    );
}

#[test]
fn an_alias_that_is_a_name_of_today_is_refused() {
    let found = mistakes(quote! {
        step!(ctx, "a", async {}).await?;
        step!(ctx, "b", aliases = ["old", "a"], async {}).await?;
    });
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("`a` is the name of a line of this job"), "{found:?}");
}

#[test]
fn a_line_in_a_loop_is_refused_unless_it_has_a_key() {
    let found = mistakes(quote! {
        for item in items { step!(ctx, "a", async {}).await?; }
        while step!(ctx, "b", async {}).await? { if x { sleep!(ctx, "c", "1s").await; } }
        'all: loop { race!(ctx, "d", x = sleep!(ctx, "e", key = 1, "1s") => 1).await?; }
    });
    let expected = ["`step!` \"a\"", "`step!` \"b\"", "`sleep!` \"c\"", "`race!` \"d\""];
    assert_eq!(
        found,
        expected
            .map(|line| { format!("{line} stands in a loop: give it `key = …`, so that its runs are told apart") })
    );
}

#[test]
fn a_line_beside_a_loop_with_a_key_or_that_is_no_step_is_left_alone() {
    let found = mistakes(quote! {
        for item in step!(ctx, "a", async {}).await? { step!(ctx, "b", key = item, async {}).await?; }
        loop { patch!(ctx, "c").await?; pivot!(ctx).await?; break; }
        impl Mark for Local { }
        step!(ctx, "d", async { for x in y {} }).await?;
        let f: Box<dyn for<'a> Fn(&'a str)> = f;
        if x { step!(ctx, "e", async {}).await?; }
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_compensation_of_nothing_is_refused_and_the_steps_are_listed() {
    let found = mistakes(quote!(step!(ctx, "a", async {}); step_tx!(ctx, "b", f); compensate!(ctx, "c", [], f)));
    assert_eq!(found, ["this job has no step `c` to compensate; it has `a`, `b`"]);
    let found = mistakes(quote!(compensate!(ctx, "c", [], f)));
    assert_eq!(found, ["this job has no step `c` to compensate; it has none"]);
}

#[test]
fn an_always_compensation_stands_before_its_step() {
    let before = quote!(compensate!(ctx, "a", always, [], f); step!(ctx, "a", async {}));
    assert!(mistakes(before).is_empty());
    let found = mistakes(quote!(step!(ctx, "a", async {}); compensate!(ctx, "a", timeout = "1s", always, [], f)));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("move it above the step `a`"), "{found:?}");
}

#[test]
fn a_compensation_has_a_key_where_its_step_has_one() {
    let keyed = quote!(step!(ctx, "a", key = 1, async {}); compensate!(ctx, "a", key = 1, [], f));
    assert!(mistakes(keyed).is_empty());
    let found = mistakes(quote!(step!(ctx, "a", key = 1, async {}); compensate!(ctx, "a", [], f)));
    assert_eq!(found, ["the step `a` has a `key`: give its compensation the same `key = …`"]);
    let found = mistakes(quote!(step!(ctx, "a", async {}); compensate!(ctx, "a", key = 1, [], f)));
    assert_eq!(found, ["the step `a` has no `key`: its compensation has none either"]);
}

#[test]
fn what_stands_in_the_body_of_a_step_is_refused_and_what_stands_in_a_race_is_not() {
    let found = mistakes(quote! {
        step!(ctx, "a", async { jobs::sleep!(ctx, "b", "1s").await; });
        compensate!(ctx, "a", [], async move |ctx| { step!(ctx, "c", async {}).await });
        race!(ctx, "r", x = step!(ctx, "d", async {}) => 1, () = sleep!(ctx, "e", "1s") => 2);
    });
    assert_eq!(found.len(), 2);
    assert!(found[0].starts_with("this stands in the body of the `step!` of `a`"), "{found:?}");
    assert!(found[1].starts_with("this stands in the body of the `compensate!` of `a`"), "{found:?}");
}

#[test]
fn chance_is_found_between_steps_and_not_inside_them() {
    let found = chances(quote! {
        let at = chrono::Utc::now();
        let s = Event { at: SystemTime::now(), d: std::time::Instant::now() };
        let n: u8 = rand::random();
        tokio::select! { _ = a => {}, _ = tokio::time::sleep(d) => {} }
        ::tokio::spawn(async {});
        step!(ctx, "a", async { Utc::now(); rand::random::<u8>() }).await?;
        jobs::step!(ctx, "b", async { Utc::now() }).await?;
        compensate!(ctx, "a", [], async |_| { Utc::now(); });
        race!(ctx, "r", step!(ctx, "c", async { Utc::now() }), tokio::time::sleep(d));
        wait_for!(ctx, "w", key = Uuid::new_v4(), timeout = "1s").await?;
        spawn!(ctx, "s", mail, Mail { id: Uuid::new_v4() }).await?;
        tokio::time::timeout(d, step!(ctx, "t", async {})).await?;
        futures::select_biased! { a = x => {} }
        select! { a = x => {} }
        futures::future::select(a, b).await;
    });
    assert_eq!(
        found,
        [
            "Utc::now",
            "SystemTime::now",
            "Instant::now",
            "rand",
            "tokio::select",
            "tokio::time::sleep",
            "tokio::spawn",
            "tokio::time::sleep",
            "Uuid::new_v4",
            "tokio::time::timeout",
            "select_biased!",
            "select!",
            "future::select"
        ]
    );
}

#[test]
fn what_is_not_chance_is_left_alone() {
    let found = chances(quote! {
        ctx.now(); clock.Utc; let select = 1; x.select(select); let rand = 5; rand + 1; input.rand; tokio::join!(a, b); Utc::from(x); now(); spawn!(ctx, "x", y);
    });
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn any_tokens_can_be_read() {
    for body in ["", "step!", "step!(", "step ! ( ) )", "! ! (", ":: ::", "a:: ::b", "step!(ctx,,\"a\",,)"] {
        if let Ok(tokens) = body.parse::<TokenStream>() {
            let _ = (outlined(tokens.clone()), chances(tokens.clone()), mistakes(tokens));
        }
    }
}
