-- Durable steps: what a run has recorded, who spawned it, and whether it is parked in the middle of its body.
-- `{schema}` stands for the quoted name of the schema.

-- stage: 0 nothing recorded, 1 steps, 2 past its pivot, 3 unwinding.
ALTER TABLE {schema}.ready
    ADD COLUMN parent uuid,
    ADD COLUMN stage int2 NOT NULL DEFAULT 0;

ALTER TABLE {schema}.running
    ADD COLUMN parent uuid,
    ADD COLUMN stage int2 NOT NULL DEFAULT 0,
    ADD COLUMN roll_back boolean NOT NULL DEFAULT false;

-- By the bytes of the id, in the same order: while few jobs are ready, the planner shall not take this index to look for
-- ids, and go on reading it from end to end when there are many.
DROP INDEX {schema}.ready_order;

CREATE INDEX ready_order ON {schema}.ready (queue, priority, ready_at, uuid_send(id));

DROP INDEX {schema}.running_cancel_requested;

CREATE INDEX running_asked ON {schema}.running (worker) WHERE cancel_requested OR roll_back;

-- A parked run stands here too. One that is never due has `infinity` as its time.
ALTER TABLE {schema}.waiting
    ADD COLUMN parent uuid,
    ADD COLUMN stage int2 NOT NULL DEFAULT 0,
    ADD COLUMN suspended boolean NOT NULL DEFAULT false,
    ADD COLUMN park_code text,
    ADD COLUMN park_text text;

ALTER TABLE {schema}.dead
    ADD COLUMN parent uuid,
    ADD COLUMN stage int2 NOT NULL DEFAULT 0;

-- steps: the rows of `steps` that the run left with, in the order of their starts.
ALTER TABLE {schema}.history
    ADD COLUMN parent uuid,
    ADD COLUMN stage int2 NOT NULL DEFAULT 0,
    ADD COLUMN steps json;

-- What live and dead runs have recorded.
-- role: 0 a line of the body, 1 its compensation, 2 the decision to unwind, 3 requeues after an unwinding.
-- kind and status: the numbers of `StepKind` and `StepStatus`.
CREATE TABLE {schema}.steps (
    job uuid NOT NULL,
    started_at timestamptz NOT NULL,
    finished_at timestamptz,
    due_at timestamptz,
    position int4 NOT NULL,
    attempt int4 NOT NULL,
    tries int4 NOT NULL,
    role int2 NOT NULL,
    kind int2 NOT NULL,
    status int2 NOT NULL,
    once boolean NOT NULL,
    event uuid,
    child uuid,
    name text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    output json,
    error_code text,
    error_text text,
    caller_fix text,
    stop text,
    CONSTRAINT steps_pkey PRIMARY KEY (job, role, name, key)
) WITH (
    fillfactor = 90,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000
);

CREATE INDEX steps_child ON {schema}.steps (child) WHERE child IS NOT NULL;

-- The state of a job as its number, NULL if it is not stored.
CREATE OR REPLACE FUNCTION {schema}.state_of(wanted uuid) RETURNS int2
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 1::int2 FROM {schema}.ready WHERE id = wanted
    UNION ALL
    SELECT 2::int2 FROM {schema}.running WHERE id = wanted
    UNION ALL
    SELECT CASE WHEN suspended THEN 3::int2 ELSE 0::int2 END FROM {schema}.waiting WHERE id = wanted
    UNION ALL
    SELECT 5::int2 FROM {schema}.dead WHERE id = wanted
    UNION ALL
    SELECT state FROM {schema}.history WHERE id = wanted AND purge_at > clock_timestamp()
    LIMIT 1
$$;

-- Every job, wherever it is stored. state: 0 delayed, 1 ready, 2 running, 3 suspended, 4 completed, 5 dead, 6 dropped,
-- 7 cancelled, 8 expired.
CREATE OR REPLACE VIEW {schema}.records AS
SELECT
    id,
    1::int2 AS state,
    kind,
    version,
    queue,
    tenant,
    priority,
    attempt,
    crashes,
    payload,
    NULL::json AS output,
    error_code,
    error_text,
    caller_fix,
    stop,
    progress,
    metadata,
    trace,
    enqueued_by,
    created_at,
    NULL::timestamptz AS due_at,
    NULL::timestamptz AS finished_at,
    false AS cancel_requested,
    stage,
    parent,
    NULL::text AS park_code,
    NULL::text AS park_text
