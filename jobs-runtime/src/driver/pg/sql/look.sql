-- $1 queues, $2 channel, $3 probes of the listeners
SELECT
    ARRAY(
        SELECT wanted.queue
        FROM unnest($1::text[]) AS wanted (queue)
        -- A scalar subquery: EXISTS would become a join, and read the whole backlog.
        WHERE (SELECT true FROM {schema}.ready WHERE ready.queue = wanted.queue LIMIT 1)
    ) AS ready,
    (
        SELECT extract(epoch FROM due_at - clock_timestamp())::float8
        FROM {schema}.waiting
        -- A parked run may never be due, and no time can be taken from infinity.
        WHERE due_at < 'infinity'
        ORDER BY due_at
        LIMIT 1
    ) AS next_due,
    (SELECT true FROM {schema}.workers WHERE lease_until <= clock_timestamp() LIMIT 1) IS NOT NULL AS lapsed,
    coalesce(
        (SELECT true FROM {schema}.waits WHERE recheck LIMIT 1),
        (SELECT true FROM {schema}.events WHERE unseen LIMIT 1)
    ) IS NOT NULL AS unwoken,
    (SELECT true FROM {schema}.events WHERE expires_at <= statement_timestamp() LIMIT 1) IS NOT NULL AS expired_events,
    (SELECT count(pg_notify($2, probe)) FROM unnest($3::text[]) AS waiting_probes (probe)) AS probed
