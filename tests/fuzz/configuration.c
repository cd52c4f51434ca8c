/* configuration.c - bytes as a configuration file: no crash, and a refusal always says something. */
#include "proxy/base/invariant.h"
#include "proxy/config/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buffer problems;
    buffer_init(&problems, 1024 * 1024);
    struct configuration *configuration = configuration_parse(
        TEXT("fuzz.yaml"), (struct text){(const char *)data, size}, &problems);
    INVARIANT(configuration != NULL || problems.size > 0);
    configuration_release(configuration);
    buffer_release(&problems);
    return 0;
}
