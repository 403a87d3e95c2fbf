-- The core: where jobs stand, who holds them, which keys are taken, what has ended.
-- `{schema}` stands for the quoted name of the schema.

CREATE SEQUENCE {schema}.worker_ids AS bigint;

-- Each process draws a block of claim tokens from here, so that no two claims ever share one.
CREATE SEQUENCE {schema}.token_blocks AS bigint MAXVALUE 2147483647;

-- Work that can be claimed, and nothing else: the index below is all that a claim walks over.
CREATE TABLE {schema}.ready (
    id uuid NOT NULL,
    ready_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    attempt int4 NOT NULL,
    version int2 NOT NULL,
    crashes int2 NOT NULL,
    priority int2 NOT NULL,
    unique_hold int2,
    kind text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    tenant text COLLATE "C",
    payload json NOT NULL,
    overrides json,
    metadata json,
    progress json,
    trace text,
    enqueued_by text,
    unique_key bytea,
    error_code text,
    error_text text,
    caller_fix text,
    stop text,
    CONSTRAINT ready_pkey PRIMARY KEY (id)
) WITH (
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX ready_order ON {schema}.ready (queue, priority, ready_at, id);

-- Work that a worker holds. Small: as many rows as jobs run at once.
CREATE TABLE {schema}.running (
    id uuid NOT NULL,
    worker int8 NOT NULL,
    token int8 NOT NULL,
    claimed_at timestamptz NOT NULL,
    ready_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    attempt int4 NOT NULL,
    version int2 NOT NULL,
    crashes int2 NOT NULL,
    priority int2 NOT NULL,
    unique_hold int2,
    cancel_requested boolean NOT NULL DEFAULT false,
    kind text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    tenant text COLLATE "C",
    payload json NOT NULL,
    overrides json,
    metadata json,
    progress json,
    trace text,
    enqueued_by text,
    unique_key bytea,
    error_code text,
    error_text text,
    caller_fix text,
    stop text,
    CONSTRAINT running_pkey PRIMARY KEY (id)
) WITH (
    fillfactor = 90,
    autovacuum_vacuum_scale_factor = 0,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX running_cancel_requested ON {schema}.running (worker) WHERE cancel_requested;

-- Work that waits for its time: delayed by its enqueue or waiting for its next attempt.
CREATE TABLE {schema}.waiting (
    id uuid NOT NULL,
    due_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    attempt int4 NOT NULL,
    version int2 NOT NULL,
    crashes int2 NOT NULL,
    priority int2 NOT NULL,
    unique_hold int2,
    kind text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    tenant text COLLATE "C",
    payload json NOT NULL,
    overrides json,
    metadata json,
    progress json,
    trace text,
    enqueued_by text,
    unique_key bytea,
    error_code text,
    error_text text,
    caller_fix text,
    stop text,
    CONSTRAINT waiting_pkey PRIMARY KEY (id)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000,
    autovacuum_vacuum_cost_delay = 0
);

CREATE INDEX waiting_due ON {schema}.waiting (due_at);

-- Jobs that failed for good, kept until an operator acts.
CREATE TABLE {schema}.dead (
    id uuid NOT NULL,
    finished_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    attempt int4 NOT NULL,
    version int2 NOT NULL,
    crashes int2 NOT NULL,
    priority int2 NOT NULL,
    unique_hold int2,
    kind text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    tenant text COLLATE "C",
    payload json NOT NULL,
    overrides json,
    metadata json,
    progress json,
    trace text,
    enqueued_by text,
    unique_key bytea,
    error_code text,
    error_text text,
    caller_fix text,
    stop text,
    CONSTRAINT dead_pkey PRIMARY KEY (id)
);

-- Jobs that have ended otherwise, for as long as each is kept. Slots 0 to 31 hold the jobs that leave on one day,
-- modulo 32, and are truncated when the day is over; slot 32 holds the jobs that are kept for less than a day or more
-- than 30, which leave row by row.
CREATE TABLE {schema}.history (
    id uuid NOT NULL,
    finished_at timestamptz NOT NULL,
    purge_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    attempt int4 NOT NULL,
    slot int2 NOT NULL,
    state int2 NOT NULL,
    version int2 NOT NULL,
    crashes int2 NOT NULL,
    priority int2 NOT NULL,
    kind text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    tenant text COLLATE "C",
    payload json NOT NULL,
    output json,
    metadata json,
    progress json,
    trace text,
    enqueued_by text,
    error_code text,
    error_text text,
    caller_fix text,
    stop text
) PARTITION BY LIST (slot);

CREATE INDEX history_id ON {schema}.history (id);

DO $$
BEGIN
    FOR slot IN 0..32 LOOP
        EXECUTE format(
            'CREATE TABLE {schema}.%I PARTITION OF {schema}.history FOR VALUES IN (%s)',
            'history_' || lpad(slot::text, 2, '0'),
            slot
        );
    END LOOP;
END
$$;

CREATE INDEX history_32_purge ON {schema}.history_32 (purge_at);

-- The last day whose jobs have left each slot, counted in days from 1970.
CREATE TABLE {schema}.history_slots (
    slot int2 PRIMARY KEY,
    purged_day int4 NOT NULL
);

INSERT INTO {schema}.history_slots (slot, purged_day)
SELECT slot, floor(extract(epoch FROM clock_timestamp()) / 86400)
FROM generate_series(0, 31) AS slot;

CREATE FUNCTION {schema}.history_slot(finished_at timestamptz, purge_at timestamptz) RETURNS int2
LANGUAGE sql IMMUTABLE
RETURN CASE
    WHEN purge_at - finished_at BETWEEN interval '1 day' AND interval '30 days'
    THEN ((floor(extract(epoch FROM purge_at) / 86400)::int8 + 1) % 32)::int2
    ELSE 32::int2
END;

-- Which job holds which unique key. Written only by jobs that have one.
-- hold: 0 while the job lives, 1 until it is claimed, 2 for good, 3 until expires_at.
CREATE TABLE {schema}.unique_keys (
    key bytea NOT NULL,
    job_id uuid NOT NULL,
    expires_at timestamptz,
    hold int2 NOT NULL,
    CONSTRAINT unique_keys_pkey PRIMARY KEY (key)
) WITH (
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 5000
);

CREATE INDEX unique_keys_expires ON {schema}.unique_keys (expires_at) WHERE expires_at IS NOT NULL;

-- The leases.
CREATE TABLE {schema}.workers (
    id int8 NOT NULL,
    lease_until timestamptz NOT NULL,
    lease interval NOT NULL,
    started_at timestamptz NOT NULL,
    name text NOT NULL,
    queues json NOT NULL,
    kinds text[] COLLATE "C" NOT NULL,
    versions int4[] NOT NULL,
    CONSTRAINT workers_pkey PRIMARY KEY (id)
) WITH (fillfactor = 50);

-- The kinds that workers have registered, so that an enqueue from SQL finds the queue.
CREATE TABLE {schema}.kinds (
    name text COLLATE "C" NOT NULL,
    queue text COLLATE "C" NOT NULL,
    version int2 NOT NULL,
    CONSTRAINT kinds_pkey PRIMARY KEY (name)
);

-- Takes unique keys for new jobs and says who holds each afterwards. A NULL key asks for nothing.
--
-- Keys are taken in their order, so that concurrent batches do not deadlock. An insert waits for an uncommitted holder
-- and takes over when that one rolls back; a holder that has vanished in between is tried again. If a key is taken
-- whose job rejects conflicts, everything taken is given back.
CREATE FUNCTION {schema}.take_keys(
    keys bytea[],
    jobs uuid[],
    holds int2[],
    periods float8[],
    rejects boolean[]
) RETURNS TABLE (ordinal int8, job uuid, holder uuid, state int2, rejected boolean)
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_hashjoin = off
SET enable_mergejoin = off
AS $$
DECLARE
    holders uuid[];
    round int := 0;
BEGIN
    LOOP
        DELETE FROM {schema}.unique_keys AS u
        WHERE u.key = ANY (ARRAY(
            SELECT expired.key
            FROM {schema}.unique_keys AS expired
            WHERE expired.key = ANY (keys)
                AND expired.expires_at <= clock_timestamp()
            ORDER BY expired.key
            FOR UPDATE
        ));
        INSERT INTO {schema}.unique_keys (key, job_id, hold, expires_at)
        SELECT i.key, i.job, i.hold, clock_timestamp() + i.period * interval '1 second'
        FROM unnest(keys, jobs, holds, periods) WITH ORDINALITY AS i (key, job, hold, period, place)
        WHERE i.key IS NOT NULL
        ORDER BY i.key, i.place
        ON CONFLICT (key) DO NOTHING;
        -- One statement reads all holders and decides by them: a holder that is gone a moment later counts as found.
        holders := ARRAY(
            SELECT (
                -- A transaction with one snapshot also sees a row that has gone since: what it holds itself comes first.
                SELECT u.job_id
                FROM {schema}.unique_keys AS u
                WHERE u.key = i.key
                ORDER BY u.job_id = ANY (jobs) DESC, u.xmax = '0'::xid DESC
                LIMIT 1
            )
            FROM unnest(keys) WITH ORDINALITY AS i (key, place)
            ORDER BY i.place
        );
        EXIT WHEN NOT EXISTS (
            SELECT FROM unnest(keys, holders) AS wanted (key, holder)
            WHERE wanted.key IS NOT NULL
                AND wanted.holder IS NULL
        );
        round := round + 1;
        IF round > 1000 THEN
            RAISE EXCEPTION 'a unique key changes its holder too fast' USING ERRCODE = '40001';
        END IF;
    END LOOP;

    RETURN QUERY
    SELECT
        i.place,
        i.job,
        i.holder,
        CASE WHEN i.holder <> i.job THEN {schema}.state_of(i.holder) END,
        i.holder <> i.job AND i.reject
    FROM unnest(keys, jobs, rejects, holders) WITH ORDINALITY AS i (key, job, reject, holder, place)
    WHERE i.key IS NOT NULL;

    IF EXISTS (
        SELECT FROM unnest(jobs, rejects, holders) AS i (job, reject, holder)
        WHERE i.holder <> i.job AND i.reject
    ) THEN
        DELETE FROM {schema}.unique_keys AS u
        WHERE u.key = ANY (keys) AND u.job_id = ANY (jobs);
    END IF;
END
$$;

-- The state of a job as its number, NULL if it is not stored.
CREATE FUNCTION {schema}.state_of(wanted uuid) RETURNS int2
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT 1::int2 FROM {schema}.ready WHERE id = wanted
    UNION ALL
    SELECT 2::int2 FROM {schema}.running WHERE id = wanted
    UNION ALL
    SELECT 0::int2 FROM {schema}.waiting WHERE id = wanted
    UNION ALL
    SELECT 5::int2 FROM {schema}.dead WHERE id = wanted
    UNION ALL
    SELECT state FROM {schema}.history WHERE id = wanted AND purge_at > clock_timestamp()
    LIMIT 1
$$;

-- Every job, wherever it is stored. state: 0 delayed, 1 ready, 2 running, 4 completed, 5 dead, 6 dropped, 7 cancelled,
-- 8 expired.
CREATE VIEW {schema}.records AS
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
    false AS cancel_requested
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
    cancel_requested
FROM {schema}.running
UNION ALL
SELECT
    id,
    0::int2,
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
    due_at,
    NULL::timestamptz,
    false
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
    false
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
    false
FROM {schema}.history
WHERE purge_at > clock_timestamp();

-- Refuses a call from SQL, with what would be right as the hint.
CREATE FUNCTION {schema}.refuse(code text, detail text, fix text) RETURNS void
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RAISE EXCEPTION '% (%)', detail, code USING ERRCODE = 'invalid_parameter_value', HINT = fix;
END
$$;

CREATE FUNCTION {schema}.enqueue(
    kind text,
    payload json,
    queue text DEFAULT NULL,
    tenant text DEFAULT NULL,
    priority int4 DEFAULT 0,
    delay interval DEFAULT NULL,
    unique_key text DEFAULT NULL,
    expires_after interval DEFAULT NULL,
    metadata json DEFAULT NULL,
    enqueued_by text DEFAULT NULL
) RETURNS uuid
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    moment timestamptz := clock_timestamp();
    start timestamptz := clock_timestamp() + coalesce(delay, interval '0');
    known record;
    target text := queue;
    digest bytea;
    new_id uuid;
    holder uuid;
BEGIN
    IF kind IS NULL OR kind !~ '^[a-z0-9_.-]{1,100}$' THEN
        PERFORM {schema}.refuse('X_JOB_UNKNOWN', format('%L is not the name of a job', kind),
            'use 1 to 100 of the characters a-z, 0-9, _, ., -');
    END IF;
    SELECT k.queue, k.version INTO known FROM {schema}.kinds AS k WHERE k.name = enqueue.kind;
    target := coalesce(target, known.queue);
    IF target IS NULL THEN
        PERFORM {schema}.refuse('X_JOB_UNKNOWN', format('no worker has registered the job %L yet', kind),
            'pass the queue, or start a worker that knows the job first');
    END IF;
    IF target !~ '^[a-z0-9_.-]{1,100}$' THEN
        PERFORM {schema}.refuse('X_QUEUE_NAME_INVALID', format('%L is not the name of a queue', target),
            'use 1 to 100 of the characters a-z, 0-9, _, ., -');
    END IF;
    IF payload IS NULL THEN
        PERFORM {schema}.refuse('X_PAYLOAD_INVALID', 'the payload is NULL', 'pass a JSON document');
    END IF;
    IF octet_length(payload::text) > 1048576 THEN
        PERFORM {schema}.refuse('X_PAYLOAD_TOO_LARGE',
            format('the payload is %s bytes long, the limit is 1048576', octet_length(payload::text)),
            'store large data elsewhere and pass a reference');
    END IF;
    BEGIN
        -- Refuses what json lets pass and no text can hold: NUL, and half of a surrogate pair.
        PERFORM payload::jsonb;
    EXCEPTION
        WHEN data_exception OR program_limit_exceeded THEN
            PERFORM {schema}.refuse('X_PAYLOAD_INVALID', format('the payload cannot be stored exactly: %s', SQLERRM),
                'pass a JSON document without \u0000 and without half of a surrogate pair');
    END;
    IF tenant IS NOT NULL AND (btrim(tenant) = '' OR octet_length(tenant) > 128) THEN
        PERFORM {schema}.refuse('X_TENANT_INVALID', 'the tenant is blank or longer than 128 bytes',
            'use 1 to 128 bytes of text');
    END IF;
    IF priority IS NULL OR priority NOT BETWEEN -32768 AND 32767 THEN
        PERFORM {schema}.refuse('X_PAYLOAD_INVALID', format('the priority %s is outside -32768 to 32767', priority),
            'use a smaller number; lower runs first');
    END IF;
    IF delay NOT BETWEEN interval '0' AND interval '36500 days'
        OR expires_after <= interval '0'
        OR expires_after > interval '36500 days'
    THEN
        PERFORM {schema}.refuse('X_TIME_INVALID', 'a duration is negative, zero or longer than 36500 days, the limit',
            'use a duration of at most 36500 days');
    END IF;
    IF unique_key IS NOT NULL AND (btrim(unique_key) = '' OR octet_length(unique_key) > 200) THEN
        PERFORM {schema}.refuse('X_KEY_INVALID', 'the unique key is blank or longer than 200 bytes',
            'use 1 to 200 bytes of text');
    END IF;
    IF enqueued_by IS NOT NULL AND (btrim(enqueued_by) = '' OR octet_length(enqueued_by) > 200) THEN
        PERFORM {schema}.refuse('X_ACTOR_INVALID', 'enqueued_by is blank or longer than 200 bytes',
            'use 1 to 200 bytes of text');
    END IF;
    IF json_typeof(metadata) <> 'object' OR octet_length(metadata::text) > 16384 THEN
        PERFORM {schema}.refuse('X_METADATA_INVALID', 'the metadata is not an object or longer than 16 KiB',
            'use an object of at most 16 KiB');
    END IF;

    -- A UUID of version 7: 48 bits of milliseconds, then the version's and random bits.
    new_id := encode(
        set_bit(set_bit(
            overlay(
                uuid_send(gen_random_uuid())
                PLACING substring(int8send(floor(extract(epoch FROM moment) * 1000)::int8) FROM 3)
                FROM 1 FOR 6
            ),
            52, 1), 53, 1),
        'hex'
    )::uuid;

    IF unique_key IS NOT NULL THEN
        SELECT sha256(string_agg(int8send(octet_length(part)) || part, ''::bytea ORDER BY place))
        INTO digest
        FROM unnest(ARRAY[
            convert_to(kind, 'UTF8'),
            CASE WHEN tenant IS NULL THEN 'none'::bytea ELSE 'tenant'::bytea END,
            convert_to(tenant, 'UTF8'),
            'text'::bytea,
            convert_to(unique_key, 'UTF8')
        ]) WITH ORDINALITY AS p (part, place)
        WHERE part IS NOT NULL;
        SELECT t.holder
        INTO holder
        FROM {schema}.take_keys(ARRAY[digest], ARRAY[new_id], ARRAY[0::int2], ARRAY[NULL::float8], ARRAY[false]) AS t;
        IF holder <> new_id THEN
            RETURN holder;
        END IF;
    END IF;

    IF start > moment AND delay > interval '0' THEN
        INSERT INTO {schema}.waiting (
            id, due_at, created_at, expires_at, attempt, version, crashes, priority, unique_hold,
            kind, queue, tenant, payload, metadata, enqueued_by, unique_key
        )
        VALUES (
            new_id, start, moment, start + expires_after, 1, coalesce(known.version, 1), 0, enqueue.priority,
            CASE WHEN digest IS NOT NULL THEN 0 END,
            enqueue.kind, target, enqueue.tenant, enqueue.payload, enqueue.metadata, enqueue.enqueued_by, digest
        );
    ELSE
        INSERT INTO {schema}.ready (
            id, ready_at, created_at, expires_at, attempt, version, crashes, priority, unique_hold,
            kind, queue, tenant, payload, metadata, enqueued_by, unique_key
        )
        VALUES (
            new_id, moment, moment, moment + expires_after, 1, coalesce(known.version, 1), 0, enqueue.priority,
            CASE WHEN digest IS NOT NULL THEN 0 END,
            enqueue.kind, target, enqueue.tenant, enqueue.payload, enqueue.metadata, enqueue.enqueued_by, digest
        );
        PERFORM pg_notify('jobs:' || replace('{schema}', '"', ''), 'q' || target);
    END IF;
    RETURN new_id;
END
$$;

COMMENT ON FUNCTION {schema}.enqueue IS 'Enqueues a job from SQL: from a trigger, from another language. Answers the id of the job, or of the job that holds
the unique key. Nobody is woken before the transaction commits.

kind           the job''s name or an alias
payload        its input; at most 1 MiB, without NUL
queue          its queue; by default the one that a worker has registered for the kind
tenant         the tenant that the payload resolves to; NULL for a job that declares `tenant = none`
priority       lower runs first
delay          how long it waits before it may start
unique_key     1 to 200 bytes: while a job of this kind, tenant and key lives, no second one is inserted. The same
               as `.unique(text)` in Rust. What a job declares as `unique` is known to Rust alone.
expires_after  the longest wait for its start
metadata       an object, at most 16 KiB
enqueued_by    who enqueues it, for attribution';