FROM {schema}.ready
UNION ALL
SELECT
    id,
    2::int2,
    kind,
    version,
    queue,
    tenant,
    priority,
    attempt,
    crashes,
    payload,
    NULL::json,
    error_code,
    error_text,
    caller_fix,
    stop,
    progress,
    metadata,
    trace,
    enqueued_by,
    created_at,
    NULL::timestamptz,
    NULL::timestamptz,
    cancel_requested OR roll_back,
    stage,
    parent,
    NULL::text,
    NULL::text
FROM {schema}.running
UNION ALL
SELECT
    id,
    CASE WHEN suspended THEN 3::int2 ELSE 0::int2 END,
    kind,
    version,
    queue,
    tenant,
    priority,
    attempt,
    crashes,
    payload,
    NULL::json,
    error_code,
    error_text,
    caller_fix,
    stop,
    progress,
    metadata,
    trace,
    enqueued_by,
    created_at,
    nullif(due_at, 'infinity'),
    NULL::timestamptz,
    false,
    stage,
    parent,
    park_code,
    park_text
FROM {schema}.waiting
UNION ALL
SELECT
    id,
    5::int2,
    kind,
    version,
    queue,
    tenant,
    priority,
    attempt,
    crashes,
    payload,
    NULL::json,
    error_code,
    error_text,
    caller_fix,
    stop,
    progress,
    metadata,
    trace,
    enqueued_by,
    created_at,
    NULL::timestamptz,
    finished_at,
    false,
    stage,
    parent,
    NULL::text,
    NULL::text
FROM {schema}.dead
UNION ALL
SELECT
    id,
    state,
    kind,
    version,
    queue,
    tenant,
    priority,
    attempt,
    crashes,
    payload,
    output,
    error_code,
    error_text,
    caller_fix,
    stop,
    progress,
    metadata,
    trace,
    enqueued_by,
    created_at,
    NULL::timestamptz,
    finished_at,
    false,
    stage,
    parent,
    NULL::text,
    NULL::text
FROM {schema}.history
WHERE purge_at > clock_timestamp();

-- What the end of a run takes with it, beside its row: called for those alone that have recorded something or have a
-- parent. Answers what its history keeps of its steps; those of a dead run stay where they are.
--
-- The parent learns of the end in the transaction of the end, by the record of its spawn.
CREATE FUNCTION {schema}.end_run(
    run uuid,
    spawner uuid,
    state int2,
    output text,
    error_code text,
    error_text text,
    caller_fix text,
    stop text
) RETURNS json
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    kept json;
BEGIN
    IF state <> 5 THEN
        WITH gone AS (
            DELETE FROM {schema}.steps
            WHERE job = run
            RETURNING *
        ),
        summed AS (
            SELECT
                *,
                sum(octet_length(gone.output::text)) OVER (ORDER BY gone.position, gone.role) AS bytes
            FROM gone
        )
        SELECT json_agg(
            json_build_object(
                'started_at', s.started_at,
                'finished_at', s.finished_at,
                'due_at', s.due_at,
                'position', s.position,
                'attempt', s.attempt,
                'tries', s.tries,
                'role', s.role,
                'kind', s.kind,
                'status', s.status,
                'once', s.once,
                'event', s.event,
                'child', s.child,
                'name', s.name,
                'key', s.key,
                -- A run whose steps could not be kept could never end: a value of the database has its limit.
                'output', CASE WHEN s.bytes <= 33554432 THEN s.output END,
                'error_code', s.error_code,
                'error_text', s.error_text,
                'caller_fix', s.caller_fix,
                'stop', s.stop
            )
            ORDER BY s.position, s.role
        )
        INTO kept
        FROM summed AS s;
    END IF;
    DELETE FROM {schema}.waits WHERE job = run;
    IF spawner IS NOT NULL THEN
        UPDATE {schema}.steps AS s
        SET status = 4,
            finished_at = statement_timestamp(),
            output = json_build_object(
                'state',
                CASE end_run.state
                    WHEN 4 THEN 'completed'
                    WHEN 5 THEN 'dead'
                    WHEN 6 THEN 'dropped'
                    WHEN 7 THEN 'cancelled'
                    WHEN 8 THEN 'expired'
                END,
                'output',
                end_run.output::json,
                'failure',
                CASE WHEN end_run.error_code IS NOT NULL THEN json_build_object(
                    'code', end_run.error_code,
                    'operator', coalesce(end_run.error_text, ''),
                    'caller_fix', end_run.caller_fix,
                    'stop', end_run.stop
                ) END
            )
        WHERE s.child = run
            -- Hides the parent from the planner: it is to look for the one child, not among all that were spawned.
            AND CASE WHEN s.job = spawner THEN s.status = 0 ELSE false END;
        IF FOUND AND current_setting('transaction_isolation') IN ('read committed', 'read uncommitted') THEN
            PERFORM {schema}.wake_parents(ARRAY[run]);
        ELSIF FOUND THEN
            -- Of one snapshot, it cannot see that the parent was parked since: a sweep looks in its place.
            INSERT INTO {schema}.waits (job, recheck) VALUES (spawner, true);
            PERFORM pg_notify('jobs:' || replace('{schema}', '"', ''), 'w');
        END IF;
    END IF;
    RETURN kept;
