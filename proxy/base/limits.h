/* limits.h - every limit on what others can make pgwicket keep or do, with its reason. */
#ifndef PGWICKET_BASE_LIMITS_H
#define PGWICKET_BASE_LIMITS_H

enum {
    /* Longest statement text that is judged. Beyond it nobody reads what they approve, and the
     * parser's time (0.1 s) would be felt by other sessions. */
    LIMIT_STATEMENT_BYTES = 1024 * 1024,

    /* A Query or Parse message that is received as a whole: a statement at its limit, its name and
     * 65535 parameter types. A longer one is swallowed as it comes and answered with an error. */
    LIMIT_STATEMENT_MESSAGE_BYTES = 2 * 1024 * 1024,

    /* Depth of the walk through a statement's tree. A C stack frame of the walk is below 512 bytes.
     */
    LIMIT_STATEMENT_DEPTH = 500,

    /* Columns of a table, as in PostgreSQL (MaxHeapAttributeNumber). */
    LIMIT_TABLE_COLUMNS = 1600,

    /* Expressions of one CREATE or ALTER TABLE times its columns: each is resolved against all. */
    LIMIT_TABLE_EXPRESSION_COLUMNS = 200000,

    /* Entries of a target list, as in PostgreSQL (MaxTupleAttributeNumber). */
    LIMIT_TARGET_COLUMNS = 1664,

    /* Memory that judging one message may take, its tree aside. Joins of joins have as many columns
     * as all that is in them. */
    LIMIT_ANALYSIS_BYTES = 256 * 1024 * 1024,

    /* Comparisons of names that judging one statement may take, about a second: a megabyte of column
     * names against a FROM clause of hundreds of entries. */
    LIMIT_NAME_COMPARISONS = 20 * 1000 * 1000,

    /* Statements in one simple Query. */
    LIMIT_STATEMENTS_PER_QUERY = 1000,

    /* The canonical print of one message: spaces between tokens double the densest text, escapes of
     * invisible characters can make six bytes of one. */
    LIMIT_PRINT_BYTES = 4 * LIMIT_STATEMENT_BYTES,

    /* Startup packet, as in PostgreSQL (MAX_STARTUP_PACKET_LENGTH). */
    LIMIT_STARTUP_BYTES = 10000,

    /* A password or SASL message before authentication; PostgreSQL allows 65535. */
    LIMIT_AUTH_MESSAGE_BYTES = 16384,

    /* Iterations in a SCRAM verifier: a login by HTTP computes as many. */
    LIMIT_SCRAM_ITERATIONS = 1000 * 1000,

    /* Bind: its values are kept until the statement has been judged and run. */
    LIMIT_BIND_BYTES = 64 * 1024 * 1024,

    /* Messages that carry only names. */
    LIMIT_SMALL_MESSAGE_BYTES = 10000,

    /* One message from the server that pgwicket must read as a whole (everything but DataRow and
     * CopyData, which stream). An EXPLAIN of a monster is the longest of them. */
    LIMIT_BACKEND_MESSAGE_BYTES = 16 * 1024 * 1024,

    /* Bytes waiting to be written to a peer before reading from the other one stops. */
    LIMIT_OUTPUT_HIGH_WATER = 256 * 1024,

    /* The reply of a limited write, kept until its number is known. */
    LIMIT_KEPT_REPLY_BYTES = 8 * 1024 * 1024,

    /* One row that pgwicket itself reads: of a kept reply, or all of an EXPLAIN. A longer one is
     * dropped as it comes. */
    LIMIT_KEPT_ROW_BYTES = LIMIT_KEPT_REPLY_BYTES,

    /* Named portals and cursors of one session, each of which may keep its Bind. */
    LIMIT_PORTALS = 1024,

    /* Names of temporary tables that functions have left in one session: each is a candidate for what a
     * name means. More than a session of sane functions has. */
    LIMIT_TEMPORARY_RELATIONS = 1000,

    /* Roles and paths that a client itself goes through in one transaction with code in between; it may be back
     * at each. More than it has tenants. */
    LIMIT_PIN_ROWS = 64,

    /* Messages of one batch without Sync that are not answered yet. */
    LIMIT_OUTSTANDING_REQUESTS = 100000,

