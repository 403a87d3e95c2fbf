//! The kill test: workers are killed and Postgres is stopped hard, under load. Nothing is lost, nothing is stuck.

use super::{
    is_full,
    load::{self, Random},
};
use crate::{
    crash::Point,
    scene::{LIVE, Scene, Setting, Tally, Worker},
    support::{Cluster, eventually_within, role},
    worker,
};
use jobs::JobId;
use std::{
    env,
    sync::atomic::{AtomicI32, Ordering},
    time::{Duration, Instant},
};

/// How much of what.
struct Form {
    jobs: i32,
    kills: u32,
    stops: u32,
    /// The longest wait between two kills, in milliseconds.
    pause: u64,
}

const SHORT: Form = Form { jobs: 1_000, kills: 10, stops: 1, pause: 800 };
const FULL: Form = Form { jobs: 10_000, kills: 100, stops: 5, pause: 800 };
const EXTREME: Form = Form { jobs: 50_000, kills: 500, stops: 50, pause: 300 };
const FLEET: usize = 3;
/// From the last fault to the last end.
const SETTLED: Duration = Duration::from_secs(60);
/// Some workers die at a chosen point, the others at a random moment.
const POINTS: [Option<Point>; 5] = [None, Some(Point::Claimed), Some(Point::Finishing), None, Some(Point::Finished)];

#[tokio::test(flavor = "multi_thread")]
async fn killed_workers_and_a_crashing_database_lose_no_acknowledged_job() {
    let form = match env::var("JOBS_CHAOS").as_deref() {
        Ok("extreme") => EXTREME,
        _ if is_full() => FULL,
        _ => SHORT,
    };
    let role = role!("worker", worker::main);
    let cluster = Cluster::start();
    let scene = Scene::on(cluster.database(), role).await;
    let seed = uuid::Uuid::now_v7().as_u128() as u64;

    let (begun, allowed) = (Instant::now(), AtomicI32::new(0));
    let mut faults =
        Faults { scene: &scene, cluster: &cluster, random: Random(seed), away: Duration::ZERO, at_points: 0 };
    let (load, fleet) = tokio::join!(load::enqueue(&scene.jobs, form.jobs, &allowed), faults.run(&form, &allowed));
    let (took, ended) = (begun.elapsed(), Instant::now());
    eventually_within(SETTLED, "no job is live", async || {
        let live: Option<i64> = sqlx::query_scalar(LIVE).fetch_one(&scene.pool).await.ok();
        (live == Some(0)).then_some(())
    })
    .await;
    let settled = ended.elapsed();
    drop(fleet);

    let found = Found::of(&scene, &load.acknowledged).await;
    println!(
        "{} jobs acknowledged ({} calls refused), {} workers killed ({} at a claim or an end), Postgres stopped {} times \
         and away for {:.0?}, all in {took:.0?} (seed {seed}): {} lost, none live {settled:.1?} after the last fault and \
         the last enqueue; {} completed, {} dead by their own words; {} rescued, at most {} times, {} bodies done again",
        load.acknowledged.len(),
        load.refused,
        form.kills,
        faults.at_points,
        form.stops,
        faults.away,
        found.lost,
        found.tally.completed,
        found.refused,
        found.rescued,
        found.crashes,
        found.again,
    );
    assert_eq!(load.acknowledged.len(), form.jobs as usize);
    assert_eq!(found.lost, 0);
    assert_eq!((found.tally.other, found.tally.twice), (0, 0));
    assert_eq!(found.tally.dead, found.refused, "no job is dead but by its own words");
    assert!(found.rescued > 0, "no kill hit a worker that held a job: nothing is proved");
}

/// What is done to the workers and their database.
struct Faults<'a> {
    scene: &'a Scene,
    cluster: &'a Cluster,
    random: Random,
    /// How long the database was away, in all.
    away: Duration,
    /// How many workers died at a point of their own.
    at_points: u32,
}

impl Faults<'_> {
    fn worker(&self) -> Setting<'_> {
        self.scene.worker().lease(2_000).set("PREFETCH", 5)
    }

    /// Kills, one after another, and stops the database in between; each kill has its share of the load. Gives the
    /// workers that are left.
    async fn run(&mut self, form: &Form, allowed: &AtomicI32) -> Vec<Worker> {
        let mut fleet: Vec<Worker> = (0..FLEET).map(|_| self.worker().spawn()).collect();
        let between_stops = form.kills / form.stops;
        for kill in 0..form.kills {
            allowed.store(form.jobs * (kill as i32 + 1) / form.kills as i32, Ordering::Relaxed);
            self.pause(form.pause).await;
            match POINTS[kill as usize % POINTS.len()] {
                None => {
                    let victim = self.random.below(FLEET as u64) as usize;
                    fleet[victim].kill();
                    fleet[victim] = self.worker().spawn();
                }
                Some(point) => self.kill_at(point).await,
            }
            if kill % between_stops == between_stops / 2 {
                let stopped = Instant::now();
                self.cluster.stop_hard();
                self.pause(1_500).await;
                self.cluster.start_again();
                self.away += stopped.elapsed();
            }
        }
        fleet
    }

    /// Lets one more worker run into its point; kills it if it finds no work to get there.
    async fn kill_at(&mut self, point: Point) {
        let mut doomed = self.worker().set("CRASH_AT", format!("{point:?}")).spawn();
        let limit = Instant::now() + Duration::from_secs(5);
        while doomed.is_running() && Instant::now() < limit {
            self.pause(20).await;
        }
        if !doomed.is_running() {
            self.at_points += 1;
        }
    }

    async fn pause(&mut self, longest: u64) {
        tokio::time::sleep(Duration::from_millis(self.random.below(longest))).await;
    }
}

/// What the database says afterwards.
struct Found {
    tally: Tally,
    /// Acknowledged jobs without an end, or completed without their effect.
    lost: i64,
    /// Dead as their task says.
    refused: i64,
    rescued: i64,
    crashes: i64,
    again: i64,
}

impl Found {
    async fn of(scene: &Scene, acknowledged: &[JobId]) -> Self {
        let ids: Vec<_> = acknowledged.iter().map(|job| job.0).collect();
        let lost = "
            SELECT count(*)
            FROM unnest($1::uuid[]) AS acknowledged (id)
            WHERE NOT EXISTS (SELECT FROM jobs.dead AS d WHERE d.id = acknowledged.id)
                AND NOT EXISTS (
                    SELECT
                    FROM jobs.history AS h
                    WHERE h.id = acknowledged.id
                        AND EXISTS (SELECT FROM log WHERE log.job = h.id AND log.event = 'end')
                )";
        let lost = sqlx::query_scalar(lost).bind(ids).fetch_one(&scene.pool).await.expect("the jobs are compared");
        let refused = "
            SELECT count(*)
            FROM jobs.dead
            WHERE error_code = 'X_REFUSED'
                AND payload ->> 'act' = 'Refuse'";
        let again = "
            SELECT count(*)
            FROM (SELECT FROM log WHERE event = 'end' GROUP BY job HAVING count(*) > 1) AS again";
        Self {
            tally: scene.tally().await,
            lost,
            refused: scene.count(refused).await,
            rescued: scene.count("SELECT count(DISTINCT job) FROM log WHERE crashes > 0").await,
            crashes: scene.count("SELECT coalesce(max(crashes), 0)::int8 FROM log").await,
            again: scene.count(again).await,
        }
    }
}
