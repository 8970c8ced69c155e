import type pg from "pg";

/**
 * Describes the schema as Postgres reports it, one entry per object. Equal descriptions mean equal schemas. Search
 * indexes are left out (see `migrate`).
 */
export async function describeSchema(client: pg.ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ key: string; definition: string }>(DESCRIBE);
  return new Map(rows.map(({ key, definition }) => [key, definition]));
}

const DESCRIBE = `
WITH own AS (
  SELECT c.oid, c.relname FROM pg_class c
  WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND c.relname NOT IN ('svc_meta', 'svc_migrations')
)
SELECT 'table ' || relname AS key, '' AS definition FROM own
UNION ALL
SELECT 'column ' || o.relname || '.' || a.attname,
  format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
  || CASE WHEN a.attidentity <> '' THEN ' IDENTITY ' || a.attidentity::text || ' ' || pg_get_serial_sequence(quote_ident(o.relname), a.attname) ELSE '' END
  || coalesce(' COLLATE ' || nullif(l.collname, 'default'), '')
  || coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')
FROM own o JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN pg_collation l ON l.oid = a.attcollation LEFT JOIN pg_attrdef d ON d.adrelid = o.oid AND d.adnum = a.attnum
UNION ALL
SELECT 'storage ' || o.relname || '.' || a.attname, 'EXTERNAL'
FROM own o JOIN pg_attribute a ON a.attrelid = o.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attstorage = 'e'
UNION ALL
SELECT 'constraint ' || o.relname || '.' || k.conname, pg_get_constraintdef(k.oid)
FROM own o JOIN pg_constraint k ON k.conrelid = o.oid WHERE k.contype <> 'n'
UNION ALL
SELECT 'index ' || o.relname || '.' || c.relname, pg_get_indexdef(c.oid)
FROM own o JOIN pg_index i ON i.indrelid = o.oid JOIN pg_class c ON c.oid = i.indexrelid
WHERE NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.conrelid = o.oid)
  AND NOT EXISTS (SELECT 1 FROM unnest(i.indclass) class JOIN pg_opclass p ON p.oid = class WHERE p.opcname = 'gin_trgm_ops')
UNION ALL
SELECT 'trigger ' || o.relname || '.' || t.tgname, pg_get_triggerdef(t.oid)
FROM own o JOIN pg_trigger t ON t.tgrelid = o.oid WHERE NOT t.tgisinternal
UNION ALL
SELECT 'function ' || p.proname, pg_get_functiondef(p.oid)
FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace AND p.proname LIKE 'svc\\_%'`;
