/* notify.h - the section `notify`: who is told of what. Internal to config/. */
#ifndef PGWICKET_CONFIG_NOTIFY_H
#define PGWICKET_CONFIG_NOTIFY_H

#include "proxy/config/fields.h"

struct notify_section {
    struct notify_receiver *receivers;
    size_t count;
    struct place place;
};

field_function field_notify; /* struct notify_section */

#endif
