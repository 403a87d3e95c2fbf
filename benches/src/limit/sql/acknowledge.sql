DELETE FROM running
WHERE id = ANY ($1)
  AND attempt = ANY ($2)
  AND token = ANY ($3)
