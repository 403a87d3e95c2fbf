CREATE TABLE IF NOT EXISTS {schema}.migrations (
    version int4 NOT NULL,
    name text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT migrations_pkey PRIMARY KEY (version)
)
