SELECT
    string_agg(oid::regclass::text, ', ' ORDER BY oid::regclass::text)
FROM pg_catalog.pg_class
WHERE relrowsecurity
    AND NOT row_security_active(oid)
