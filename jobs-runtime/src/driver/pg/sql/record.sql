-- $1 worker, $2 ids, $3 attempts, $4 tokens, $5 names, $6 keys, $7 roles, $8 kinds, $9 statuses, $10 positions, $11 tries,
-- $12 onces, $13 outputs, $14 error codes, $15 error texts, $16 caller fixes, $17 stops, $18 due at, $19 events,
-- $20 seconds since they began, $21 children,
-- $22 whether they come with a decision to unwind
WITH asked AS MATERIALIZED (
    SELECT *
    FROM unnest(
        $2::uuid[],
        $5::text[],
        $6::text[],
        $7::int2[],
        $8::int2[],
        $9::int2[],
        $10::int4[],
        $11::int4[],
        $12::boolean[],
        $13::text[],
        $14::text[],
        $15::text[],
        $16::text[],
        $17::text[],
        $18::timestamptz[],
        $19::uuid[],
        $20::float8[],
        $21::uuid[]
    ) AS a (
        id,
        name,
        key,
        role,
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
        age,
        child
    )
),
held AS MATERIALIZED (
    -- The lock keeps a rescue from moving the row between this check and the commit of the records, and a cancel from
    -- listing the children before that.
    SELECT
        id,
        attempt,
        stage,
        cancel_requested OR roll_back AS is_asked
    FROM {schema}.running
    WHERE id = ANY ($2::uuid[])
        AND attempt = ANY ($3::int4[])
        AND worker = $1
        AND token = ANY ($4::int8[])
        AND EXISTS (
            SELECT FROM {schema}.workers
            WHERE workers.id = $1
                AND (
                    lease_until > pg_catalog.clock_timestamp()
                    -- A step's own transaction may have one snapshot, and in that a lease of long ago. There the lock
                    -- alone tells that no rescue has come, and keeps it away.
                    OR pg_catalog.current_setting('transaction_isolation') NOT IN ('read committed', 'read uncommitted')
                )
        )
    FOR NO KEY UPDATE OF running
),
accepted AS MATERIALIZED (
    SELECT
        a.*,
        h.attempt,
        h.stage
    FROM asked AS a
    JOIN held AS h USING (id)
    WHERE (
            a.child IS NULL
            OR NOT h.is_asked
        )
        -- No step of a run that unwinds goes forward.
        AND (
            a.role <> 0
            OR h.stage < 3
            OR $22
        )
),
raised AS (
    UPDATE {schema}.running
    SET stage = CASE
            WHEN stage < 2 AND id = ANY (ARRAY(SELECT id FROM accepted WHERE kind = 8)) THEN 2
            ELSE greatest(stage, 1)
        END,
        roll_back = roll_back AND id <> ALL (ARRAY(SELECT id FROM accepted WHERE kind = 8))
    -- A spawn always writes the row: a cancel whose snapshot is older than the spawn is to fail, and to look anew.
    WHERE id = ANY (ARRAY(SELECT id FROM accepted WHERE stage = 0 OR (stage = 1 AND kind = 8) OR child IS NOT NULL))
),
recorded AS (
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
        child,
        name,
        key,
        output,
        error_code,
        error_text,
        caller_fix,
        stop
    )
    SELECT
        id,
        pg_catalog.statement_timestamp() - age * interval '1 second',
        CASE WHEN status >= 3 THEN pg_catalog.statement_timestamp() END,
        due_at,
        position,
        attempt,
        tries,
        role,
        kind,
        status,
        once,
        event,
        child,
        name,
        key,
        output::json,
        error_code,
        error_text,
        caller_fix,
        stop
    FROM accepted
    ON CONFLICT (job, role, name, key) DO UPDATE
    SET finished_at = excluded.finished_at,
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
    -- A spawn whose answer was lost is written again, when the child may even have ended.
    WHERE excluded.child IS NULL
        -- The time of a wait is recorded while it goes on, and is no news once it has ended.
        AND NOT (excluded.status = 1 AND s.status >= 3)
    RETURNING child
)
SELECT
    id,
    is_asked,
    ARRAY(SELECT child FROM recorded WHERE child = ANY ($21::uuid[])) AS spawned,
    stage = 3 AS unwinds,
    -- The locks must not outlive a worker that is cut off before its commit; in a step's own transaction, the settings
    -- are the caller's.
    (SELECT pg_catalog.set_config('idle_in_transaction_session_timeout', '15s', true)) AS bounded
FROM held
