-- One statement a line, with holes «kind»: every place of the five queries where something can be
-- written that is judged. tests/live/slots.py says what goes into the holes, and proves from the
-- grammar's own tree which field of which node each hole is.

-- SELECT: its clauses
SELECT «int» FROM shop.customers c
SELECT «int» AS a, c.id b FROM shop.customers c
SELECT DISTINCT «int» FROM shop.customers c
SELECT DISTINCT ON («int», c.id) c.id FROM shop.customers c
SELECT ALL c.id FROM shop.customers c WHERE «bool»
SELECT c.id FROM shop.customers c WHERE c.id = «int»
SELECT count(*) FROM shop.customers c GROUP BY «name»
SELECT count(*) FROM shop.customers c GROUP BY c.id, («name»)
SELECT count(*) FROM shop.customers c GROUP BY (c.id, «name»)
SELECT count(*) FROM shop.customers c GROUP BY DISTINCT ROLLUP («name», c.id)
SELECT count(*) FROM shop.customers c GROUP BY CUBE (c.id, («name», c.name))
SELECT count(*) FROM shop.customers c GROUP BY GROUPING SETS ((c.id), («name»), ())
SELECT count(*) FROM shop.customers c GROUP BY GROUPING SETS (ROLLUP (c.id, «name»), CUBE (c.city))
SELECT count(*) FROM shop.customers c HAVING «bool»
SELECT c.id FROM shop.customers c GROUP BY c.id HAVING «bool»
SELECT c.id FROM shop.customers c ORDER BY «name»
SELECT c.id FROM shop.customers c ORDER BY c.id DESC, «name» ASC NULLS LAST
SELECT c.id FROM shop.customers c ORDER BY «int» USING <
SELECT c.id FROM shop.customers c ORDER BY c.id USING «op»
SELECT c.id FROM shop.customers c LIMIT «int»
SELECT c.id FROM shop.customers c OFFSET «int»
SELECT c.id FROM shop.customers c ORDER BY c.id FETCH FIRST («int») ROWS WITH TIES
SELECT c.id FROM shop.customers c OFFSET («int») ROWS FETCH NEXT («int») ROWS ONLY
SELECT c.id FROM shop.customers c WHERE «bool» FOR KEY SHARE OF c SKIP LOCKED
VALUES («int», 1), (2, «int»)
VALUES (1), (2) ORDER BY «int» LIMIT «int» OFFSET «int»
TABLE «table»
TABLE shop.orders ORDER BY «int»
SELECT * FROM (VALUES («int»), (2)) v(a)
SELECT c.id FROM shop.customers c, LATERAL (VALUES («int»)) v(a)

-- SELECT: set operations
SELECT «int» FROM shop.customers c UNION SELECT 1
SELECT 1 UNION ALL SELECT «int» FROM shop.customers c
SELECT 1 INTERSECT (SELECT 2 EXCEPT SELECT «int» FROM shop.customers c)
(SELECT 1 EXCEPT ALL SELECT 2) UNION SELECT c.id FROM shop.customers c WHERE «bool» ORDER BY 1
(SELECT c.id FROM shop.customers c ORDER BY «int» LIMIT «int») UNION SELECT 1
SELECT 1 AS a UNION SELECT 2 LIMIT «int» OFFSET «int»
SELECT 1 UNION SELECT t.id FROM «table» AS t
SELECT 1 UNION (VALUES («int»))

