-- What standby/wicket.yaml is about. Run it on the primary; the standby follows.
CREATE SCHEMA reports;
CREATE TABLE reports.sales (id bigint PRIMARY KEY, day date NOT NULL, shop text NOT NULL, amount numeric(12,2) NOT NULL);
CREATE TABLE reports.shops (shop text PRIMARY KEY, region text NOT NULL, manager text);
CREATE VIEW reports.by_region AS
    SELECT s.region, f.day, sum(f.amount) AS amount FROM reports.sales f JOIN reports.shops s USING (shop) GROUP BY 1, 2;
INSERT INTO reports.shops VALUES ('A', 'north', 'Ada'), ('B', 'south', 'Bo');
INSERT INTO reports.sales SELECT i, date '2026-01-01' + i % 300, chr(65 + i % 2), i FROM generate_series(1, 500) i;

CREATE ROLE wicket_standby LOGIN; -- give it a password: \password wicket_standby
GRANT USAGE ON SCHEMA reports TO wicket_standby;
GRANT SELECT ON reports.sales, reports.shops, reports.by_region TO wicket_standby;
ANALYZE;
