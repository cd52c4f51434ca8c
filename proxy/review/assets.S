/* The files of page/, as bytes. See assets.h. */
#define ASSET(symbol, file)          \
        .global symbol ;             \
        .hidden symbol ;             \
        .global symbol##_end ;       \
        .hidden symbol##_end ;       \
symbol: .incbin file ;               \
symbol##_end: .byte 0 ;

        .section .rodata
ASSET(asset_wicket_css, "wicket.css")
ASSET(asset_wicket_js, "wicket.js")
ASSET(asset_icon_svg, "icon.svg")

        .section .note.GNU-stack,"",%progbits