-- SELECT: WITH
WITH w AS (SELECT «int» AS a FROM shop.customers c) SELECT a FROM w
WITH w(a) AS MATERIALIZED (SELECT c.id FROM shop.customers c WHERE «bool») SELECT a FROM w
WITH w AS NOT MATERIALIZED (VALUES («int»)) SELECT 1
WITH v AS (SELECT 1 AS a), w AS (SELECT «int» AS b FROM v, shop.customers c) SELECT 1
WITH w AS (SELECT c.id FROM shop.customers c WHERE EXISTS (WITH v AS (SELECT «int») SELECT FROM v)) SELECT 1
WITH RECURSIVE w(a) AS (SELECT «int» FROM shop.customers c UNION ALL SELECT a + 1 FROM w WHERE a < 3) SELECT a FROM w
WITH RECURSIVE w(a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM w, shop.customers c WHERE «bool») SELECT a FROM w
WITH RECURSIVE w(a) AS (SELECT 1 UNION SELECT a + 1 FROM w) SEARCH DEPTH FIRST BY a SET seq SELECT «int» FROM w, shop.customers c
WITH RECURSIVE w(a) AS (SELECT «int» UNION SELECT a + 1 FROM w) SEARCH BREADTH FIRST BY a SET seq SELECT a FROM w
WITH RECURSIVE w(a) AS (SELECT 1 UNION SELECT a + 1 FROM w) CYCLE a SET m TO «type» '1' DEFAULT «type» '0' USING p SELECT a FROM w
WITH RECURSIVE w(a) AS (SELECT «int» UNION SELECT a + 1 FROM w) CYCLE a SET m USING p SELECT a FROM w
WITH RECURSIVE a AS (SELECT 1 FROM b), b AS (SELECT «int») SELECT 1
WITH w AS (TABLE «table») SELECT 1
WITH w AS (SELECT 1 FROM (WITH v AS (TABLE «table») SELECT 1) s) SELECT 1
WITH w AS (INSERT INTO shop.orders (customer_id) VALUES («int») RETURNING id) SELECT id FROM w
WITH w AS (UPDATE shop.orders SET notes = «text» WHERE id = 1 RETURNING id) SELECT id FROM w
WITH w AS (DELETE FROM shop.orders WHERE id = «int» RETURNING «text» AS a) SELECT a FROM w

-- FROM
SELECT 1 FROM «table»
SELECT 1 FROM ONLY «table» AS t
SELECT 1 FROM shop.orders o, «table» AS t
SELECT 1 FROM shop.orders o CROSS JOIN «table» AS t
SELECT 1 FROM «table» AS t TABLESAMPLE system (1)
SELECT c.id FROM shop.customers c TABLESAMPLE «sampler» (1)
SELECT c.id FROM shop.customers c TABLESAMPLE bernoulli («float8»)
SELECT c.id FROM shop.customers c TABLESAMPLE system (1) REPEATABLE («float8»)
SELECT 1 FROM (SELECT «int» FROM shop.customers c) s
SELECT 1 FROM shop.customers c, LATERAL (SELECT «int») s(a)
SELECT 1 FROM shop.customers c LEFT JOIN LATERAL (SELECT c.id WHERE «bool») s ON true
SELECT 1 FROM (SELECT 1 FROM (SELECT 1 FROM (TABLE «table») a) b) s
SELECT 1 FROM (shop.customers c JOIN shop.orders o ON «bool») AS j
SELECT 1 FROM shop.customers c JOIN shop.orders o ON o.customer_id = «int»
SELECT 1 FROM (SELECT «int» AS id FROM shop.customers c) a JOIN shop.orders o USING (id)
SELECT 1 FROM shop.orders o JOIN (SELECT «int» AS id FROM shop.customers c) a USING (id) AS j
SELECT 1 FROM shop.orders o NATURAL JOIN (SELECT «int» AS id FROM shop.customers c) a
SELECT 1 FROM shop.customers c LEFT JOIN (shop.orders o FULL JOIN shop.products p ON «bool») ON «bool»
SELECT 1 FROM shop.customers c RIGHT JOIN shop.orders o ON «bool»
SELECT 1 FROM «call»
SELECT 1 FROM «call» AS f
SELECT 1 FROM «call» WITH ORDINALITY AS f(a, n)
SELECT 1 FROM shop.orders o, LATERAL «call» AS f
SELECT 1 FROM shop.orders o LEFT JOIN «call» AS f ON true
SELECT 1 FROM ROWS FROM («call»)
SELECT 1 FROM ROWS FROM (generate_series(1, 2), «call») WITH ORDINALITY AS f
SELECT 1 FROM ROWS FROM (json_to_record('{}') AS (a «type»), «call») AS f
SELECT 1 FROM shop.customers c, generate_series(1, «int») g
SELECT 1 FROM shop.customers c, LATERAL ROWS FROM (generate_series(1, «int»), unnest(ARRAY[«int»])) AS f
SELECT 1 FROM json_to_record('{}') AS f(a «type», b text)
SELECT 1 FROM json_to_recordset('[]') AS f(a numeric(«mod»), b text)
SELECT 1 FROM shop.customers c, json_to_record(«json») AS f(a int)
SELECT 1 FROM shop.customers c, XMLTABLE('/a' PASSING «xml» COLUMNS a text)
SELECT 1 FROM shop.customers c, XMLTABLE(«text» PASSING '<a/>' COLUMNS a text)
SELECT 1 FROM shop.customers c, LATERAL XMLTABLE(XMLNAMESPACES(«text» AS n), '/a' PASSING BY REF '<a/>' COLUMNS a text)
SELECT 1 FROM shop.customers c, XMLTABLE('/a' PASSING '<a/>' COLUMNS a text PATH «text» DEFAULT «text», o FOR ORDINALITY)
SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS a «type» PATH '.')
SELECT 1 FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS a numeric(«mod») NOT NULL)
SELECT 1 FROM «table» AS t FOR UPDATE
SELECT 1 FROM current_date AS d, shop.customers c WHERE «bool»
SELECT 1 FROM coalesce(«int», 2) AS f(a)
SELECT 1 FROM CAST(«int» AS text) AS f

