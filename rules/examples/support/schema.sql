-- What support/wicket.yaml is about: the tables of a help desk, and the role that pgwicket logs in with.
CREATE SCHEMA desk;
CREATE TABLE desk.customers (
    id int PRIMARY KEY, name text NOT NULL, email text NOT NULL UNIQUE, city text, born date, card_token text);
CREATE TABLE desk.orders (
    id int PRIMARY KEY, customer_id int NOT NULL REFERENCES desk.customers, placed timestamptz NOT NULL DEFAULT now(),
    status text NOT NULL DEFAULT 'paid', total numeric(10,2) NOT NULL, refund_reason text, refunded_by text);
CREATE TABLE desk.order_items (
    order_id int NOT NULL REFERENCES desk.orders, line int, product text NOT NULL, qty int NOT NULL,
    PRIMARY KEY (order_id, line));
CREATE TABLE desk.tickets (
    id int PRIMARY KEY, customer_id int NOT NULL REFERENCES desk.customers, order_id int REFERENCES desk.orders,
    opened timestamptz NOT NULL DEFAULT now(), status text NOT NULL DEFAULT 'open', question text NOT NULL, answer text);
CREATE TABLE desk.staff (id int PRIMARY KEY, login text NOT NULL, password_hash text NOT NULL);

INSERT INTO desk.customers VALUES (1, 'Ada Rossi', 'ada@example.com', 'Porto', '1984-02-01', 'tok_1'),
                                  (2, 'Bo Tanaka', 'bo@example.org', 'Utrecht', '1991-09-12', 'tok_2');
INSERT INTO desk.orders (id, customer_id, total) VALUES (41, 1, 19.90), (42, 1, 35.00), (43, 2, 820.00);
INSERT INTO desk.order_items VALUES (41, 1, 'lamp', 1), (42, 1, 'kettle', 1), (43, 1, 'desk', 2);
INSERT INTO desk.tickets (id, customer_id, order_id, question)
    VALUES (7, 1, 42, 'The kettle leaks'), (8, 2, 43, 'Where is my desk?');

CREATE ROLE wicket_support LOGIN; -- give it a password: \password wicket_support
GRANT USAGE ON SCHEMA desk TO wicket_support;
GRANT SELECT (id, name, email, city) ON desk.customers TO wicket_support;
GRANT SELECT ON desk.orders, desk.order_items, desk.tickets TO wicket_support;
GRANT UPDATE (status, answer) ON desk.tickets TO wicket_support;
GRANT UPDATE (status, refund_reason, refunded_by) ON desk.orders TO wicket_support; -- for the templates
