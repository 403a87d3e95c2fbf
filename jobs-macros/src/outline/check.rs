//! Refuses an outline that no run could follow: a name twice, a compensation of nothing.

use super::{Construct, Kind};
use crate::errors::Errors;
use std::collections::HashSet;

/// Says every mistake of the outline at its name.
pub(crate) fn check(outline: &[Construct], errors: &mut Errors) {
    names_once(outline, errors);
    compensations_of_steps(outline, errors);
}

fn names_once(outline: &[Construct], errors: &mut Errors) {
    let mut taken = HashSet::new();
    for construct in outline.iter().filter(|construct| construct.kind.is_recorded() && !construct.keyed) {
        if let Some(name) = &construct.name
            && !taken.insert(name)
        {
            errors.at(
                construct.span,
                format!(
                    "the name `{name}` is taken by an earlier step of this job: give this one another name, or a \
                     `key = …` if it runs more than once"
                ),
            );
        }
    }
}

fn compensations_of_steps(outline: &[Construct], errors: &mut Errors) {
    let steps: Vec<&str> = outline
        .iter()
        .filter(|construct| matches!(construct.kind, Kind::Step | Kind::StepTx | Kind::Spawn))
        .filter_map(|construct| construct.name.as_deref())
        .collect();
    for construct in outline.iter().filter(|construct| construct.kind == Kind::Compensate) {
        if let Some(name) = &construct.name
            && !steps.contains(&name.as_str())
        {
            let known: Vec<String> = steps.iter().map(|step| format!("`{step}`")).collect();
            let known =
                if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
            errors.at(construct.span, format!("this job has no step `{name}` to compensate; {known}"));
        }
    }
}
