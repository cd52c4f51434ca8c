-- One object of each kind that psql, drivers and ORMs ask the catalogs about, beside those of shop.sql.
-- What must stay closed to an agent contains the word "secret".
CREATE TYPE shop.mood AS ENUM ('sad', 'fine', 'glad');
CREATE TYPE shop.pair AS (a int, b text);
CREATE DOMAIN shop.percent AS int CHECK (VALUE BETWEEN 0 AND 100);
CREATE TYPE shop.span AS RANGE (subtype = float8);
CREATE TABLE shop.days (
    id int GENERATED ALWAYS AS IDENTITY, day date NOT NULL, feeling shop.mood, share shop.percent,
    both_sides shop.pair, twice int GENERATED ALWAYS AS (1 + 1) STORED, moods shop.mood[],
    PRIMARY KEY (id, day)) PARTITION BY RANGE (day);
CREATE TABLE shop.days_2024 PARTITION OF shop.days FOR VALUES FROM ('2024-01-01') TO ('2025-01-01');
CREATE TABLE shop.base (n int);
CREATE TABLE shop.derived (m int) INHERITS (shop.base);
CREATE MATERIALIZED VIEW shop.totals AS SELECT count(*) AS n FROM shop.orders;
CREATE STATISTICS shop.orders_together ON customer_id, status FROM shop.orders;
CREATE INDEX orders_unpaid ON shop.orders (status) WHERE status <> 'paid';
CREATE TABLE shop.tenants (id int PRIMARY KEY, tenant text NOT NULL, note text UNIQUE);
ALTER TABLE shop.tenants ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON shop.tenants USING (tenant = current_setting('app.tenant', true));
CREATE TABLE shop.ruled (id int);
CREATE RULE nothing AS ON DELETE TO shop.ruled DO INSTEAD NOTHING;
CREATE FUNCTION shop.tell() RETURNS text LANGUAGE sql AS $$SELECT 'secret body'$$;
COMMENT ON TABLE shop.orders IS 'what was ordered';
COMMENT ON COLUMN shop.orders.status IS 'where it is';
CREATE PUBLICATION news FOR TABLE shop.orders;
CREATE EXTENSION postgres_fdw;
CREATE SERVER elsewhere FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host 'secret-host');
CREATE USER MAPPING FOR agent SERVER elsewhere OPTIONS (user 'secret-user', password 'secret-password');
CREATE FOREIGN TABLE shop.remote (id int OPTIONS (column_name 'secret_column')) SERVER elsewhere
    OPTIONS (table_name 'secret_table');
GRANT SELECT ON ALL TABLES IN SCHEMA shop TO agent;
