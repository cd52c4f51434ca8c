-- What analytics/wicket.yaml is about: three schemas, and the role that pgwicket logs in with.
CREATE SCHEMA sales;
CREATE SCHEMA web;
CREATE SCHEMA crm;
CREATE SCHEMA payroll;
CREATE TABLE sales.orders (id bigint PRIMARY KEY, person_id bigint NOT NULL, day date NOT NULL, amount numeric(12,2) NOT NULL, country char(2));
CREATE TABLE sales.targets (country char(2), month date, amount numeric(14,2), PRIMARY KEY (country, month));
CREATE TABLE web.visits (id bigint NOT NULL, person_id bigint, at timestamptz NOT NULL, page text NOT NULL, ip_address inet, user_agent text)
    PARTITION BY RANGE (at);
CREATE TABLE web.visits_2026 PARTITION OF web.visits FOR VALUES FROM ('2026-01-01') TO ('2027-01-01');
CREATE TABLE crm.people (id bigint PRIMARY KEY, name text, email text, phone text, birth_date date, segment text, joined date NOT NULL);
CREATE VIEW crm.segments AS SELECT id AS person_id, segment, joined FROM crm.people;
CREATE TABLE payroll.salaries (employee text PRIMARY KEY, salary int NOT NULL);

INSERT INTO crm.people VALUES (1, 'Ada Rossi', 'ada@example.com', '+351 1', '1984-02-01', 'smb', '2025-11-03'),
                              (2, 'Bo Tanaka', 'bo@example.org', '+31 2', '1991-09-12', 'consumer', '2026-03-18');
INSERT INTO sales.orders SELECT i, 1 + i % 2, date '2026-01-01' + i, 10 + i % 90, 'PT' FROM generate_series(1, 300) i;
INSERT INTO web.visits SELECT i, 1 + i % 2, timestamptz '2026-01-01' + i * interval '1 hour', '/p' || i % 7, '192.0.2.1', 'x'
    FROM generate_series(1, 300) i;

CREATE ROLE wicket_analytics LOGIN; -- give it a password: \password wicket_analytics
GRANT USAGE ON SCHEMA sales, web, crm TO wicket_analytics;
GRANT SELECT ON ALL TABLES IN SCHEMA sales, web TO wicket_analytics;
GRANT SELECT (id, segment, joined) ON crm.people TO wicket_analytics;
GRANT SELECT ON crm.segments TO wicket_analytics;
ALTER ROLE wicket_analytics SET default_transaction_read_only = on;
ANALYZE;