END
$$;

-- Records the decision that a run unwinds, with the failure that it unwinds from.
CREATE FUNCTION {schema}.begin_unwind(
    run uuid,
    attempt int4,
    error_code text,
    error_text text,
    caller_fix text,
    stop text
) RETURNS void
LANGUAGE sql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
    INSERT INTO {schema}.steps (
        job,
        started_at,
        finished_at,
        position,
        attempt,
        tries,
        role,
        kind,
        status,
        once,
        name,
        key,
        error_code,
        error_text,
        caller_fix,
        stop
    )
    VALUES (
        run,
        statement_timestamp(),
        statement_timestamp(),
        1 + coalesce((SELECT max(position) FROM {schema}.steps WHERE job = run), 0),
        attempt,
        0,
        2,
        10,
        4,
        false,
        '',
        '',
        error_code,
        error_text,
        caller_fix,
        stop
    )
    ON CONFLICT (job, role, name, key) DO UPDATE
    SET attempt = excluded.attempt,
        error_code = excluded.error_code,
        error_text = excluded.error_text,
        caller_fix = excluded.caller_fix,
        stop = excluded.stop
$$;

-- Cancels a run, or has it undo its steps, and its children that have not ended the same way.
-- Answers 0: it has ended as cancelled; 1: it was asked, or undoes its steps; 2: it is past its pivot; 3: it does not live.
--
-- A run may slip past from one table to the next while each is looked at, so that it does not live is believed only from
-- one statement that sees all tables at once. The row of the parent is taken before its children are listed, so that
-- no spawn slips in between; its steps are taken after, so that a child that ends meanwhile is not waited for.
--
-- $4 to $6 are the failure that it unwinds from.
CREATE FUNCTION {schema}.cancel_run(
    run uuid,
    undo boolean,
    keep float8,
    undo_code text,
    undo_text text,
    undo_stop text
) RETURNS int2
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET plan_cache_mode = force_generic_plan
AS $$
DECLARE
    channel text := 'jobs:' || replace('{schema}', '"', '');
    moment timestamptz := statement_timestamp();
    round int := 0;
    ended boolean;
    gone record;
    found_stage int2;
    found_asked boolean;
    living boolean;
    kept json;
    spawned uuid;
