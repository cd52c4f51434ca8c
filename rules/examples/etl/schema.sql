-- What etl/wicket.yaml is about: where files land, where they end, and the role that pgwicket logs in with.
CREATE SCHEMA staging;
CREATE SCHEMA mart;
CREATE TABLE staging.products (sku text, name text, price text);
CREATE TABLE staging.sales (sale_id text, sku text, day text, qty text, raw jsonb);
CREATE TABLE staging.rejected (at timestamptz NOT NULL DEFAULT now(), source text NOT NULL, line text NOT NULL, reason text NOT NULL);
CREATE TABLE mart.products (sku text PRIMARY KEY, name text NOT NULL, price numeric(10,2) NOT NULL, changed timestamptz NOT NULL DEFAULT now());
CREATE TABLE mart.sales (sale_id bigint PRIMARY KEY, sku text NOT NULL REFERENCES mart.products, day date NOT NULL, qty int NOT NULL);
CREATE TABLE mart.loads (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, source text NOT NULL, rows bigint NOT NULL, at timestamptz NOT NULL DEFAULT now());

INSERT INTO staging.products VALUES ('A-1', 'Lamp', '19.90'), ('A-2', 'Desk', '249.00'), ('', 'broken', 'x');
INSERT INTO staging.sales VALUES ('1', 'A-1', '2026-11-29', '2', '{}'), ('2', 'A-2', '2026-11-29', '1', '{}');
INSERT INTO mart.products VALUES ('A-1', 'Lamp', 18.00);

CREATE ROLE wicket_etl LOGIN; -- give it a password: \password wicket_etl
GRANT USAGE ON SCHEMA staging, mart TO wicket_etl;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE ON ALL TABLES IN SCHEMA staging TO wicket_etl;
GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA mart TO wicket_etl;
GRANT UPDATE, DELETE ON mart.products, mart.sales TO wicket_etl;
ANALYZE;
