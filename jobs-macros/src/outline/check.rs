//! Refuses an outline that no run could follow: a name twice, a compensation of nothing.

use super::{Construct, Kind};
use crate::errors::Errors;
use std::collections::HashSet;

/// Says every mistake of the outline at its name.
pub(crate) fn check(outline: &[Construct], errors: &mut Errors) {
    names_once(outline, errors);
    aliases_of_the_past(outline, errors);
    keys_in_loops(outline, errors);
    compensations_of_steps(outline, errors);
    bodies_apart(outline, errors);
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
                    "the name `{name}` is taken by an earlier line of this job: give this one another name, or a \
                     `key = …` if it runs more than once"
                ),
            );
        }
    }
}

/// An alias that is a name of today would take that line's record.
fn aliases_of_the_past(outline: &[Construct], errors: &mut Errors) {
    let recorded = outline.iter().filter(|construct| construct.kind.is_recorded());
    let names: HashSet<&String> = recorded.filter_map(|construct| construct.name.as_ref()).collect();
    for (name, span) in outline.iter().flat_map(|construct| &construct.aliases) {
        if names.contains(name) {
            let text = format!(
                "`{name}` is the name of a line of this job, whose record the alias would take: an alias is a name that \
                 no line has any more"
            );
            errors.at(*span, text);
        }
    }
}

/// What runs more than once has a key. A patch is one answer for the whole run; of a compensation its step tells.
fn keys_in_loops(outline: &[Construct], errors: &mut Errors) {
    let repeated = |found: &&Construct| found.in_loop && !found.keyed && found.inside.is_none();
    for construct in outline.iter().filter(repeated) {
        if construct.kind.is_recorded() && construct.kind != Kind::Patch {
            let name = construct.name.as_ref().map(|name| format!(" \"{name}\"")).unwrap_or_default();
            errors.at(
                construct.span,
                format!(
                    "`{}!`{name} stands in a loop: give it `key = …`, so that its runs are told apart",
                    construct.word
                ),
            );
        }
    }
}

fn compensations_of_steps(outline: &[Construct], errors: &mut Errors) {
    for (place, compensation) in outline.iter().enumerate().filter(|(_, found)| found.kind == Kind::Compensate) {
        let Some(name) = &compensation.name else { continue };
        let steps: Vec<(usize, &Construct)> =
            steps(outline).filter(|(_, step)| step.name.as_ref() == Some(name)).collect();
        let keyed = steps.iter().filter(|(_, step)| step.keyed).count();
        let text = if steps.is_empty() {
            no_step(name, outline)
        } else if compensation.always && steps.iter().all(|(step, _)| *step < place) {
            format!(
                "an `always` compensation also undoes a step that began and left no result, so it stands before the \
                 step: move it above the step `{name}`"
            )
        } else if !compensation.keyed && keyed == steps.len() {
            format!("the step `{name}` has a `key`: give its compensation the same `key = …`")
        } else if compensation.keyed && keyed == 0 {
            format!("the step `{name}` has no `key`: its compensation has none either")
        } else {
            continue;
        };
        errors.at(compensation.span, text);
    }
}

/// What can be undone, with its place.
fn steps(outline: &[Construct]) -> impl Iterator<Item = (usize, &Construct)> {
    outline
        .iter()
        .enumerate()
        .filter(|(_, construct)| matches!(construct.kind, Kind::Step | Kind::StepTx | Kind::Spawn))
}

fn no_step(name: &str, outline: &[Construct]) -> String {
    let known: Vec<String> =
        steps(outline).filter_map(|(_, step)| step.name.as_ref()).map(|step| format!("`{step}`")).collect();
    let known = if known.is_empty() { "it has none".to_owned() } else { format!("it has {}", known.join(", ")) };
    format!("this job has no step `{name}` to compensate; {known}")
}

/// No construct stands in a body that runs apart: it could not be replayed by itself.
fn bodies_apart(outline: &[Construct], errors: &mut Errors) {
    for construct in outline {
        if let Some(outer) = &construct.inside {
            errors.at(
                construct.span,
                format!("this stands in the body of the {outer}, which runs as a whole or not at all: put it before or after"),
            );
        }
    }
}
