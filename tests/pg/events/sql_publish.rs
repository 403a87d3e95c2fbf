//! `jobs.publish(..)`: events from SQL, from triggers, from other languages.

use super::*;
use uuid::Uuid;

async fn publish(stage: &Stage, arguments: &str) -> Result<Uuid, sqlx::Error> {
    let sql = format!("SELECT jobs.publish({arguments})");
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(stage.driver.pool()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_from_sql_wakes_who_waits_for_it_and_tells_the_queue() {
    let stage = Stage::new().await;
    let job = stage.parked("a").await;
    let queues = vec![jobs::testing::conformance::QUEUE.to_owned()];
    let mut hints = stage.driver.hints(stage.worker.id, queues.clone()).await.expect("a subscription");
    assert_eq!(hints.next().await, Hint::All);
    let id = publish(&stage, r#"'order.shipped', 'a', '{"big": 18446744073709551615}'"#).await.expect("accepted");
    assert_eq!(stage.state(job).await, State::Ready);
    assert_eq!(hints.next().await, Hint::Queue(queues[0].clone()));
    let listed = stage.driver.events(NAME).await.expect("a list");
    assert_eq!((listed.len(), listed[0].id, id.get_version_num()), (1, EventId(id), 7));
    assert_eq!(listed[0].payload.as_str(), r#"{"big": 18446744073709551615}"#);
    assert_eq!((listed[0].expires_at - listed[0].published_at).num_days(), 7);
    assert_eq!(listed[0].tenant, None);
}

#[tokio::test]
async fn a_trigger_publishes_in_its_transaction() {
    let stage = Stage::new().await;
    run(
        stage.driver.pool(),
        "CREATE TABLE public.orders (id int8);
         CREATE FUNCTION public.on_order() RETURNS trigger LANGUAGE plpgsql AS $$
         BEGIN
             PERFORM jobs.publish('order.shipped', NEW.id::text, 'null', tenant => 't', ttl => interval '1 hour');
             RETURN NEW;
         END $$;
         CREATE TRIGGER ship AFTER INSERT ON public.orders FOR EACH ROW EXECUTE FUNCTION public.on_order()",
    )
    .await;
    run(stage.driver.pool(), "BEGIN; INSERT INTO public.orders VALUES (1); ROLLBACK").await;
    run(stage.driver.pool(), "INSERT INTO public.orders VALUES (2)").await;
    let listed = stage.driver.events(NAME).await.expect("a list");
    assert_eq!(
        listed.iter().map(|event| (&*event.key, event.tenant.as_deref())).collect::<Vec<_>>(),
        [("2", Some("t"))]
    );
}

#[tokio::test]
async fn what_the_client_refuses_is_refused_with_a_fix() {
    let stage = Stage::new().await;
    for arguments in [
        "NULL, 'k', '1'",
        "'No Name', 'k', '1'",
        "'a', NULL, '1'",
        "'a', ' ', '1'",
        "'a', repeat('k', 201), '1'",
        "'a', 'k', NULL",
        r#"'a', 'k', '"\u0000"'"#,
        "'a', 'k', to_json(repeat('x', 262144))",
        "'a', 'k', '1', tenant => ' '",
        "'a', 'k', '1', tenant => repeat('t', 129)",
        "'a', 'k', '1', ttl => NULL",
        "'a', 'k', '1', ttl => interval '0'",
        "'a', 'k', '1', ttl => interval '200 years'",
    ] {
        let refused = publish(&stage, arguments).await.expect_err(arguments).to_string();
        assert!(refused.contains("X_EVENT_INVALID"), "{arguments}: {refused}");
    }
    publish(&stage, r#"'a', repeat('k', 200), '"\\u0000"'"#).await.expect("within the limits");
}

#[tokio::test]
async fn the_database_explains_every_parameter() {
    let stage = Stage::new().await;
    let explained: String = sqlx::query_scalar("SELECT obj_description('jobs.publish'::regproc)")
        .fetch_one(stage.driver.pool())
        .await
        .expect("there is a comment");
    for name in ["name", "key", "payload", "tenant", "ttl"] {
        assert!(explained.contains(&format!("\n{name} ")), "{name} is not explained in: {explained}");
    }
}
