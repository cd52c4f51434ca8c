/* The reviewed tables of one PostgreSQL major, as bytes. See ../builtins.h. */
#define STRING_(x) #x
#define STRING(x) STRING_(x)
#define FILE(name) STRING(name-PGWICKET_PG_MAJOR.tsv)
#define TABLE(symbol, file)          \
        .global symbol ;             \
        .hidden symbol ;             \
        .global symbol##_end ;       \
        .hidden symbol##_end ;       \
symbol: .incbin file ;               \
symbol##_end: .byte 0 ;

        .section .rodata
TABLE(builtin_functions_tsv, FILE(functions))
TABLE(builtin_settings_tsv, FILE(settings))
TABLE(builtin_catalog_tsv, FILE(catalog))
TABLE(builtin_libraries_tsv, FILE(libraries))

        .section .note.GNU-stack,"",%progbits
