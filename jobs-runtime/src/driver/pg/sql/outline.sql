-- $1 kind
SELECT outline::text
FROM {schema}.kinds
WHERE name = $1