    /* A held statement together with its values: what a person can read. */
    LIMIT_HELD_BYTES = 64 * 1024,

    /* A statement text in an audit record. */
    LIMIT_AUDIT_TEXT_BYTES = 8 * 1024,

    /* A line of the audit file: a raw statement and every text at its limit, each byte written as
     * six ("\\u0000"). */
    LIMIT_AUDIT_RECORD_BYTES = 8 * 1024 * 1024,

    /* The effect that is stored and shown: twenty rows, each of whose values is cut at 1 kB, and every
     * table that a statement reaches. */
    LIMIT_EFFECT_BYTES = 2 * 1024 * 1024,

    /* Objects that one statement makes, changes or drops and that are shown: more is no longer read, and
     * each is compared with all others. */
    LIMIT_CHANGED_OBJECTS = 2000,

    /* Tables whose rows are counted because foreign keys lead there: each is looked up twice at every such
     * write, at a microsecond or so, and found among the others when the write is judged. */
    LIMIT_COUNTED_TABLES = 1000,

    /* Notices of a rehearsal that are shown. */
    LIMIT_REHEARSAL_NOTICES = 20,

    /* Tables that are looked through to see whether all of them are open, at each error: agents can
     * cause many, and each table costs microseconds. */
    LIMIT_OPEN_RELATIONS = 1000,

    /* Sub-selects that tell which rows a held statement's cascades reach, for each of its rows: a schema
     * with more ways to follow is bound by counts. */
    LIMIT_CASCADES_FOLLOWED = 32,

    /* Rows of a held statement of which a digest (32 bytes) is kept until they are compared. */
    LIMIT_MEASURED_ROWS = 1000 * 1000,

    /* Rows of a held statement that are known by their keys, so that it can be told which came or went, and the bytes
     * of such a key: more is nothing for a person. */
    LIMIT_NAMED_ROWS = 200,
    LIMIT_ROW_NAME_BYTES = 100,

    /* One packed list of a stored hold (types, values, settings): what LIMIT_HELD_BYTES can become
     * in words, with room for names and lengths. */
    LIMIT_HOLD_LIST_BYTES = 1024 * 1024,

    /* Holds in one answer of the store. */
    LIMIT_HOLDS_PER_LIST = 200,

    /* Pending holds in one answer, as numbers: the default is 20 for each agent, and nobody decides
     * thousands. */
    LIMIT_QUEUED_HOLDS = 5000,

    /* Messages that wait for one receiver: a day of what people can decide. And the longest of them:
     * some names, each byte written as six. */
    LIMIT_OUTBOX_MESSAGES = 10000,
    LIMIT_OUTBOX_BODY_BYTES = 8 * 1024,

    /* Why a hold was refused: goes into an error message. */
    LIMIT_REASON_BYTES = 1000,

    /* The fresh transaction's preamble that is repeated before a hold runs. */
    LIMIT_PREAMBLE_STATEMENTS = 64,
    LIMIT_PREAMBLE_BYTES = 16 * 1024,

    /* Settings of one session that a hold is bound to, beside those that it always is: an application sets a few. */
    LIMIT_SETTINGS_FOLLOWED = 32,

    /* Of a transaction in which holds run: names of savepoints that are nested in each other, and holds. More than
     * any driver or person nests; they are kept for each session. */
    LIMIT_SAVEPOINTS_FOLLOWED = 64,
    LIMIT_HOLDS_PER_TRANSACTION = 16,

    /* HTTP of the review listener. */
    LIMIT_HTTP_HEADER_BYTES = 8 * 1024,
    LIMIT_HTTP_BODY_BYTES = 64 * 1024,

    /* Its sockets: a few people with a browser, monitoring, and some room. More wait in the kernel.
     */
    LIMIT_HTTP_CONNECTIONS = 256,

    /* One answer: a hundred ordinary holds, or one hold with everything at its limit. */
    LIMIT_HTTP_ANSWER_BYTES = 8 * 1024 * 1024,

    /* Series of metrics that one thread counts: agents times verdicts times verbs, and rules, of a large
     * configuration. */
    LIMIT_METRIC_SERIES = 20000,

