//! Says what an unwinding run has undone, what is due next, and what it must stop for. Pure.

use super::account::label;
use crate::{
    driver::{ChildEnd, StepKind, StepRecord, StepRef, StepStatus},
    error::code,
    id::JobId,
    json::JsonText,
    state::State,
};
use std::collections::{HashMap, HashSet};

/// What is known of a step's effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Effect {
    /// It took effect and left this output.
    Done(Option<JsonText>),
    /// It began and left no result: it may have taken effect.
    Possible,
}

/// A step that has, had or should have a compensation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The step, by the name in its record.
    pub(crate) step: StepRef,
    pub(crate) standing: Standing,
}

/// How a step's compensation stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Standing {
    /// It has run.
    Undone,
    /// It is not to run.
    Skipped,
    /// It is to run, after so many tries that failed.
    Due { effect: Effect, tries: u32 },
    /// Whether it took effect is for a person to say.
    Unknown,
    /// The job's code compensates the step, but the replay ended before it said how.
    Lost,
}

/// The compensations of a run in the order in which they are due: the step that started last comes first.
///
/// `registered` holds the steps, by the names in their records, whose compensations the replay registered, and whether
/// each is `always`. `is_lost` says of a step that is done whether its compensation should have been registered.
pub(crate) fn plan(
    records: &[StepRecord],
    registered: &HashMap<StepRef, bool>,
    is_lost: impl Fn(&StepRef) -> bool,
) -> Vec<Entry> {
    let undos: HashMap<&StepRef, &StepRecord> =
        records.iter().filter(|record| record.kind == StepKind::Undo).map(|record| (&record.id, record)).collect();
    let mut forward: Vec<&StepRecord> = records.iter().filter(|record| record.kind.is_forward()).collect();
    forward.sort_by_key(|record| std::cmp::Reverse(record.position));
    let standing = |record: &StepRecord| {
        let undo = undos.get(&record.id);
        match undo.map(|undo| undo.status) {
            Some(StepStatus::Done) => return Some(Standing::Undone),
            Some(StepStatus::Skipped) => return Some(Standing::Skipped),
            _ => {}
        }
        if is_unknown(record) {
            return Some(Standing::Unknown);
        }
        let effect = effect(record);
        match registered.get(&record.id) {
            Some(always) if *always || matches!(effect, Effect::Done(_)) => {
                Some(Standing::Due { effect, tries: undo.map_or(0, |undo| undo.tries) })
            }
            None if matches!(effect, Effect::Done(_)) && is_lost(&record.id) => Some(Standing::Lost),
            _ => None,
        }
    };
    forward
        .into_iter()
        .filter_map(|record| Some(Entry { step: record.id.clone(), standing: standing(record)? }))
        .collect()
}

/// A child that did not complete has taken no effect that is its parent's to undo.
fn effect(record: &StepRecord) -> Effect {
    match (record.kind, record.status) {
        (StepKind::Spawn, StepStatus::Done) => match child_end(record) {
            Some(end) if end.state == State::Completed => Effect::Done(end.output),
            _ => Effect::Possible,
        },
        (_, StepStatus::Done) => Effect::Done(record.output.clone()),
        _ => Effect::Possible,
    }
}

/// The `once` steps that began and left no result: nobody knows whether they took effect. But not those that an operator
/// has answered for.
pub(crate) fn unknown(records: &[StepRecord]) -> Vec<String> {
    let answered = answered(records);
    let open = records.iter().filter(|record| is_unknown(record) && !answered.contains(&record.id));
    open.map(|record| label(&record.id)).collect()
}

fn is_unknown(record: &StepRecord) -> bool {
    record.once && record.status == StepStatus::Started && matches!(record.kind, StepKind::Step | StepKind::StepTx)
}

/// The steps that are undone or not to be undone.
fn answered(records: &[StepRecord]) -> HashSet<&StepRef> {
    let undos = records.iter().filter(|record| record.kind == StepKind::Undo);
    let over = undos.filter(|record| matches!(record.status, StepStatus::Done | StepStatus::Skipped));
    over.map(|record| &record.id).collect()
}

/// The children that have not ended.
pub(crate) fn live_children(records: &[StepRecord]) -> Vec<JobId> {
    let is_live = |record: &&StepRecord| record.kind == StepKind::Spawn && record.status == StepStatus::Started;
    records.iter().filter(is_live).filter_map(|record| record.child).collect()
}

/// The children that could not undo all of their own steps, with the steps that spawned them; but not those that an
/// operator has answered for.
pub(crate) fn failed_children(records: &[StepRecord]) -> Vec<(&StepRef, JobId)> {
    let answered = answered(records);
    let has_failed = |record: &&StepRecord| {
        let code = child_end(record).and_then(|end| end.failure).map(|failure| failure.code);
        code.as_deref() == Some(code::JOB_COMPENSATION_FAILED.name) && !answered.contains(&record.id)
    };
    let spawns = records.iter().filter(|record| record.kind == StepKind::Spawn && record.status == StepStatus::Done);
    spawns.filter(has_failed).filter_map(|record| Some((&record.id, record.child?))).collect()
}

fn child_end(record: &StepRecord) -> Option<ChildEnd> {
    record.output.as_ref()?.decode().ok()
}

#[cfg(test)]
mod tests {
    use super::{Effect, Entry, Standing, failed_children, live_children, plan, unknown};
    use crate::{
        driver::{StepKind, StepRecord, StepRef, StepStatus},
        id::JobId,
        json::JsonText,
    };
    use chrono::DateTime;
    use std::collections::HashMap;