-- Functions, aggregates, windows
SELECT «call»
SELECT abs(«int») FROM shop.customers c
SELECT pg_catalog.concat(VARIADIC ARRAY[«text»]) FROM shop.customers c
SELECT make_interval(days => «int») FROM shop.customers c
SELECT make_interval(days := «int») FROM shop.customers c
SELECT count(DISTINCT «int») FROM shop.customers c
SELECT string_agg(c.name, «text» ORDER BY «text») FROM shop.customers c
SELECT string_agg(c.name, ',' ORDER BY c.id USING «op») FROM shop.customers c
SELECT count(*) FILTER (WHERE «bool») FROM shop.customers c
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY «float8») FROM shop.customers c
SELECT percentile_cont(«float8») WITHIN GROUP (ORDER BY c.id) FROM shop.customers c GROUP BY c.id
SELECT count(*) OVER (PARTITION BY «text») FROM shop.customers c
SELECT count(*) OVER (ORDER BY «text» RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM shop.customers c
SELECT count(*) OVER (ORDER BY c.id ROWS BETWEEN «int» PRECEDING AND «int» FOLLOWING) FROM shop.customers c
SELECT count(*) OVER (ORDER BY c.id GROUPS «int» PRECEDING EXCLUDE TIES) FROM shop.customers c
SELECT count(*) FILTER (WHERE «bool») OVER w FROM shop.customers c WINDOW w AS (PARTITION BY «text» ORDER BY «text»)
SELECT count(*) OVER (w ROWS «int» PRECEDING) FROM shop.customers c WINDOW w AS (ORDER BY c.id), v AS (w RANGE UNBOUNDED PRECEDING)
SELECT count(*) OVER v FROM shop.customers c WINDOW w AS (PARTITION BY c.id), v AS (w ORDER BY «text»)
SELECT lag(«int», «int», «int») OVER (ORDER BY c.id) FROM shop.customers c
SELECT grouping(c.id, c.name) + «int» FROM shop.customers c GROUP BY c.id, c.name
SELECT grouping(«name») FROM shop.customers c GROUP BY «name»

-- Operators
SELECT «int» + «int» FROM shop.customers c
SELECT - «int» FROM shop.customers c
SELECT c.id «op» 1 FROM shop.customers c
SELECT «int» OPERATOR(pg_catalog.=) 1 FROM shop.customers c
SELECT c.id = ANY (ARRAY[«int»]) FROM shop.customers c
SELECT «int» «op» ALL ('{1}'::int[]) FROM shop.customers c
SELECT «int» IS DISTINCT FROM «int» FROM shop.customers c
SELECT «int» IS NOT DISTINCT FROM 1 FROM shop.customers c
SELECT nullif(«int», «int») FROM shop.customers c
SELECT «int» IN (1, «int») FROM shop.customers c
SELECT c.id NOT IN («int») FROM shop.customers c
SELECT «text» LIKE «text» FROM shop.customers c
SELECT c.name NOT LIKE 'a' ESCAPE «text» FROM shop.customers c
SELECT «text» ILIKE «text» FROM shop.customers c
SELECT «text» SIMILAR TO «text» ESCAPE «text» FROM shop.customers c
SELECT «int» BETWEEN «int» AND «int» FROM shop.customers c
SELECT 1 NOT BETWEEN «int» AND 2 FROM shop.customers c
SELECT «int» BETWEEN SYMMETRIC 2 AND «int» FROM shop.customers c
SELECT 1 NOT BETWEEN SYMMETRIC «int» AND 2 FROM shop.customers c
SELECT NOT «bool» FROM shop.customers c
SELECT «bool» AND «bool» FROM shop.customers c
SELECT «bool» OR true FROM shop.customers c
SELECT c.id = 1 OR (c.id = 2 AND «bool») FROM shop.customers c
SELECT «int» IS NULL FROM shop.customers c
SELECT «int» NOTNULL FROM shop.customers c
SELECT «bool» IS TRUE FROM shop.customers c
SELECT «bool» IS NOT UNKNOWN FROM shop.customers c
SELECT now() AT TIME ZONE «text» FROM shop.customers c
SELECT (now(), now()) OVERLAPS (now(), «date») FROM shop.customers c
SELECT «text» IS NFC NORMALIZED FROM shop.customers c
SELECT (c.id, «int») = (1, 2) FROM shop.customers c
SELECT ROW(«int», c.id) < ROW(1, «int») FROM shop.customers c
SELECT ROW(«int») IS NULL FROM shop.customers c

-- Sub-selects in expressions
SELECT (SELECT «int») FROM shop.customers c
SELECT EXISTS (SELECT FROM shop.orders o WHERE o.id = «int») FROM shop.customers c
SELECT «int» IN (SELECT o.id FROM shop.orders o) FROM shop.customers c
SELECT c.id NOT IN (SELECT «int» FROM shop.orders o) FROM shop.customers c
SELECT c.id «op» ANY (SELECT o.id FROM shop.orders o) FROM shop.customers c
SELECT «int» < ALL (SELECT o.id FROM shop.orders o) FROM shop.customers c
SELECT (c.id, «int») = ANY (SELECT o.id, o.id FROM shop.orders o) FROM shop.customers c
SELECT (c.id, «int») = (SELECT 1, «int») FROM shop.customers c
SELECT ARRAY(SELECT «int») FROM shop.customers c
SELECT (SELECT t.id FROM «table» AS t LIMIT 1)
SELECT EXISTS (TABLE «table»)
SELECT EXISTS (SELECT FROM (TABLE «table») s)

-- Other expressions
SELECT CASE WHEN «bool» THEN «int» ELSE «int» END FROM shop.customers c
SELECT CASE «int» WHEN «int» THEN 1 WHEN 2 THEN «int» END FROM shop.customers c
SELECT coalesce(«int», «int») FROM shop.customers c
SELECT greatest(«int», 2) FROM shop.customers c
SELECT least(1, «int») FROM shop.customers c
SELECT ARRAY[«int», 2] FROM shop.customers c
SELECT ARRAY[[1], [«int»]] FROM shop.customers c
SELECT ('{1}'::int[])[«int»] FROM shop.customers c
SELECT ('{1}'::int[])[«int»:«int»] FROM shop.customers c
SELECT (ARRAY[«int»])[1] FROM shop.customers c
SELECT c.tags[«int»] FROM shop.customers c
SELECT c.tags[:«int»] FROM shop.customers c
SELECT («json»::jsonb)[«text»] FROM shop.customers c
SELECT CAST(«int» AS bigint) FROM shop.customers c
SELECT «int»::bigint::text FROM shop.customers c
SELECT '1'::«type» FROM shop.customers c
SELECT CAST('1' AS «type») FROM shop.customers c
SELECT '{1}'::«type»[]
SELECT «type» '1'
SELECT '1'::numeric(«mod», 0)
SELECT «text» COLLATE "C" FROM shop.customers c
SELECT c.name COLLATE "C" < «text» FROM shop.customers c
SELECT extract(year FROM «date») FROM shop.customers c
SELECT position(«text» IN «text») FROM shop.customers c
SELECT substring(«text» FROM «int» FOR «int») FROM shop.customers c
SELECT substring(«text» SIMILAR «text» ESCAPE «text») FROM shop.customers c
SELECT overlay(«text» PLACING «text» FROM «int») FROM shop.customers c
SELECT trim(BOTH «text» FROM «text») FROM shop.customers c
SELECT normalize(«text», NFC) FROM shop.customers c
SELECT collation for («text») FROM shop.customers c
SELECT XMLELEMENT(NAME a, XMLATTRIBUTES(«text» AS b), «text») FROM shop.customers c
SELECT XMLFOREST(«text» AS a, c.id) FROM shop.customers c
SELECT XMLCONCAT(«xml», «xml») FROM shop.customers c
SELECT XMLPARSE(CONTENT «text» STRIP WHITESPACE) FROM shop.customers c
SELECT XMLPI(NAME a, «text») FROM shop.customers c
SELECT XMLROOT(«xml», VERSION «text», STANDALONE YES) FROM shop.customers c
SELECT XMLSERIALIZE(DOCUMENT «xml» AS text) FROM shop.customers c
SELECT XMLSERIALIZE(CONTENT '<a/>' AS «chars») FROM shop.customers c
SELECT XMLEXISTS(«text» PASSING BY VALUE «xml») FROM shop.customers c
SELECT «xml» IS DOCUMENT FROM shop.customers c
SELECT xmlagg(«xml» ORDER BY «int») FROM shop.customers c

-- INSERT
INSERT INTO «table» AS t DEFAULT VALUES
INSERT INTO shop.orders (customer_id) VALUES («int»)
INSERT INTO shop.orders (customer_id, notes) VALUES (1, «text»), (2, DEFAULT)
INSERT INTO shop.orders (customer_id) SELECT «int» FROM shop.customers c
INSERT INTO shop.orders (customer_id) SELECT c.id FROM shop.customers c WHERE «bool»
INSERT INTO shop.orders OVERRIDING USER VALUE TABLE «table»
INSERT INTO shop.orders (meta[«text»]) VALUES ('1')
INSERT INTO shop.orders (customer_id) WITH w AS (SELECT «int») TABLE w
WITH w AS (SELECT «int» AS a FROM shop.customers c) INSERT INTO shop.orders (customer_id) SELECT a FROM w
INSERT INTO shop.orders (customer_id) VALUES (1) RETURNING «text»
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET notes = «text»
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET (notes, currency) = («text», DEFAULT)
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET (notes, currency) = (SELECT «text», 'x' FROM shop.customers c)
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET meta[«text»] = '1'
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) DO UPDATE SET notes = 'x' WHERE «bool»
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (abs(«int»)) DO NOTHING
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT ((o.id + «int»)) DO NOTHING
INSERT INTO shop.orders AS o (id, customer_id) VALUES (1, 1) ON CONFLICT (id) WHERE «bool» DO NOTHING
INSERT INTO shop.orders (customer_id) VALUES (1) ON CONFLICT DO NOTHING RETURNING «text»

