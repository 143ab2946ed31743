# Turns a SPIR-V file into a C source with its 32-bit words. INPUT, OUTPUT, NAME.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${hex}")
string(REGEX REPLACE "((0x........,){8})" "\\1\n" words "${words}")
file(WRITE ${OUTPUT} "#include \"core/spirv.h\"
extern const wfi_spirv wfi_spv_${NAME};
static const uint32_t words[] = {
${words}
};
const wfi_spirv wfi_spv_${NAME} = {words, sizeof words, \"${NAME}\"};
")
