-- $1 schema
SELECT pg_advisory_xact_lock(hashtextextended('jobs:migrate:' || $1, 0))
