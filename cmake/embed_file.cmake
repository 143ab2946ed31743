# Turns a file into a C source with its bytes. INPUT, OUTPUT, NAME.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
file(WRITE ${OUTPUT} "#include \"tool/report/files.h\"
static const unsigned char bytes[] = {
${bytes}};
const wfi_report_file wfi_report_${NAME} = {bytes, sizeof bytes};
")