BEGIN
    LOOP
        ended := true;
        DELETE FROM {schema}.ready
        WHERE id = run
            AND stage < CASE WHEN undo THEN 1 ELSE 3 END
        RETURNING * INTO gone;
        EXIT WHEN FOUND;
        DELETE FROM {schema}.waiting
        WHERE id = run
            AND stage < CASE WHEN undo THEN 1 ELSE 3 END
        RETURNING * INTO gone;
        EXIT WHEN FOUND;

        ended := false;
        IF undo THEN
            UPDATE {schema}.ready AS r
            SET stage = 3,
                crashes = 0,
                error_code = undo_code,
                error_text = undo_text,
                caller_fix = NULL,
                stop = undo_stop
            WHERE r.id = run
                AND r.stage = 1
            RETURNING r.stage INTO gone;
            EXIT WHEN FOUND;
            WITH parked AS (
                DELETE FROM {schema}.waiting
                WHERE id = run
                    AND stage = 1
                RETURNING *
            )
            INSERT INTO {schema}.ready AS r (
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
                stop
            )
            SELECT
                p.id,
                moment,
                p.created_at,
                p.expires_at,
                p.attempt,
                p.version,
                0,
                p.priority,
                p.parent,
                3,
                p.unique_hold,
                p.kind,
                p.queue,
                p.tenant,
                p.payload,
                p.overrides,
                p.metadata,
                p.progress,
                p.trace,
                p.enqueued_by,
                p.unique_key,
                undo_code,
                undo_text,
                undo_stop
            FROM parked AS p
            RETURNING r.stage, r.queue INTO gone;
            IF FOUND THEN
                DELETE FROM {schema}.waits WHERE job = run;
                PERFORM pg_notify(channel, 'q' || gone.queue);
                EXIT;
            END IF;
            UPDATE {schema}.running AS r
            SET roll_back = true
            WHERE r.id = run
                AND r.stage < 2
            RETURNING r.worker, r.stage INTO gone;
            IF FOUND THEN
                PERFORM pg_notify(channel, concat('r', gone.worker, ':', run));
                EXIT;
            END IF;
        ELSE
            UPDATE {schema}.running AS r
            SET cancel_requested = true
            WHERE r.id = run
                AND r.stage < 3
                AND NOT r.roll_back
            RETURNING r.worker, r.stage INTO gone;
            IF FOUND THEN
                PERFORM pg_notify(channel, concat('c', gone.worker, ':', run));
                EXIT;
            END IF;
        END IF;

        SELECT lives.stage, lives.asked
        INTO found_stage, found_asked
        FROM (
            SELECT stage, false AS asked FROM {schema}.ready WHERE id = run
            UNION ALL
            SELECT stage, roll_back FROM {schema}.running WHERE id = run
            UNION ALL
            SELECT stage, false FROM {schema}.waiting WHERE id = run
        ) AS lives
        LIMIT 1;
        living := FOUND;
        IF NOT living THEN
            RETURN 3;
        ELSIF found_stage = 3 OR (found_asked AND NOT undo) THEN
            RETURN 1;
        ELSIF found_stage = 2 AND undo THEN
            RETURN 2;
        END IF;
        round := round + 1;
        IF round > 100 THEN
            RAISE EXCEPTION 'a job moves too fast to be cancelled' USING ERRCODE = '40001';
        END IF;
    END LOOP;

    IF gone.stage > 0 THEN
        FOR spawned IN
            SELECT s.child
            FROM {schema}.steps AS s
            WHERE s.job = run
                AND s.child IS NOT NULL
                AND s.status = 0
            ORDER BY s.position
        LOOP
            PERFORM {schema}.cancel_run(spawned, undo, keep, undo_code, undo_text, undo_stop);
        END LOOP;
    END IF;

    IF NOT ended THEN
        -- A running one decides by itself, once its worker has let go of what it is about to record.
        IF undo THEN
            PERFORM {schema}.begin_unwind(r.id, r.attempt, undo_code, undo_text, NULL, undo_stop)
            FROM {schema}.ready AS r
            WHERE r.id = run
                AND r.stage = 3;
        END IF;
        RETURN 1;
    END IF;

    DELETE FROM {schema}.unique_keys
    WHERE key = gone.unique_key
        AND job_id = run
        AND gone.unique_hold <= 1;
    IF gone.stage > 0 OR gone.parent IS NOT NULL THEN
        kept := {schema}.end_run(
            run,
            gone.parent,
            7::int2,
            NULL,
            gone.error_code,
            gone.error_text,
            gone.caller_fix,
            gone.stop
        );
    END IF;
    INSERT INTO {schema}.history (
        id,
        finished_at,
        purge_at,
        created_at,
        attempt,
        slot,
        state,
        version,
        crashes,
        priority,
        parent,
        stage,
        kind,
        queue,
        tenant,
        payload,
        metadata,
        progress,
        trace,
        enqueued_by,
        error_code,
        error_text,
        caller_fix,
        stop,
        steps
    )
    VALUES (
        run,
        moment,
        moment + keep * interval '1 second',
        gone.created_at,
        gone.attempt,
        {schema}.history_slot(moment, moment + keep * interval '1 second'),
        7,
        gone.version,
        gone.crashes,
        gone.priority,
        gone.parent,
        gone.stage,
        gone.kind,
        gone.queue,
        gone.tenant,
        gone.payload,
        gone.metadata,
        gone.progress,
        gone.trace,
        gone.enqueued_by,
        gone.error_code,
        gone.error_text,
        gone.caller_fix,
        gone.stop,
        kept
    );
    RETURN 0;
END
$$;
