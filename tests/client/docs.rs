//! The generated pages: they are compared, and written anew where `UPDATE_DOCS` is set.

use expect_test::expect;
use jobs::{State, error::code};
use std::{collections::BTreeSet, fmt::Write, path::Path};

/// Compares a page with what it is generated from, or writes it.
fn check(page: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, generated).expect("the docs are writable");
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == generated, "docs/{page} has drifted; `./dev docs` rewrites it");
}

#[test]
fn the_page_of_error_codes_is_up_to_date() {
    let mut page = String::from(
        "# Error codes\n\nEvery refusal and failure carries a stable code. The text after it names the thing and the limit; the \
         fix says what to do.\nGenerated from the table in `jobs-runtime/src/error/code.rs`.\n\n| code | means | fix |\n| --- | --- | --- |\n",
    );
    for code in code::ALL {
        let _ = writeln!(
            page,
            "| `{}` | {} | {} |",
            code.name,
            code.title.replace('|', "\\|"),
            code.fix.replace('|', "\\|")
        );
    }
    check("errors.md", &page);
}

#[test]
fn codes_are_well_formed_and_unique() {
    let mut names = BTreeSet::new();
    for code in code::ALL {
        assert!(names.insert(code.name), "{} stands twice", code.name);
        let parts: Vec<&str> = code.name.split('_').collect();
        assert!(parts.len() >= 2 && parts[0] == "X", "{}", code.name);
        assert!(code.name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'), "{}", code.name);
        for text in [code.title, code.fix] {
            assert!(!text.is_empty() && !text.ends_with('.') && !text.contains('\n'), "{}: {text}", code.name);
        }
    }
}

#[test]
fn the_page_of_states_is_up_to_date() {
    let mut page = String::from(
        "# States\n\nWhere a job stands, and where it can go from there.\nGenerated from `jobs-runtime/src/state.rs`.\n\n\
         ```mermaid\nstateDiagram-v2\n    [*] --> ready: enqueue\n    [*] --> delayed: enqueue for later\n",
    );
    for from in State::ALL {
        for to in from.next() {
            let _ = writeln!(page, "    {from} --> {to}");
        }
        if from.next().is_empty() {
            let _ = writeln!(page, "    {from} --> [*]");
        }
    }
    page.push_str("```\n\n| state | means | final |\n| --- | --- | --- |\n");
    for state in State::ALL {
        let _ = writeln!(page, "| `{state}` | {} | {} |", state.meaning(), if state.is_final() { "yes" } else { "no" });
    }
    check("states.md", &page);
}

#[test]
fn a_final_state_has_no_way_on_but_an_operators() {
    let ways: Vec<String> = State::ALL
        .iter()
        .filter(|state| state.is_final())
        .map(|state| format!("{state}: {:?}", state.next()))
        .collect();
    expect![[r#"completed: []
dead: [Ready]
dropped: []
cancelled: []
expired: []"#]]
    .assert_eq(&ways.join("\n"));
}