-- UPDATE
UPDATE «table» AS t SET id = 1 WHERE id = 1
UPDATE ONLY «table» SET id = 1 WHERE id = 1
UPDATE shop.orders SET notes = «text» WHERE id = 1
UPDATE shop.orders o SET notes = 'x' WHERE o.id = «int»
UPDATE shop.orders o SET notes = 'x' WHERE o.id = 1 AND «bool»
UPDATE shop.orders o SET notes = 'x' FROM shop.customers c WHERE o.id = 1 AND o.customer_id = «int»
UPDATE shop.orders o SET notes = 'x' FROM «table» AS t WHERE o.id = 1
UPDATE shop.orders o SET notes = 'x' FROM (SELECT «int» AS a FROM shop.customers c) s WHERE o.id = 1
UPDATE shop.orders o SET (notes, total) = («text», 1) WHERE o.id = 1
UPDATE shop.orders o SET (notes, total) = (SELECT «text», 1 FROM shop.customers c) WHERE o.id = 1
UPDATE shop.orders o SET (notes) = ROW(«text») WHERE o.id = 1
UPDATE shop.orders o SET meta[«text»] = '1' WHERE o.id = 1
UPDATE shop.orders o SET notes = c.name FROM shop.customers c WHERE o.id = 1 RETURNING «text»
WITH w AS (SELECT «int» AS a FROM shop.customers c) UPDATE shop.orders o SET total = a FROM w WHERE o.id = 1