    /* Failed logins of approvers in one minute, from one address and from all together. */
    LIMIT_LOGIN_FAILURES_PER_SOURCE = 10,
    LIMIT_LOGIN_FAILURES = 100,

    /* Browsers that are signed in, and pages that are told of changes, each of which keeps a
     * connection: a few for each person. */
    LIMIT_BROWSER_SESSIONS = 200,
    LIMIT_EVENT_STREAMS = 64,

    /* Configuration file: its size, the depth and number of its values, and how many of its
     * problems are listed. A secret's own file holds one line. */
    LIMIT_CONFIGURATION_BYTES = 4 * 1024 * 1024,
    LIMIT_CONFIGURATION_DEPTH = 16,
    LIMIT_CONFIGURATION_NODES = 200000,
    LIMIT_CONFIGURATION_LIST = 10000,
    LIMIT_CONFIGURATION_RULES = 1000,
    LIMIT_CONFIGURATION_SETTINGS = 200,
    LIMIT_CONFIGURATION_PROBLEMS = 100,
    LIMIT_SECRET_FILE_BYTES = 8 * 1024,

    /* Receivers of notifications, each of which has its outbox, and the length of a URL: of theirs, and
     * of review.url, which every message links to. */
    LIMIT_RECEIVERS = 20,
    LIMIT_URL_BYTES = 1000,

    /* Transfers to one receiver at a time, so that a slow one holds up nobody else's; what it may say
     * beside its status, which is not read; and messages that wait in memory because the store cannot
     * be written: each tells of a change of the service itself, and there are few. */
    LIMIT_RECEIVER_TRANSFERS = 4,
    LIMIT_RECEIVER_ANSWER_BYTES = 64 * 1024,
    LIMIT_NOTIFICATIONS_IN_MEMORY = 200,

    /* Templates of a file, each of which is prepared at start, and the parameters of one: a person
     * reads them, and a model gets them as a tool. */
    LIMIT_TEMPLATES = 1000,
    LIMIT_TEMPLATE_PARAMETERS = 100,

    /* A template's `pattern`: its text, the depth of its groups, its states once repetitions are
     * written out. A character costs a look at each state, so the texts have a limit, too: together
     * some 10 million looks, a twentieth of a second. */
    LIMIT_TEMPLATE_PATTERN_BYTES = 1000,
    LIMIT_TEMPLATE_PATTERN_DEPTH = 50,
    LIMIT_TEMPLATE_PATTERN_STATES = 1000,
    LIMIT_TEMPLATE_PATTERN_LENGTH = 10000,

    /* Items of an array that is given to a template, each of which is checked, and the choices of an
     * `enum`, with each of which a value is compared. */
    LIMIT_TEMPLATE_ITEMS = 10000,
    LIMIT_TEMPLATE_CHOICES = 1000,

    /* Levels of a JSON value that a template takes: the stack of its reader, and below what the
     * server's own reader takes. */
    LIMIT_TEMPLATE_JSON_DEPTH = 100,

    /* The JSON Schema of one template: a file's worth of choices, each byte written as six. */
    LIMIT_TEMPLATE_SCHEMA_BYTES = 8 * LIMIT_CONFIGURATION_BYTES,

    /* EXPLAIN output that is kept with a hold. */
    LIMIT_PLAN_BYTES = 64 * 1024,

    /* Sockets that have not authenticated yet; more are refused with 53300. */
    LIMIT_UNAUTHENTICATED_SOCKETS = 1000,

    /* Settings that an upstream reports by ParameterStatus: PostgreSQL 18 has 16, extensions add
       some. */
    LIMIT_REPORTED_PARAMETERS = 100,

    /* Cancel requests under way, a thread each: more are waiting only where a server hangs. */
    LIMIT_CANCELS = 64,

    /* Rows of one catalog query (columns are the most: 100,000 tables of 40). Some 100 bytes each.
     */
    LIMIT_CATALOG_ROWS = 4 * 1000 * 1000,

    /* The source of one function that is searched for what it names; what is longer counts as unclear. */
    LIMIT_BODY_BYTES = 1024 * 1024,
};

#endif
