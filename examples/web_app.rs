//! A web service that takes orders and runs their jobs in the same process. A request's row and its job are written in
//! one transaction.
//!
//! ```text
//! cargo run --example web_app                                             # in memory
//! DATABASE_URL=postgres://localhost/app cargo run --example web_app       # on Postgres
//! curl -d '{"org":"acme","item":"a lamp"}' -H 'content-type: application/json' localhost:3000/orders
//! curl localhost:3000/jobs/THE-ID-OF-THE-ANSWER
//! ```

use axum::{
    Json, Router,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use jobs::{
    driver::{Memory, pg::Pg},
    prelude::{Deserialize, Enqueued, Failure, Jobs, Migrate, Serialize, Uuid, job},
};
use sqlx::PgPool;
use std::sync::{Arc, Mutex};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Order {
    org: String,
    item: String,
}

/// Ships an order.
#[job(queue = "orders", tenant = input.org, timeout = "10s")]
async fn ship_order(_ctx: &jobs::Ctx, input: Order) -> Result<String, Failure> {
    Ok(format!("{} is on its way to {}", input.item, input.org))
}

/// Where orders are kept, beside their jobs.
#[derive(Clone)]
enum Orders {
    Memory(Memory, Arc<Mutex<Vec<Order>>>),
    Postgres(PgPool),
}

impl Orders {
    /// Stores an order and enqueues its job: both or neither.
    async fn take(&self, jobs: &Jobs, order: Order) -> Result<Enqueued, Box<dyn std::error::Error + Send + Sync>> {
        let enqueue = ship_order::enqueue(jobs, order.clone()).enqueued_by("web");
        match self {
            Self::Memory(memory, orders) => {
                let mut tx = memory.begin();
                let enqueued = enqueue.in_tx(&mut tx).await?;
                orders.lock().map_err(|_| "the list of orders is poisoned")?.push(order);
                tx.commit();
                Ok(enqueued)
            }
            Self::Postgres(pool) => {
                let mut tx = pool.begin().await?;
                let insert = "INSERT INTO web_app_orders (org, item) VALUES ($1, $2)";
                sqlx::query(insert).bind(&order.org).bind(&order.item).execute(&mut *tx).await?;
                let enqueued = enqueue.in_tx(&mut tx).await?;
                tx.commit().await?;
                Ok(enqueued)
            }
        }
    }
}

#[derive(Clone)]
struct App {
    jobs: Jobs,
    orders: Orders,
}

async fn take_order(State(app): State<App>, Json(order): Json<Order>) -> Response {
    match app.orders.take(&app.jobs, order).await {
        Ok(enqueued) => (StatusCode::ACCEPTED, Json(enqueued.id())).into_response(),
        Err(error) => match error.downcast_ref::<jobs::Error>() {
            // What was refused is the caller's to correct.
            Some(refused) if refused.is_refused() => (StatusCode::BAD_REQUEST, refused.to_string()).into_response(),
            _ => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        },
    }
}

async fn show_job(State(app): State<App>, Path(id): Path<Uuid>) -> Response {
    match app.jobs.find(jobs::JobId(id)).await {
        Ok(record) => {
            let failure = record.failure.map(|failure| failure.for_caller(app.jobs.registry().codes()));
            let answer = serde_json::json!({ "state": record.state, "output": record.output, "failure": failure });
            Json(answer).into_response()
        }
        Err(error) if error.is_unavailable() => StatusCode::SERVICE_UNAVAILABLE.into_response(),
        Err(_) => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn app() -> Result<App, Box<dyn std::error::Error>> {
    let Ok(url) = std::env::var("DATABASE_URL") else {
        let memory = Memory::new();
        let jobs = Jobs::builder().driver(Arc::new(memory.clone()))?;
        return Ok(App { jobs, orders: Orders::Memory(memory, Arc::default()) });
    };
    let pool = PgPool::connect(&url).await?;
    let create = "CREATE TABLE IF NOT EXISTS web_app_orders (org text NOT NULL, item text NOT NULL)";
    sqlx::query(create).execute(&pool).await?;
    let jobs = Jobs::builder().driver(Arc::new(Pg::new(pool.clone())?))?;
    jobs.migrate(Migrate::ApplyAll).await?;
    Ok(App { jobs, orders: Orders::Postgres(pool) })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let app = app().await?;
    let worker = app.jobs.worker().queue("orders", 10).start().await?;
    let routes = Router::new().route("/orders", post(take_order)).route("/jobs/{id}", get(show_job));
    let address = std::env::var("ADDRESS").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
    let listener = tokio::net::TcpListener::bind(&address).await?;
    println!("orders are taken at http://{}/orders, on {}", listener.local_addr()?, app.jobs.driver().name());

    // SIGTERM or Ctrl-C drains the worker. Then the server takes no more requests, and answers those that it has.
    axum::serve(listener, routes.with_state(app)).with_graceful_shutdown(worker.run_until_signal()).await?;
    Ok(())
}
