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
    cancel_requested,
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
