/*
 * log.h - the operational log: one line an event on standard error, with time and level.
 *
 * Not the audit log. No statement text, no values, no secrets.
 */
#ifndef PGWICKET_BASE_LOG_H
#define PGWICKET_BASE_LOG_H

#include "proxy/base/attributes.h"

void log_info(const char *format, ...) PRINTF_LIKE(1, 2);
void log_warning(const char *format, ...) PRINTF_LIKE(1, 2);
void log_error(const char *format, ...) PRINTF_LIKE(1, 2);

#endif
