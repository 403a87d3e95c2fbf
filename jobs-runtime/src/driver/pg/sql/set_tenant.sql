-- $1 tenant
SELECT pg_catalog.set_config('app.tenant', $1, true)