-- DELETE
DELETE FROM «table» AS t WHERE id = 1
DELETE FROM ONLY «table» WHERE id = 1
DELETE FROM shop.orders o WHERE o.id = «int»
DELETE FROM shop.orders o WHERE «bool» AND o.id = 1
DELETE FROM shop.orders o USING shop.customers c WHERE o.id = «int»
DELETE FROM shop.orders o USING «table» AS t WHERE o.id = 1
DELETE FROM shop.orders o USING shop.customers c JOIN shop.products p ON «bool» WHERE o.id = 1
DELETE FROM shop.orders o USING shop.customers c WHERE o.id = 1 RETURNING «text»
WITH w AS (SELECT «int» AS a FROM shop.customers c) DELETE FROM shop.orders o USING w WHERE o.id = 1

-- MERGE
MERGE INTO «table» AS t USING shop.orders s ON t.id = s.id WHEN MATCHED THEN DO NOTHING
MERGE INTO shop.orders t USING «table» AS s ON t.id = 1 WHEN MATCHED THEN DELETE
MERGE INTO shop.orders t USING (SELECT «int» AS id FROM shop.customers c) s ON t.id = s.id WHEN MATCHED THEN DELETE
MERGE INTO shop.orders t USING shop.customers c ON t.id = «int» WHEN MATCHED THEN DELETE
MERGE INTO shop.orders t USING shop.customers c ON «bool» WHEN MATCHED THEN DELETE
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN MATCHED AND «bool» THEN DELETE
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN MATCHED AND «bool» THEN UPDATE SET notes = «text»
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN MATCHED THEN UPDATE SET (notes, total) = («text», 1)
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN MATCHED THEN UPDATE SET meta[«text»] = '1'
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN NOT MATCHED AND «bool» THEN INSERT (customer_id, notes) VALUES (1, «text»)
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN NOT MATCHED THEN INSERT (meta[«text»]) VALUES ('1')
MERGE INTO shop.orders t USING shop.customers c ON t.id = c.id WHEN NOT MATCHED AND «bool» THEN DO NOTHING
WITH w AS (SELECT «int» AS a FROM shop.customers c) MERGE INTO shop.orders t USING w ON t.id = w.a WHEN MATCHED THEN DELETE