    fn record(name: &str, kind: StepKind, status: StepStatus, position: u32) -> StepRecord {
        StepRecord {
            id: name.into(),
            kind,
            status,
            position,
            attempt: 1,
            tries: 0,
            once: false,
            output: None,
            failure: None,
            due_at: None,
            event: None,
            child: None,
            started_at: DateTime::UNIX_EPOCH,
            finished_at: None,
        }
    }

    fn step(name: &str, status: StepStatus, position: u32) -> StepRecord {
        record(name, StepKind::Step, status, position)
    }

    fn undo(name: &str, status: StepStatus, tries: u32) -> StepRecord {
        StepRecord { tries, ..record(name, StepKind::Undo, status, 90) }
    }

    fn registered(names: &[(&str, bool)]) -> HashMap<StepRef, bool> {
        names.iter().map(|(name, always)| (StepRef::from(*name), *always)).collect()
    }

    fn due(name: &str, effect: Effect, tries: u32) -> Entry {
        Entry { step: name.into(), standing: Standing::Due { effect, tries } }
    }

    fn child(name: &str, status: StepStatus, end: Option<&str>) -> StepRecord {
        let output = end.map(JsonText::trusted);
        StepRecord { output, child: Some(JobId::new()), ..record(name, StepKind::Spawn, status, 1) }
    }

    const DONE: Effect = Effect::Done(None);

    #[test]
    fn the_step_that_started_last_is_undone_first_whatever_order_they_ended_in() {
        let records = [
            step("b", StepStatus::Done, 2),
            step("c", StepStatus::Done, 3),
            step("a", StepStatus::Done, 1),
            undo("c", StepStatus::Done, 0),
            undo("b", StepStatus::Tried, 2),
        ];
        let plan = plan(&records, &registered(&[("a", false), ("b", false), ("c", false)]), |_| false);
        let undone = Entry { step: "c".into(), standing: Standing::Undone };
        assert_eq!(plan, [undone, due("b", DONE, 2), due("a", DONE, 0)]);
    }

    #[test]
    fn a_step_that_left_no_result_is_undone_only_where_its_compensation_is_always() {
        for status in [StepStatus::Started, StepStatus::Tried, StepStatus::Failed] {
            let records = [step("a", status, 1), step("b", status, 2)];
            let plan = plan(&records, &registered(&[("a", true), ("b", false)]), |_| true);
            assert_eq!(plan, [due("a", Effect::Possible, 0)]);
        }
    }

    #[test]
    fn a_step_whose_compensation_was_not_registered_has_none_unless_it_was_lost() {
        let records = [step("a", StepStatus::Done, 1), step("b", StepStatus::Done, 2), step("c", StepStatus::Done, 3)];
        let skipped = [&records[..], &[undo("c", StepStatus::Skipped, 0)]].concat();
        let lost = |step: &StepRef| step.name != "a";
        let lost_entry = |name: &str| Entry { step: name.into(), standing: Standing::Lost };
        assert_eq!(plan(&records, &registered(&[]), lost), [lost_entry("c"), lost_entry("b")]);
        let skipped_entry = Entry { step: "c".into(), standing: Standing::Skipped };
        assert_eq!(plan(&skipped, &registered(&[]), lost), [skipped_entry, lost_entry("b")], "somebody has answered");
    }

    #[test]
    fn the_output_of_a_child_is_its_own_and_one_that_did_not_complete_left_none() {
        let completed = child("ship", StepStatus::Done, Some(r#"{"state":"completed","output":7,"failure":null}"#));
        let cancelled = child("bill", StepStatus::Done, Some(r#"{"state":"cancelled","output":null,"failure":null}"#));
        let both = registered(&[("ship", false), ("bill", false)]);
        let output = Effect::Done(Some(JsonText::trusted("7")));
        assert_eq!(plan(&[completed, cancelled], &both, |_| false), [due("ship", output, 0)]);
    }

    #[test]
    fn only_a_once_step_that_began_and_left_nothing_is_unknown() {
        let once = |status| StepRecord { once: true, ..step("charge", status, 1) };
        assert_eq!(unknown(&[once(StepStatus::Started)]), ["`charge`"]);
        let entry = Entry { step: "charge".into(), standing: Standing::Unknown };
        assert_eq!(plan(&[once(StepStatus::Started)], &registered(&[("charge", true)]), |_| false), [entry]);
        assert!(unknown(&[once(StepStatus::Started), undo("charge", StepStatus::Skipped, 0)]).is_empty(), "answered");
        for status in [StepStatus::Done, StepStatus::Failed, StepStatus::Tried] {
            assert!(unknown(&[once(status)]).is_empty());
        }
        assert!(unknown(&[step("a", StepStatus::Started, 1)]).is_empty());
    }

    #[test]
    fn children_that_live_or_that_could_not_undo_themselves_are_known() {
        let failure = r#"{"code":"X_JOB_COMPENSATION_FAILED","operator":"","caller_fix":null,"stop":null}"#;
        let end = format!(r#"{{"state":"dead","output":null,"failure":{failure}}}"#);
        let live = child("ship", StepStatus::Started, None);
        let failed = child("bill", StepStatus::Done, Some(&end));
        let records = [live.clone(), failed.clone()];
        assert_eq!(live_children(&records), [live.child.unwrap()]);
        assert_eq!(failed_children(&records), [(&failed.id, failed.child.unwrap())]);
        let answered = [failed, undo("bill", StepStatus::Done, 0)];
        assert!(failed_children(&answered).is_empty());
    }
}
