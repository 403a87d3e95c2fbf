//! Books three things and fails on the third: what was booked is cancelled again, the last first.
//!
//! ```text
//! cargo run --example saga
//! ```

use jobs::{driver::StepKind, prelude::*, testing::Harness};
use std::sync::{Arc, Mutex};

#[derive(Debug, Serialize, Deserialize)]
struct Trip {
    org: String,
    cities: (String, String),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Booking {
    number: u32,
}

/// Stands for the systems that are booked with. It has no cars, and its line for cancellations is bad.
#[derive(Clone, Default)]
struct Agency(Arc<Mutex<Booked>>);

#[derive(Default)]
struct Booked {
    open: Vec<(u32, &'static str)>,
    calls: u32,
}

impl Agency {
    fn book(&self, what: &'static str) -> Result<Booking, Failure> {
        if what == "car" {
            return Err(Failure::terminal("no car is left").code("X_NO_CAR"));
        }
        let mut booked = self.0.lock().map_err(|_| Failure::retry("the agency is closed"))?;
        booked.calls += 1;
        let number = booked.calls;
        booked.open.push((number, what));
        println!("  booked {what} as number {number}");
        Ok(Booking { number })
    }

    /// The first call fails: a compensation has tries of its own.
    fn cancel(&self, booking: &Booking) -> Result<(), Failure> {
        let mut booked = self.0.lock().map_err(|_| Failure::retry("the agency is closed"))?;
        booked.calls += 1;
        if booked.calls == 3 {
            println!("  the line is busy");
            return Err(Failure::retry("the line is busy"));
        }
        booked.open.retain(|(number, _)| *number != booking.number);
        println!("  cancelled number {}", booking.number);
        Ok(())
    }
}

/// Books a trip. What undoes a step stands right behind it, with what the step gave.
#[job(tenant = input.org, retry(max_attempts = 3, backoff = fixed("10s")))]
async fn book_trip(ctx: &Ctx, input: Trip) -> Result<(), Failure> {
    let flight: Booking = step!(ctx, "flight", async { ctx.state::<Agency>()?.book("flight") }).await?;
    compensate!(ctx, "flight", [flight], async move |ctx| { ctx.state::<Agency>()?.cancel(&flight) });

    let hotel: Booking = step!(ctx, "hotel", async { ctx.state::<Agency>()?.book("hotel") }).await?;
    compensate!(ctx, "hotel", [hotel], async move |ctx| { ctx.state::<Agency>()?.cancel(&hotel) });

    let car: Booking = step!(ctx, "car", async { ctx.state::<Agency>()?.book("car") }).await?;
    println!("  {} to {}, by car {}", input.cities.0, input.cities.1, car.number);
    Ok(())
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let agency = Agency::default();
    let app = Harness::new()?.state(agency.clone());
    let trip = Trip { org: "acme".to_owned(), cities: ("Berlin".to_owned(), "Oslo".to_owned()) };

    println!("The job fails for good, and undoes its steps:");
    let run = app.run::<book_trip>(trip).await;
    println!("  {}: {}", run.outcome, run.error.map_or_else(String::new, |error| error.operator));
    assert_eq!(app.state_of(run.job).await, State::Delayed, "the compensation waits for its next try");

    println!("Ten seconds later it goes on:");
    app.clock().advance("10s");
    app.drain().await;

    println!("What is recorded:");
    let record = app.find(run.job).await;
    for step in app.jobs().steps(run.job).await? {
        println!("  {:<7} {:<7} {:?}", format!("{:?}", step.kind), step.id.name, step.status);
    }
    let failure = record.failure.ok_or("a dead job has its failure")?;
    println!("  the job is {}: {} ({})", record.state, failure.operator, failure.code);

    assert_eq!((record.state, &*failure.code), (State::Dead, "X_NO_CAR"), "the failure that it unwound from");
    let undone = app.jobs().steps(run.job).await?.into_iter().filter(|step| step.kind == StepKind::Undo);
    assert_eq!(undone.map(|step| step.id.name).collect::<Vec<_>>(), ["hotel", "flight"]);
    assert!(agency.0.lock().is_ok_and(|booked| booked.open.is_empty()), "nothing is booked any more");
    Ok(())
}
