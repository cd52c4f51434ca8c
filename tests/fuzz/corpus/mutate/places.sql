-- written that is judged. tests/live/slots.py says what goes into the holes, and proves from the
-- grammar's own tree which field of which node each hole is.
SELECT 1 FROM shop.customers c
SELECT 1 AS a, c.id b FROM shop.customers c
SELECT DISTINCT 1 FROM shop.customers c
SELECT DISTINCT ON (1, c.id) c.id FROM shop.customers c
SELECT ALL c.id FROM shop.customers c WHERE true
SELECT c.id FROM shop.customers c WHERE c.id = 1
SELECT count(*) FROM shop.customers c GROUP BY c.id
SELECT count(*) FROM shop.customers c GROUP BY c.id, (c.id)
SELECT count(*) FROM shop.customers c GROUP BY (c.id, c.id)
SELECT count(*) FROM shop.customers c GROUP BY DISTINCT ROLLUP (c.id, c.id)
SELECT count(*) FROM shop.customers c GROUP BY CUBE (c.id, (c.id, c.name))
SELECT count(*) FROM shop.customers c GROUP BY GROUPING SETS ((c.id), (c.id), ())
SELECT count(*) FROM shop.customers c GROUP BY GROUPING SETS (ROLLUP (c.id, c.id), CUBE (c.city))
SELECT count(*) FROM shop.customers c HAVING true
SELECT c.id FROM shop.customers c GROUP BY c.id HAVING true
SELECT c.id FROM shop.customers c ORDER BY c.id
SELECT c.id FROM shop.customers c ORDER BY c.id DESC, c.id ASC NULLS LAST
SELECT c.id FROM shop.customers c ORDER BY 1 USING <
SELECT c.id FROM shop.customers c ORDER BY c.id USING <
SELECT c.id FROM shop.customers c LIMIT 1
SELECT c.id FROM shop.customers c OFFSET 1
SELECT c.id FROM shop.customers c ORDER BY c.id FETCH FIRST (1) ROWS WITH TIES
SELECT c.id FROM shop.customers c OFFSET (1) ROWS FETCH NEXT (1) ROWS ONLY
SELECT c.id FROM shop.customers c WHERE true FOR KEY SHARE OF c SKIP LOCKED
VALUES (1, 1), (2, 1)
VALUES (1), (2) ORDER BY 1 LIMIT 1 OFFSET 1
TABLE shop.orders
TABLE shop.orders ORDER BY 1
SELECT * FROM (VALUES (1), (2)) v(a)
SELECT c.id FROM shop.customers c, LATERAL (VALUES (1)) v(a)
SELECT 1 FROM shop.customers c UNION SELECT 1
SELECT 1 UNION ALL SELECT 1 FROM shop.customers c
SELECT 1 INTERSECT (SELECT 2 EXCEPT SELECT 1 FROM shop.customers c)
(SELECT 1 EXCEPT ALL SELECT 2) UNION SELECT c.id FROM shop.customers c WHERE true ORDER BY 1
(SELECT c.id FROM shop.customers c ORDER BY 1 LIMIT 1) UNION SELECT 1
SELECT 1 AS a UNION SELECT 2 LIMIT 1 OFFSET 1
SELECT 1 UNION SELECT t.id FROM shop.orders AS t
SELECT 1 UNION (VALUES (1))
WITH w AS (SELECT 1 AS a FROM shop.customers c) SELECT a FROM w
WITH w(a) AS MATERIALIZED (SELECT c.id FROM shop.customers c WHERE true) SELECT a FROM w
WITH w AS NOT MATERIALIZED (VALUES (1)) SELECT 1
WITH v AS (SELECT 1 AS a), w AS (SELECT 1 AS b FROM v, shop.customers c) SELECT 1
WITH w AS (SELECT c.id FROM shop.customers c WHERE EXISTS (WITH v AS (SELECT 1) SELECT FROM v)) SELECT 1
WITH RECURSIVE w(a) AS (SELECT 1 FROM shop.customers c UNION ALL SELECT a + 1 FROM w WHERE a < 3) SELECT a FROM w
WITH RECURSIVE w(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM w, shop.customers c WHERE true) SELECT a FROM w
WITH RECURSIVE w(a) AS (SELECT 1 UNION SELECT a + 1 FROM w) SEARCH DEPTH FIRST BY a SET seq SELECT 1 FROM w, shop.customers c
WITH RECURSIVE w(a) AS (SELECT 1 UNION SELECT a + 1 FROM w) SEARCH BREADTH FIRST BY a SET seq SELECT a FROM w
WITH RECURSIVE w(a) AS (SELECT 1 UNION SELECT a + 1 FROM w) CYCLE a SET m TO int '1' DEFAULT int '0' USING p SELECT a FROM w
WITH RECURSIVE w(a) AS (SELECT 1 UNION SELECT a + 1 FROM w) CYCLE a SET m USING p SELECT a FROM w
WITH RECURSIVE a AS (SELECT 1 FROM b), b AS (SELECT 1) SELECT 1
WITH w AS (TABLE shop.orders) SELECT 1
WITH w AS (SELECT 1 FROM (WITH v AS (TABLE shop.orders) SELECT 1) s) SELECT 1
WITH w AS (INSERT INTO shop.orders (customer_id) VALUES (1) RETURNING id) SELECT id FROM w
WITH w AS (UPDATE shop.orders SET notes = 'x' WHERE id = 1 RETURNING id) SELECT id FROM w
WITH w AS (DELETE FROM shop.orders WHERE id = 1 RETURNING 'x' AS a) SELECT a FROM w
SELECT 1 FROM shop.orders
SELECT 1 FROM ONLY shop.orders AS t
SELECT 1 FROM shop.orders o, shop.orders AS t
SELECT 1 FROM shop.orders o CROSS JOIN shop.orders AS t
SELECT 1 FROM shop.orders AS t TABLESAMPLE system (1)
SELECT c.id FROM shop.customers c TABLESAMPLE system (1)
SELECT c.id FROM shop.customers c TABLESAMPLE bernoulli (0.5)
SELECT c.id FROM shop.customers c TABLESAMPLE system (1) REPEATABLE (0.5)
SELECT 1 FROM (SELECT 1 FROM shop.customers c) s
SELECT 1 FROM shop.customers c, LATERAL (SELECT 1) s(a)
SELECT 1 FROM shop.customers c LEFT JOIN LATERAL (SELECT c.id WHERE true) s ON true
SELECT 1 FROM (SELECT 1 FROM (SELECT 1 FROM (TABLE shop.orders) a) b) s
SELECT 1 FROM (shop.customers c JOIN shop.orders o ON true) AS j
SELECT 1 FROM shop.customers c JOIN shop.orders o ON o.customer_id = 1
SELECT 1 FROM (SELECT 1 AS id FROM shop.customers c) a JOIN shop.orders o USING (id)
SELECT 1 FROM shop.orders o JOIN (SELECT 1 AS id FROM shop.customers c) a USING (id) AS j
SELECT 1 FROM shop.orders o NATURAL JOIN (SELECT 1 AS id FROM shop.customers c) a
SELECT 1 FROM shop.customers c LEFT JOIN (shop.orders o FULL JOIN shop.products p ON true) ON true
SELECT 1 FROM shop.customers c RIGHT JOIN shop.orders o ON true
SELECT 1 FROM generate_series(1, 2)
SELECT 1 FROM generate_series(1, 2) AS f
SELECT 1 FROM generate_series(1, 2) WITH ORDINALITY AS f(a, n)
SELECT 1 FROM shop.orders o, LATERAL generate_series(1, 2) AS f
SELECT 1 FROM shop.orders o LEFT JOIN generate_series(1, 2) AS f ON true
SELECT 1 FROM ROWS FROM (generate_series(1, 2))
SELECT 1 FROM ROWS FROM (generate_series(1, 2), generate_series(1, 2)) WITH ORDINALITY AS f
SELECT 1 FROM ROWS FROM (json_to_record('{}') AS (a int), generate_series(1, 2)) AS f
SELECT 1 FROM shop.customers c, generate_series(1, 1) g
SELECT 1 FROM shop.customers c, LATERAL ROWS FROM (generate_series(1, 1), unnest(ARRAY[1])) AS f
SELECT 1 FROM json_to_record('{}') AS f(a int, b text)
SELECT 1 FROM json_to_recordset('[]') AS f(a numeric(3), b text)
SELECT 1 FROM shop.customers c, json_to_record('{}'::json) AS f(a int)
SELECT 1 FROM shop.customers c, XMLTABLE('/a' PASSING ('<a/>'::xml) COLUMNS a text)
SELECT 1 FROM shop.customers c, XMLTABLE('x' PASSING '<a/>' COLUMNS a text)
SELECT 1 FROM shop.customers c, LATERAL XMLTABLE(XMLNAMESPACES('x' AS n), '/a' PASSING BY REF '<a/>' COLUMNS a text)
SELECT 1 FROM shop.customers c, XMLTABLE('/a' PASSING '<a/>' COLUMNS a text PATH 'x' DEFAULT 'x', o FOR ORDINALITY)
SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS a int PATH '.')
SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS a numeric(3) NOT NULL)
SELECT 1 FROM shop.orders AS t FOR UPDATE
SELECT 1 FROM current_date AS d, shop.customers c WHERE true
SELECT 1 FROM coalesce(1, 2) AS f(a)
SELECT 1 FROM CAST(1 AS text) AS f
SELECT generate_series(1, 2)
SELECT abs(1) FROM shop.customers c
SELECT pg_catalog.concat(VARIADIC ARRAY['x']) FROM shop.customers c
SELECT make_interval(days => 1) FROM shop.customers c
SELECT make_interval(days := 1) FROM shop.customers c
SELECT count(DISTINCT 1) FROM shop.customers c
SELECT string_agg(c.name, 'x' ORDER BY 'x') FROM shop.customers c
SELECT string_agg(c.name, ',' ORDER BY c.id USING <) FROM shop.customers c
SELECT count(*) FILTER (WHERE true) FROM shop.customers c
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY 0.5) FROM shop.customers c
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY c.id) FROM shop.customers c GROUP BY c.id
SELECT count(*) OVER (PARTITION BY 'x') FROM shop.customers c
SELECT count(*) OVER (ORDER BY 'x' RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM shop.customers c
SELECT count(*) OVER (ORDER BY c.id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM shop.customers c
SELECT count(*) OVER (ORDER BY c.id GROUPS 1 PRECEDING EXCLUDE TIES) FROM shop.customers c
SELECT count(*) FILTER (WHERE true) OVER w FROM shop.customers c WINDOW w AS (PARTITION BY 'x' ORDER BY 'x')
SELECT count(*) OVER (w ROWS 1 PRECEDING) FROM shop.customers c WINDOW w AS (ORDER BY c.id), v AS (w RANGE UNBOUNDED PRECEDING)
SELECT count(*) OVER v FROM shop.customers c WINDOW w AS (PARTITION BY c.id), v AS (w ORDER BY 'x')
SELECT lag(1, 1, 1) OVER (ORDER BY c.id) FROM shop.customers c
SELECT grouping(c.id, c.name) + 1 FROM shop.customers c GROUP BY c.id, c.name
SELECT grouping(c.id) FROM shop.customers c GROUP BY c.id
SELECT 1 + 1 FROM shop.customers c
SELECT - 1 FROM shop.customers c
SELECT c.id < 1 FROM shop.customers c
SELECT 1 OPERATOR(pg_catalog.=) 1 FROM shop.customers c
SELECT c.id = ANY (ARRAY[1]) FROM shop.customers c
SELECT 1 < ALL ('{1}'::int[]) FROM shop.customers c
SELECT 1 IS DISTINCT FROM 1 FROM shop.customers c
SELECT 1 IS NOT DISTINCT FROM 1 FROM shop.customers c
SELECT nullif(1, 1) FROM shop.customers c
SELECT 1 IN (1, 1) FROM shop.customers c
SELECT c.id NOT IN (1) FROM shop.customers c
SELECT 'x' LIKE 'x' FROM shop.customers c
SELECT c.name NOT LIKE 'a' ESCAPE 'x' FROM shop.customers c
SELECT 'x' ILIKE 'x' FROM shop.customers c
SELECT 'x' SIMILAR TO 'x' ESCAPE 'x' FROM shop.customers c
SELECT 1 BETWEEN 1 AND 1 FROM shop.customers c
SELECT 1 NOT BETWEEN 1 AND 2 FROM shop.customers c
SELECT 1 BETWEEN SYMMETRIC 2 AND 1 FROM shop.customers c
SELECT 1 NOT BETWEEN SYMMETRIC 1 AND 2 FROM shop.customers c
SELECT NOT true FROM shop.customers c
SELECT true AND true FROM shop.customers c
SELECT true OR true FROM shop.customers c
SELECT c.id = 1 OR (c.id = 2 AND true) FROM shop.customers c
SELECT 1 IS NULL FROM shop.customers c
SELECT 1 NOTNULL FROM shop.customers c
SELECT true IS TRUE FROM shop.customers c
SELECT true IS NOT UNKNOWN FROM shop.customers c
SELECT now() AT TIME ZONE 'x' FROM shop.customers c
SELECT (now(), now()) OVERLAPS (now(), now()) FROM shop.customers c
SELECT 'x' IS NFC NORMALIZED FROM shop.customers c
SELECT (c.id, 1) = (1, 2) FROM shop.customers c
SELECT ROW(1, c.id) < ROW(1, 1) FROM shop.customers c
SELECT ROW(1) IS NULL FROM shop.customers c
SELECT (SELECT 1) FROM shop.customers c
SELECT EXISTS (SELECT FROM shop.orders o WHERE o.id = 1) FROM shop.customers c
SELECT 1 IN (SELECT o.id FROM shop.orders o) FROM shop.customers c
SELECT c.id NOT IN (SELECT 1 FROM shop.orders o) FROM shop.customers c
SELECT c.id < ANY (SELECT o.id FROM shop.orders o) FROM shop.customers c
SELECT 1 < ALL (SELECT o.id FROM shop.orders o) FROM shop.customers c
SELECT (c.id, 1) = ANY (SELECT o.id, o.id FROM shop.orders o) FROM shop.customers c
SELECT (c.id, 1) = (SELECT 1, 1) FROM shop.customers c
SELECT ARRAY(SELECT 1) FROM shop.customers c
SELECT (SELECT t.id FROM shop.orders AS t LIMIT 1)
SELECT EXISTS (TABLE shop.orders)
SELECT EXISTS (SELECT FROM (TABLE shop.orders) s)
SELECT CASE WHEN true THEN 1 ELSE 1 END FROM shop.customers c
SELECT CASE 1 WHEN 1 THEN 1 WHEN 2 THEN 1 END FROM shop.customers c
SELECT coalesce(1, 1) FROM shop.customers c
SELECT greatest(1, 2) FROM shop.customers c
SELECT least(1, 1) FROM shop.customers c
SELECT ARRAY[1, 2] FROM shop.customers c
SELECT ARRAY[[1], [1]] FROM shop.customers c
SELECT ('{1}'::int[])[1] FROM shop.customers c
SELECT ('{1}'::int[])[1:1] FROM shop.customers c
SELECT (ARRAY[1])[1] FROM shop.customers c
SELECT c.tags[1] FROM shop.customers c
SELECT c.tags[:1] FROM shop.customers c
SELECT ('{}'::json::jsonb)['x'] FROM shop.customers c
SELECT CAST(1 AS bigint) FROM shop.customers c
SELECT 1::bigint::text FROM shop.customers c
SELECT '1'::int FROM shop.customers c
SELECT CAST('1' AS int) FROM shop.customers c
SELECT '{1}'::int[]
SELECT int '1'
SELECT '1'::numeric(3, 0)
SELECT 'x' COLLATE "C" FROM shop.customers c
SELECT c.name COLLATE "C" < 'x' FROM shop.customers c
SELECT extract(year FROM now()) FROM shop.customers c
SELECT position('x' IN 'x') FROM shop.customers c
SELECT substring('x' FROM 1 FOR 1) FROM shop.customers c
SELECT substring('x' SIMILAR 'x' ESCAPE 'x') FROM shop.customers c
SELECT overlay('x' PLACING 'x' FROM 1) FROM shop.customers c
SELECT trim(BOTH 'x' FROM 'x') FROM shop.customers c
SELECT normalize('x', NFC) FROM shop.customers c
SELECT collation for ('x') FROM shop.customers c
SELECT XMLELEMENT(NAME a, XMLATTRIBUTES('x' AS b), 'x') FROM shop.customers c
SELECT XMLFOREST('x' AS a, c.id) FROM shop.customers c
SELECT XMLCONCAT(('<a/>'::xml), ('<a/>'::xml)) FROM shop.customers c
SELECT XMLPARSE(CONTENT 'x' STRIP WHITESPACE) FROM shop.customers c
SELECT XMLPI(NAME a, 'x') FROM shop.customers c
SELECT XMLROOT(('<a/>'::xml), VERSION 'x', STANDALONE YES) FROM shop.customers c
SELECT XMLSERIALIZE(DOCUMENT ('<a/>'::xml) AS text) FROM shop.customers c
SELECT XMLSERIALIZE(CONTENT '<a/>' AS text) FROM shop.customers c
SELECT XMLEXISTS('x' PASSING BY VALUE ('<a/>'::xml)) FROM shop.customers c
SELECT ('<a/>'::xml) IS DOCUMENT FROM shop.customers c
SELECT xmlagg(('<a/>'::xml) ORDER BY 1) FROM shop.customers c
INSERT INTO shop.orders AS t DEFAULT VALUES
INSERT INTO shop.orders (customer_id) VALUES (1)
INSERT INTO shop.orders (customer_id, notes) VALUES (1, 'x'), (2, DEFAULT)
INSERT INTO shop.orders (customer_id) SELECT 1 FROM shop.customers c
INSERT INTO shop.orders (customer_id) SELECT c.id FROM shop.customers c WHERE true
INSERT INTO shop.orders OVERRIDING USER VALUE TABLE shop.orders
INSERT INTO shop.orders (meta['x']) VALUES ('1')
INSERT INTO shop.orders (customer_id) WITH w AS (SELECT 1) TABLE w
WITH w AS (SELECT 1 AS a FROM shop.customers c) INSERT INTO shop.orders (customer_id) SELECT a FROM w
INSERT INTO shop.orders (customer_id) VALUES (1) RETURNING 'x'
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET notes = 'x'
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET (notes, currency) = ('x', DEFAULT)
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET (notes, currency) = (SELECT 'x', 'x' FROM shop.customers c)
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET meta['x'] = '1'
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET notes = 'x' WHERE true
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (abs(1)) DO NOTHING
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT ((o.id + 1)) DO NOTHING
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) WHERE true DO NOTHING
INSERT INTO shop.orders (customer_id) VALUES (1) ON CONFLICT DO NOTHING RETURNING 'x'
UPDATE shop.orders AS t SET id = 1 WHERE id = 1
UPDATE ONLY shop.orders SET id = 1 WHERE id = 1
UPDATE shop.orders SET notes = 'x' WHERE id = 1
UPDATE shop.orders o SET notes = 'x' WHERE o.id = 1
UPDATE shop.orders o SET notes = 'x' WHERE o.id = 1 AND true
UPDATE shop.orders o SET notes = 'x' FROM shop.customers c WHERE o.id = 1 AND o.customer_id = 1
UPDATE shop.orders o SET notes = 'x' FROM shop.orders AS t WHERE o.id = 1
UPDATE shop.orders o SET notes = 'x' FROM (SELECT 1 AS a FROM shop.customers c) s WHERE o.id = 1
UPDATE shop.orders o SET (notes, total) = ('x', 1) WHERE o.id = 1
UPDATE shop.orders o SET (notes, total) = (SELECT 'x', 1 FROM shop.customers c) WHERE o.id = 1
UPDATE shop.orders o SET (notes) = ROW('x') WHERE o.id = 1
UPDATE shop.orders o SET meta['x'] = '1' WHERE o.id = 1
UPDATE shop.orders o SET notes = c.name FROM shop.customers c WHERE o.id = 1 RETURNING 'x'
WITH w AS (SELECT 1 AS a FROM shop.customers c) UPDATE shop.orders o SET total = a FROM w WHERE o.id = 1
DELETE FROM shop.orders AS t WHERE id = 1
DELETE FROM ONLY shop.orders WHERE id = 1
DELETE FROM shop.orders o WHERE o.id = 1
DELETE FROM shop.orders o WHERE true AND o.id = 1
DELETE FROM shop.orders o USING shop.customers c WHERE o.id = 1
DELETE FROM shop.orders o USING shop.orders AS t WHERE o.id = 1
DELETE FROM shop.orders o USING shop.customers c JOIN shop.products p ON true WHERE o.id = 1
DELETE FROM shop.orders o USING shop.customers c WHERE o.id = 1 RETURNING 'x'
WITH w AS (SELECT 1 AS a FROM shop.customers c) DELETE FROM shop.orders o USING w WHERE o.id = 1
MERGE INTO shop.orders AS t USING shop.orders s ON t.id = s.id WHEN MATCHED THEN DO NOTHING
MERGE INTO shop.orders t USING shop.orders AS s ON t.id = 1 WHEN MATCHED THEN DELETE
MERGE INTO shop.orders t USING (SELECT 1 AS id FROM shop.customers c) s ON t.id = s.id WHEN MATCHED THEN DELETE
MERGE INTO shop.orders t USING shop.customers c ON t.id = 1 WHEN MATCHED THEN DELETE
MERGE INTO shop.orders t USING shop.customers c ON true WHEN MATCHED THEN DELETE
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN MATCHED AND true THEN DELETE
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN MATCHED AND true THEN UPDATE SET notes = 'x'
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN MATCHED THEN UPDATE SET (notes, total) = ('x', 1)
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN MATCHED THEN UPDATE SET meta['x'] = '1'
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN NOT MATCHED AND true THEN INSERT (customer_id, notes) VALUES (1, 'x')
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN NOT MATCHED THEN INSERT (meta['x']) VALUES ('1')
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN NOT MATCHED AND true THEN DO NOTHING
WITH w AS (SELECT 1 AS a FROM shop.customers c) MERGE INTO shop.orders t USING w ON t.id = w.a WHEN MATCHED THEN DELETE
