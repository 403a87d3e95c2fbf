CREATE TABLE ready (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    queue text NOT NULL,
    priority int2 NOT NULL DEFAULT 0,
    run_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempt int4 NOT NULL DEFAULT 1,
    payload json NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX ready_in_order ON ready (queue, priority, run_at, id);

CREATE TABLE running (
    id uuid PRIMARY KEY,
    kind text NOT NULL,
    queue text NOT NULL,
    priority int2 NOT NULL,
    run_at timestamptz NOT NULL,
    attempt int4 NOT NULL,
    token bigint NOT NULL,
    payload json NOT NULL,
    created_at timestamptz NOT NULL
);
