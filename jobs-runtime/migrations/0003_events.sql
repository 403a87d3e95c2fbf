-- Events, what parked runs wait for, and how the two meet.
-- `{schema}` stands for the quoted name of the schema.
--
-- No wake-up is lost and none is doubled:
--
-- 1. Who publishes takes the event's bucket, an advisory lock, SHARED and for the rest of the transaction, writes the
--    event, and looks for the waits in a snapshot that is taken after that.
-- 2. Who parks tries the buckets of its waits, exclusively and without waiting, writes the waits, and looks for the
--    events in a snapshot that is taken after that. Both end with the transaction.
-- 3. So, if the bucket was got, one of the two has committed before the other has looked, and is seen by it. If it was
--    not got, somebody publishes: the wait says `recheck`, and a sweep looks again until it gets the bucket.
-- 4. Who publishes in a transaction of one snapshot cannot see what was parked since: the event says `unseen`, and a
--    sweep looks in its place. The waits that such an event may concern were committed before its bucket was taken, or
--    say `recheck`; so the sweep needs no bucket for that.
-- 5. A child's end is as an event, with the row of `steps` that spawned the child in the bucket's place. In a transaction
--    of one snapshot it leaves a wait of its parent's as in 6.
-- 6. A run's row in `waiting` is taken by one transaction at a time. Who finds it taken leaves a wait of nothing that
--    says `recheck`, and does not wait: the other may be an open transaction of anybody's, and may roll back.
--
-- Nobody waits for a lock while holding what somebody else waits for: a publisher waits for a bucket alone, who parks and
-- who sweeps wait for nothing once they hold one.

-- unseen: published in a transaction that could not see the waits.
CREATE TABLE {schema}.events (
    id uuid NOT NULL,
    published_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    unseen boolean NOT NULL,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    tenant text COLLATE "C",
    payload json NOT NULL,
    CONSTRAINT events_pkey PRIMARY KEY (id)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000
);

-- Without the id, which breaks ties: an index that holds it is one by which the planner may look for ids, from end to end.
CREATE INDEX events_order ON {schema}.events (name, key, published_at);

CREATE INDEX events_expires ON {schema}.events (expires_at);

CREATE INDEX events_unseen ON {schema}.events (id) WHERE unseen;

-- What makes the parked runs ready before they are due: an event that is not taken yet, or the end of a child.
-- recheck: what is waited for may have come unseen. One that waits for nothing says so of all waits of its run.
CREATE TABLE {schema}.waits (
    job uuid NOT NULL,
    child uuid,
    recheck boolean NOT NULL,
    event text COLLATE "C",
    key text COLLATE "C",
    tenant text COLLATE "C",
    taken uuid[]
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000
);

CREATE INDEX waits_job ON {schema}.waits (job);

CREATE INDEX waits_event ON {schema}.waits (event, key) WHERE event IS NOT NULL;

CREATE INDEX waits_child ON {schema}.waits (child) WHERE child IS NOT NULL;

-- By the bytes of the run, in the same order: the planner shall not take the index above for it, and read all waits.
CREATE INDEX waits_recheck ON {schema}.waits (uuid_send(job)) WHERE recheck;

-- The bucket of an event: 1,024 of them, so that the locks of a transaction are bounded.
CREATE FUNCTION {schema}.event_bucket(event text, key text) RETURNS int4
LANGUAGE sql IMMUTABLE
RETURN (hashtextextended(event || '/' || key, 0) & 1023)::int4;

