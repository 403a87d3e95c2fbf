//! Timelines of real runs, on both drivers, and in a process that does not know the job.

use super::*;
use crate::{
    fixtures::{on_both, settled},
    waits::{happened, is, key, wait_twice, worker},
};
use jobs::Event;

#[tokio::test]
async fn a_run_is_shown_from_its_enqueue_to_the_history_with_and_without_its_code() {
    let (_db, both) = on_both().await;
    for jobs in both {
        let stranger = Jobs::new(jobs.driver().clone(), Registry::builder().build().unwrap());
        let run = wait_twice::enqueue(&jobs, key(1)).await.unwrap().id();
        let shown = jobs.timeline(run).await.unwrap();
        assert_eq!(names(&shown), ["first", "second"]);
        assert!(shown.steps.iter().all(|step| step.state == StepState::ToCome));
        assert!(!stranger.timeline(run).await.unwrap().has_outline, "no worker has told of it yet");

        let worker = worker(&jobs).await;
        is(&jobs, run, State::Suspended).await;
        for jobs in [&jobs, &stranger] {
            let shown = jobs.timeline(run).await.unwrap();
            assert!(shown.has_outline);
            assert_eq!(names(&shown), ["first[1]", "second"]);
            assert!(matches!(shown.steps[0].state, StepState::Waiting(_)), "{shown:?}");
            assert_eq!(shown.steps[1].state, StepState::ToCome);
        }

        happened("a").publish(&jobs, 1).await.unwrap();
        happened("b").publish(&jobs, 1).await.unwrap();
        settled(&jobs, run).await;
        for jobs in [&jobs, &stranger] {
            let shown = jobs.timeline(run).await.unwrap();
            assert_eq!(shown.job.state, State::Completed);
            assert_eq!(names(&shown), ["first[1]", "second[1]"]);
            assert!(shown.steps.iter().all(|step| step.state == StepState::Done), "{shown:?}");
            assert!(shown.steps.iter().all(|step| step.line.is_some()));
        }
        worker.drain().await;
    }
}
