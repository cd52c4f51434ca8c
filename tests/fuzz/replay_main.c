/* replay_main.c - runs a fuzz target over the files of a folder; fails when there is none. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return 0;
    static uint8_t bytes[4 * 1024 * 1024];
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* A copy of exact size, so that a sanitizer sees a read beyond the end. */
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (exact == NULL)
        return 0;
    for (size_t i = 0; i < size; i++)
        exact[i] = bytes[i];
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 1;
}

int main(int argc, char **argv)
{
    DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
    if (folder == NULL) {
        fprintf(stderr, "usage: %s CORPUS\n", argv[0]);
        return 2;
    }
    int files = 0;
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            files += replay(argv[1], entry->d_name);
    closedir(folder);
    printf("%d inputs replayed\n", files);
    return files > 0 ? 0 : 1;
}
