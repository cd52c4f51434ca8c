/* attributes.h - compiler attributes used in every layer. */
#ifndef PGWICKET_BASE_ATTRIBUTES_H
#define PGWICKET_BASE_ATTRIBUTES_H

#define MUST_USE          __attribute__((warn_unused_result))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#endif
