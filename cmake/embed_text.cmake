# Turns text files into one C source: FILES (a list), OUTPUT. Each is an array of bytes, since
# compilers bound the length of string literals.
set(arrays "")
set(rows "")
set(index 0)
foreach(file IN LISTS FILES)
    get_filename_component(name ${file} NAME)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "((0x..,){20})" "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const char text_${index}[] = {\n${bytes}0};\n")
    string(APPEND rows "    {\"${name}\", text_${index}, sizeof text_${index} - 1},\n")
    math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${OUTPUT} "#include \"choose/store.h\"
${arrays}
const wfi_rows_file wfi_rows_files[] = {
${rows}    {\"\", \"\", 0}};
const size_t wfi_rows_file_count = ${index};
")