-- Makes parked runs ready, in the order given. The only one who does. Answers how many it moved and which queues they
-- are in: the caller tells these.
CREATE FUNCTION {schema}.move_parked(runs uuid[], OUT woken int4, OUT queues text[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET enable_hashjoin = on
SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    moved_runs uuid[];
BEGIN
    WITH picked AS MATERIALIZED (
        SELECT id
        FROM {schema}.waiting
        WHERE id = ANY (runs)
            AND suspended
        FOR UPDATE SKIP LOCKED
    ),
    moved AS (
        DELETE FROM {schema}.waiting
        WHERE id = ANY (ARRAY(SELECT id FROM picked))
        RETURNING *
    ),
    over AS (
        DELETE FROM {schema}.waits
        WHERE job = ANY (ARRAY(SELECT id FROM picked))
    ),
    again AS (
        INSERT INTO {schema}.ready (
            id,
            ready_at,
            created_at,
            expires_at,
            attempt,
            version,
            crashes,
            priority,
            parent,
            stage,
            unique_hold,
            kind,
            queue,
            tenant,
            payload,
            overrides,
            metadata,
            progress,
            trace,
            enqueued_by,
            unique_key,
            error_code,
            error_text,
            caller_fix,
            stop
        )
        SELECT
            id,
            statement_timestamp() + place * interval '1 microsecond',
            created_at,
            expires_at,
            attempt,
            version,
            crashes,
            priority,
            parent,
            stage,
            unique_hold,
            kind,
            queue,
            tenant,
            payload,
            overrides,
            metadata,
            progress,
            trace,
            enqueued_by,
            unique_key,
            error_code,
            error_text,
            caller_fix,
            stop
        FROM moved
        JOIN unnest(runs) WITH ORDINALITY AS wanted (id, place) USING (id)
        RETURNING id, queue
    )
    SELECT
        ARRAY(SELECT id FROM again),
        ARRAY(SELECT DISTINCT queue FROM again)
    INTO moved_runs, queues;
    woken := cardinality(moved_runs);
    IF woken < cardinality(runs) THEN
        -- Those that are still there are taken by somebody who may yet roll back.
        INSERT INTO {schema}.waits (job, recheck)
        SELECT id, true
        FROM {schema}.waiting
        WHERE id = ANY (runs)
            AND id <> ALL (moved_runs)
            AND suspended;
    END IF;
END
$$;

-- Makes parked runs ready and tells their queues. Answers how many it moved.
CREATE FUNCTION {schema}.wake_runs(runs uuid[]) RETURNS int4
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moved record;
BEGIN
    moved := {schema}.move_parked(runs);
    PERFORM pg_notify('jobs:' || replace('{schema}', '"', ''), 'q' || queue)
    FROM unnest(moved.queues) AS told (queue);
    RETURN moved.woken;
END
$$;

-- Wakes the runs that are parked until one of these jobs has ended. To be called once the rows of `steps` that spawned
-- them are written, so that it sees who was parked before; also within the statement that has written them.
CREATE FUNCTION {schema}.wake_parents(children uuid[]) RETURNS int4
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET enable_hashjoin = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    runs uuid[];
BEGIN
    -- DISTINCT apart from the table: an index that is in its order might be read from end to end.
    runs := ARRAY(
        SELECT DISTINCT found.run
        FROM unnest(ARRAY(SELECT w.job FROM {schema}.waits AS w WHERE w.child = ANY (children))) AS found (run)
    );
    IF cardinality(runs) = 0 THEN
        RETURN 0;
    END IF;
    RETURN {schema}.wake_runs(runs);
END
$$;

-- Which of these parked runs have what they wait for.
CREATE FUNCTION {schema}.runs_met(runs uuid[]) RETURNS uuid[]
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET enable_hashjoin = off
SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    RETURN ARRAY(
        SELECT DISTINCT w.job
        FROM {schema}.waits AS w
        WHERE w.job = ANY (runs)
            -- Scalar subqueries: EXISTS might become a join, and read all events.
            AND CASE
                WHEN w.event IS NOT NULL THEN (
                    SELECT true
                    FROM {schema}.events AS e
                    WHERE e.name = w.event
                        AND e.key = w.key
                        AND (e.tenant IS NULL OR e.tenant = w.tenant)
                        AND e.expires_at > clock_timestamp()
                        AND e.id <> ALL (w.taken)
                    LIMIT 1
                )
                WHEN w.child IS NOT NULL THEN (
                    SELECT true
                    FROM {schema}.steps AS s
                    WHERE s.child = w.child
                        AND s.status = 4
                    LIMIT 1
                )
            END
    );
END
$$;

-- Publishes events and makes the runs that wait for them ready. An event that is stored already changes nothing.
--
-- tell: whether the queues of these runs are told with the commit. A notification serialises the commits of all who send
-- one, up to the disk; who knows when the transaction ends tells them after it, and gets the queues for that.
CREATE FUNCTION {schema}.publish_events(
    ids uuid[],
    names text[],
    keys text[],
    tenants text[],
    payloads text[],
    ttls float8[],
    tell boolean
) RETURNS TABLE (event uuid, published timestamptz, expires timestamptz, untold text[])
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET enable_hashjoin = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    blind boolean := current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted');
    moment timestamptz;
    runs uuid[];
BEGIN
    PERFORM pg_advisory_xact_lock_shared(hashtext('{schema}.events'), buckets.bucket)
    FROM (
        SELECT DISTINCT {schema}.event_bucket(e.name, e.key) AS bucket
        FROM unnest(names, keys) AS e (name, key)
        ORDER BY bucket
    ) AS buckets;
    moment := clock_timestamp();
    INSERT INTO {schema}.events (id, published_at, expires_at, unseen, name, key, tenant, payload)
    SELECT e.id, moment, moment + e.ttl * interval '1 second', blind, e.name, e.key, e.tenant, e.payload::json
    FROM unnest(ids, names, keys, tenants, payloads, ttls) AS e (id, name, key, tenant, payload, ttl)
    ON CONFLICT (id) DO NOTHING;
    IF blind THEN
        PERFORM pg_notify('jobs:' || replace('{schema}', '"', ''), 'w');
    ELSE
        runs := ARRAY(
            SELECT found.run
            FROM unnest(ids, names, keys, tenants) WITH ORDINALITY AS e (id, name, key, tenant, place)
            -- Not a join, nor grouped with the table: an index in another order might be read from end to end.
            CROSS JOIN unnest(ARRAY(
                SELECT w.job
                FROM {schema}.waits AS w
                WHERE w.event = e.name
                    AND w.key = e.key
                    AND (e.tenant IS NULL OR e.tenant = w.tenant)
                    AND e.id <> ALL (w.taken)
            )) AS found (run)
            GROUP BY found.run
            ORDER BY min(e.place), found.run
        );
        IF cardinality(runs) > 0 AND tell THEN
            PERFORM {schema}.wake_runs(runs);
        ELSIF cardinality(runs) > 0 THEN
            untold := ({schema}.move_parked(runs)).queues;
        END IF;
    END IF;
    RETURN QUERY
    SELECT e.id, e.published_at, e.expires_at, untold
    FROM {schema}.events AS e
    WHERE e.id = ANY (ids);
END
$$;

-- Parks runs under their fences. Those that were asked to cancel or to roll back it leaves as they are, and says so.
-- unsure: some of them are to be looked at again.
--
-- It waits for locks, those of the rows of the runs, only before it has tried the first bucket.
CREATE FUNCTION {schema}.park_runs(
    holder int8,
    runs uuid[],
    attempts int4[],
    tokens int8[],
    dues timestamptz[],
    codes text[],
    texts text[],
    wait_runs uuid[],
    wait_events text[],
    wait_keys text[],
    wait_taken text[],
    wait_children uuid[],
    record_runs uuid[],
    record_names text[],
    record_keys text[],
    record_kinds int2[],
    record_statuses int2[],
    record_positions int4[],
    record_tries int4[],
    record_onces boolean[],
    record_outputs text[],
    record_codes text[],
    record_texts text[],
    record_fixes text[],
    record_stops text[],
    record_dues timestamptz[],
    record_events uuid[],
    record_ages float8[]
) RETURNS TABLE (run uuid, parked boolean, unsure boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    landed uuid[];
    landed_attempts int4[];
    asleep uuid[];
    tenants text[];
    told int8;
    busy int4[];
    children uuid[];
    met uuid[];
    missed boolean := false;
    forward uuid[] := ARRAY(
        SELECT r.job
        FROM unnest(record_runs, record_kinds) AS r (job, kind)
        WHERE r.kind < 9
    );
BEGIN
    WITH asked AS MATERIALIZED (
        SELECT *
        FROM unnest(runs, dues, codes, texts) AS a (id, due_at, park_code, park_text)
    ),
    gone AS (
        DELETE FROM {schema}.running
        WHERE id = ANY (runs)
            AND attempt = ANY (attempts)
            AND worker = holder
            AND token = ANY (tokens)
            AND NOT cancel_requested
            AND NOT roll_back
            -- No step of a run that unwinds goes forward.
            AND CASE WHEN stage = 3 THEN id <> ALL (forward) ELSE true END
            AND EXISTS (
                SELECT FROM {schema}.workers
                WHERE workers.id = holder
                    AND lease_until > clock_timestamp()
            )
        RETURNING *
    ),
    changed AS MATERIALIZED (
        SELECT
            g.*,
            coalesce(a.due_at, 'infinity') AS due_at,
            a.park_code,
            a.park_text,
            coalesce(a.due_at <= statement_timestamp(), false) AS is_due,
            CASE
                WHEN g.id IN (SELECT unnest(wait_runs)) OR g.id IN (SELECT unnest(record_runs)) THEN greatest(g.stage, 1::int2)
                ELSE g.stage
            END AS parked_stage
        FROM gone AS g
        JOIN asked AS a USING (id)
    ),
    laid AS (
        INSERT INTO {schema}.waiting (
            id,
            due_at,
            suspended,
            park_code,
            park_text,
            created_at,
            expires_at,
            attempt,
            version,
            crashes,
            priority,
            parent,
            stage,
            unique_hold,
            kind,
            queue,
            tenant,
            payload,
            overrides,
            metadata,
            progress,
            trace,
            enqueued_by,
            unique_key,
            error_code,
            error_text,
            caller_fix,
            stop
        )
        SELECT
            id,
            due_at,
            true,
            park_code,
            park_text,
            created_at,
            expires_at,
            attempt,
            version,
            0,
            priority,
            parent,
            parked_stage,
            unique_hold,
            kind,
            queue,
            tenant,
            payload,
            overrides,
            metadata,
            progress,
            trace,
            enqueued_by,
            unique_key,
            error_code,
            error_text,
            caller_fix,
            stop
        FROM changed
        WHERE NOT is_due
    ),
    again AS (
        INSERT INTO {schema}.ready (
            id,
            ready_at,
            created_at,
            expires_at,
            attempt,
            version,
            crashes,
            priority,
            parent,
            stage,
            unique_hold,
            kind,
            queue,
            tenant,
            payload,
            overrides,
            metadata,
            progress,
            trace,
            enqueued_by,
            unique_key,
            error_code,
            error_text,
            caller_fix,
            stop
        )
        SELECT
            id,
            statement_timestamp(),
            created_at,
            expires_at,
            attempt,
            version,
            0,
            priority,
            parent,
            parked_stage,
            unique_hold,
            kind,
            queue,
            tenant,
            payload,
            overrides,
            metadata,
            progress,
            trace,
            enqueued_by,
            unique_key,
            error_code,
            error_text,
            caller_fix,
            stop
        FROM changed
        WHERE is_due
        RETURNING queue
    ),
    notified AS MATERIALIZED (
        SELECT pg_notify('jobs:' || replace('{schema}', '"', ''), 'q' || queue)
        FROM (SELECT DISTINCT queue FROM again) AS queues
    )
    SELECT
        ARRAY(SELECT id FROM changed),
        ARRAY(SELECT attempt FROM changed),
        ARRAY(SELECT id FROM changed WHERE NOT is_due),
        ARRAY(SELECT tenant FROM changed WHERE NOT is_due),
        (SELECT count(*) FROM notified)
    INTO landed, landed_attempts, asleep, tenants, told;

    IF cardinality(record_runs) > 0 THEN
        INSERT INTO {schema}.steps AS s (
            job,
            started_at,
            finished_at,
            due_at,
            position,
            attempt,
            tries,
            role,
            kind,
            status,
            once,
            event,
            name,
            key,
            output,
            error_code,
            error_text,
            caller_fix,
            stop
        )
        SELECT
            r.job,
            statement_timestamp() - r.age * interval '1 second',
            CASE WHEN r.status >= 3 THEN statement_timestamp() END,
            r.due_at,
            r.position,
            l.attempt,
            r.tries,
            CASE r.kind WHEN 9 THEN 1 WHEN 10 THEN 2 WHEN 11 THEN 3 ELSE 0 END,
            r.kind,
            r.status,
            r.once,
            r.event,
            r.name,
            r.key,
            r.output::json,
            r.error_code,
            r.error_text,
            r.caller_fix,
            r.stop
        FROM unnest(
            record_runs,
            record_names,
            record_keys,
            record_kinds,
            record_statuses,
            record_positions,
            record_tries,
            record_onces,
            record_outputs,
            record_codes,
            record_texts,
            record_fixes,
            record_stops,
            record_dues,
            record_events,
            record_ages
        ) AS r (
            job,
            name,
            key,
            kind,
            status,
            position,
            tries,
            once,
            output,
            error_code,
            error_text,
            caller_fix,
            stop,
            due_at,
            event,
            age
        )
        JOIN unnest(landed, landed_attempts) AS l (job, attempt) USING (job)
        ON CONFLICT (job, role, name, key) DO UPDATE SET
            finished_at = excluded.finished_at,
            due_at = excluded.due_at,
            attempt = excluded.attempt,
            tries = excluded.tries,
            kind = excluded.kind,
            status = excluded.status,
            once = excluded.once,
            event = excluded.event,
            output = excluded.output,
            error_code = excluded.error_code,
            error_text = excluded.error_text,
            caller_fix = excluded.caller_fix,
            stop = excluded.stop
        -- The time of a wait is no news once it has ended.
        WHERE NOT (excluded.status = 1 AND s.status >= 3);
    END IF;

    -- What was left about an earlier park of theirs.
    DELETE FROM {schema}.waits WHERE job = ANY (landed);
    IF cardinality(wait_runs) > 0 AND cardinality(asleep) > 0 THEN
        busy := ARRAY(
            SELECT buckets.bucket
            FROM (
                SELECT DISTINCT {schema}.event_bucket(w.event, w.key) AS bucket
                FROM unnest(wait_events, wait_keys) AS w (event, key)
                WHERE w.event IS NOT NULL
            ) AS buckets
            WHERE NOT pg_try_advisory_xact_lock(hashtext('{schema}.events'), buckets.bucket)
        );
        children := ARRAY(
            SELECT child
            FROM {schema}.steps
            WHERE child = ANY (wait_children)
            FOR NO KEY UPDATE SKIP LOCKED
        );
        INSERT INTO {schema}.waits (job, child, recheck, event, key, tenant, taken)
        SELECT
            w.job,
            w.child,
            CASE
                WHEN w.event IS NOT NULL THEN {schema}.event_bucket(w.event, w.key) = ANY (busy)
                ELSE w.child NOT IN (SELECT unnest(children))
            END,
            w.event,
            w.key,
            a.tenant,
            w.taken::uuid[]
        FROM unnest(wait_runs, wait_events, wait_keys, wait_taken, wait_children) AS w (job, event, key, taken, child)
        JOIN unnest(asleep, tenants) AS a (job, tenant) USING (job);
        missed := cardinality(busy) > 0 OR cardinality(children) < cardinality(array_remove(wait_children, NULL));
        met := {schema}.runs_met(asleep);
        IF cardinality(met) > 0 THEN
            PERFORM {schema}.wake_runs(met);
        END IF;
    END IF;

    RETURN QUERY
    SELECT id, true, missed
    FROM unnest(landed) AS l (id);
    IF cardinality(landed) < cardinality(runs) THEN
        RETURN QUERY
        SELECT
            id,
            CASE WHEN cancel_requested OR roll_back THEN false END,
            false
        FROM {schema}.running
        WHERE id = ANY (runs)
            AND attempt = ANY (attempts)
            AND worker = holder
            AND token = ANY (tokens)
            AND (
                cancel_requested
                OR roll_back
                OR stage = 3
            )
            AND EXISTS (
                SELECT FROM {schema}.workers
                WHERE workers.id = holder
                    AND lease_until > clock_timestamp()
            );
    END IF;
END
$$;

-- Looks again where what a run waits for may have come unseen, beginning behind the run of the last time. Answers how many runs it
-- woke, and behind which to go on, or NULL at the end. Leaves for the next time what somebody else has.
CREATE FUNCTION {schema}.sweep_waits(behind uuid, amount int4, OUT woken int4, OUT last uuid)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET jit = off
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_mergejoin = off
SET enable_hashjoin = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    flagged uuid[];
    held uuid[];
    free int4[];
    children uuid[];
    unseen_events uuid[];
BEGIN
    woken := 0;
    flagged := ARRAY(
        SELECT w.job
        FROM {schema}.waits AS w
        WHERE w.recheck
            AND uuid_send(w.job) > uuid_send(behind)
        ORDER BY uuid_send(w.job)
        LIMIT amount
    );
    IF cardinality(flagged) = amount THEN
        last := flagged[amount];
    END IF;
    IF cardinality(flagged) > 0 THEN
        held := ARRAY(
            SELECT id
            FROM {schema}.waiting
            WHERE id = ANY (flagged)
                AND suspended
            FOR UPDATE SKIP LOCKED
        );
        -- CASE, here and below, hides from the planner what might make it choose another index.
        -- These are of runs that were woken by others since.
        DELETE FROM {schema}.waits
        WHERE ctid = ANY (ARRAY(
            SELECT w.ctid
            FROM {schema}.waits AS w
            WHERE w.job = ANY (flagged)
                AND CASE
                    WHEN w.recheck THEN (
                        SELECT true
                        FROM {schema}.waiting AS parked
                        WHERE parked.id = w.job
                            AND parked.suspended
                    ) IS NULL
                    ELSE false
                END
            FOR UPDATE SKIP LOCKED
        ));
    END IF;
    IF cardinality(held) > 0 THEN
        free := ARRAY(
            SELECT buckets.bucket
            FROM (
                SELECT DISTINCT {schema}.event_bucket(w.event, w.key) AS bucket
                FROM {schema}.waits AS w
                WHERE w.job = ANY (held)
                    AND CASE WHEN w.recheck THEN w.event IS NOT NULL ELSE false END
            ) AS buckets
            WHERE pg_try_advisory_xact_lock(hashtext('{schema}.events'), buckets.bucket)
        );
        children := ARRAY(
            SELECT s.child
            FROM {schema}.steps AS s
            WHERE s.child = ANY (ARRAY(
                SELECT w.child
                FROM {schema}.waits AS w
                WHERE w.job = ANY (held)
                    AND CASE WHEN w.recheck THEN w.child IS NOT NULL ELSE false END
            ))
            FOR NO KEY UPDATE SKIP LOCKED
        );
        -- Also where somebody publishes: a bucket that is never free must not hide what has come.
        woken := {schema}.wake_runs({schema}.runs_met(held));
        DELETE FROM {schema}.waits AS w
        WHERE w.job = ANY (held)
            AND CASE WHEN w.recheck THEN w.event IS NULL AND w.child IS NULL ELSE false END;
        UPDATE {schema}.waits AS w
        SET recheck = false
        WHERE w.job = ANY (held)
            AND CASE
                WHEN w.recheck THEN {schema}.event_bucket(w.event, w.key) = ANY (free) OR w.child = ANY (children)
                ELSE false
            END;
    END IF;

    unseen_events := ARRAY(
        SELECT e.id
        FROM {schema}.events AS e
        WHERE e.unseen
        LIMIT amount
        FOR UPDATE SKIP LOCKED
    );
    IF cardinality(unseen_events) > 0 THEN
        woken := woken + {schema}.wake_runs(ARRAY(
            SELECT DISTINCT found.run
            FROM {schema}.events AS e
            CROSS JOIN unnest(ARRAY(
                SELECT w.job
                FROM {schema}.waits AS w
                WHERE w.event = e.name
                    AND w.key = e.key
                    AND (e.tenant IS NULL OR e.tenant = w.tenant)
                    AND e.id <> ALL (w.taken)
            )) AS found (run)
            WHERE e.id = ANY (unseen_events)
                AND e.expires_at > clock_timestamp()
        ));
        UPDATE {schema}.events
        SET unseen = false
        WHERE id = ANY (unseen_events);
    END IF;
END
$$;

CREATE FUNCTION {schema}.publish(
    name text,
    key text,
    payload json,
    tenant text DEFAULT NULL,
    ttl interval DEFAULT '7 days'
) RETURNS uuid
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    new_id uuid;
BEGIN
    IF name IS NULL OR name !~ '^[a-z0-9_.-]{1,100}$' THEN
        PERFORM {schema}.refuse('X_EVENT_INVALID', format('%L is not the name of an event', name),
            'use 1 to 100 of the characters a-z, 0-9, _, ., -');
    END IF;
    IF key IS NULL OR btrim(key) = '' OR octet_length(key) > 200 THEN
        PERFORM {schema}.refuse('X_EVENT_INVALID', 'the key is missing, blank or longer than 200 bytes',
            'use 1 to 200 bytes of text');
    END IF;
    IF payload IS NULL THEN
        PERFORM {schema}.refuse('X_EVENT_INVALID', 'the payload is NULL', 'pass a JSON document');
    END IF;
    IF octet_length(payload::text) > 262144 THEN
        PERFORM {schema}.refuse('X_EVENT_INVALID',
            format('the payload is %s bytes long, the limit is 262144', octet_length(payload::text)),
            'store large data elsewhere and pass a reference');
    END IF;
    BEGIN
        -- Refuses what json lets pass and no text can hold: NUL, and half of a surrogate pair.
        PERFORM payload::jsonb;
    EXCEPTION
        WHEN data_exception OR program_limit_exceeded THEN
            PERFORM {schema}.refuse('X_EVENT_INVALID', format('the payload cannot be stored exactly: %s', SQLERRM),
                'pass a JSON document without \u0000 and without half of a surrogate pair');
    END;
    IF tenant IS NOT NULL AND (btrim(tenant) = '' OR octet_length(tenant) > 128) THEN
        PERFORM {schema}.refuse('X_EVENT_INVALID', 'the tenant is blank or longer than 128 bytes',
            'use 1 to 128 bytes of text');
    END IF;
    IF ttl IS NULL OR ttl <= interval '0' OR ttl > interval '36500 days' THEN
        PERFORM {schema}.refuse('X_EVENT_INVALID', 'the lifetime is negative, zero or longer than 36500 days, the limit',
            'use a lifetime of at most 36500 days');
    END IF;

    -- A UUID of version 7: 48 bits of milliseconds, then the version's and random bits.
    new_id := encode(
        set_bit(set_bit(
            overlay(
                uuid_send(gen_random_uuid())
                PLACING substring(int8send(floor(extract(epoch FROM clock_timestamp()) * 1000)::int8) FROM 3)
                FROM 1 FOR 6
            ),
            52, 1), 53, 1),
        'hex'
    )::uuid;
    PERFORM {schema}.publish_events(
        ARRAY[new_id],
        ARRAY[name],
        ARRAY[key],
        ARRAY[tenant],
        ARRAY[payload::text],
        ARRAY[extract(epoch FROM ttl)::float8],
        true
    );
    RETURN new_id;
END
$$;

COMMENT ON FUNCTION {schema}.publish IS 'Publishes an event from SQL: from a trigger, from another language. Answers its id. The runs that wait for it become ready
with the transaction''s commit.

name     the event''s name
key      what a wait is matched by; 1 to 200 bytes
payload  what the wait gives; at most 256 KiB, without NUL
tenant   whose event it is: one without a tenant is seen by every run, one with a tenant by that tenant''s runs alone
ttl      how long it can be found; a wait that begins later does not see it';
