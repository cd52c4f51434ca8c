-- What tenant/wicket.yaml is about: tables of all tenants, and the role that pgwicket logs in with.
CREATE SCHEMA saas;
CREATE TABLE saas.projects (
    id bigint PRIMARY KEY, tenant text NOT NULL DEFAULT current_setting('app.tenant'), name text NOT NULL, archived boolean NOT NULL DEFAULT false);
CREATE TABLE saas.tasks (
    id bigint PRIMARY KEY, tenant text NOT NULL DEFAULT current_setting('app.tenant'), project bigint NOT NULL REFERENCES saas.projects,
    title text NOT NULL, state text NOT NULL DEFAULT 'open', due date);
CREATE TABLE saas.plans (name text PRIMARY KEY, projects int NOT NULL); -- of all tenants alike
CREATE TABLE saas.tenants (tenant text PRIMARY KEY, name text NOT NULL, billing_email text);
CREATE VIEW saas.open_tasks WITH (security_invoker) AS SELECT id, project, title, due FROM saas.tasks WHERE state = 'open';

ALTER TABLE saas.projects ENABLE ROW LEVEL SECURITY;
ALTER TABLE saas.tasks ENABLE ROW LEVEL SECURITY;
CREATE POLICY own_tenant ON saas.projects USING (tenant = current_setting('app.tenant'));
CREATE POLICY own_tenant ON saas.tasks USING (tenant = current_setting('app.tenant'));

INSERT INTO saas.plans VALUES ('small', 5);
INSERT INTO saas.projects VALUES (1, '17', 'Roof'), (2, '18', 'Cellar');
INSERT INTO saas.tasks VALUES (1, '17', 1, 'Measure'), (2, '18', 2, 'Dig');

CREATE ROLE wicket_tenant LOGIN; -- give it a password: \password wicket_tenant
GRANT USAGE ON SCHEMA saas TO wicket_tenant;
GRANT SELECT, INSERT, UPDATE ON saas.projects TO wicket_tenant;
GRANT SELECT, INSERT, UPDATE, DELETE ON saas.tasks TO wicket_tenant;
GRANT SELECT ON saas.plans, saas.open_tasks TO wicket_tenant;
ANALYZE;
