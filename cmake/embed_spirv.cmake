# Turns a SPIR-V file into a C source with its 32-bit words. INPUT, OUTPUT, NAME. BFLOAT16: the
# module's 16-bit float type becomes bfloat16 (SPV_KHR_bfloat16), which GLSL compilers and
# validators did not know before 2025; the module must have no 16-bit arithmetic outside cooperative
# matrices.
file(READ ${INPUT} hex HEX)
string(REGEX REPLACE "(..)(..)(..)(..)" "0x\\4\\3\\2\\1," words "${hex}")
if(BFLOAT16)
    # OpTypeFloat 16 gets the encoding BFloat16KHR, OpCapability Float16 makes way for
    # BFloat16TypeKHR and BFloat16CooperativeMatrixKHR, and OpExtension "SPV_KHR_bfloat16" goes
    # before that of the cooperative matrices.
    set(type "0x00030016,(0x........,)0x00000010,")
    set(capability "0x00020011,0x00000009,")
    set(extension "(0x0008000a,0x5f565053,0x5f52484b,0x706f6f63,)")
    foreach(pattern IN ITEMS type capability extension)
        string(REGEX MATCHALL "${${pattern}}" found "${words}")
        list(LENGTH found count)
        if(NOT count EQUAL 1)
            message(FATAL_ERROR "${INPUT}: ${count} instructions for its 16-bit ${pattern}, not 1")
        endif()
    endforeach()
    string(REGEX REPLACE "${type}" "0x00040016,\\10x00000010,0x00000000," words "${words}")
    string(REPLACE "${capability}" "0x00020011,0x000013fc,0x00020011,0x000013fe," words "${words}")
    string(REGEX REPLACE "${extension}"
           "0x0006000a,0x5f565053,0x5f52484b,0x6f6c6662,0x36317461,0x00000000,\\1" words "${words}")
endif()
string(REGEX REPLACE "((0x........,){8})" "\\1\n" words "${words}")
file(WRITE ${OUTPUT} "#include \"core/spirv.h\"
extern const wfi_spirv wfi_spv_${NAME};
static const uint32_t words[] = {
${words}
};
const wfi_spirv wfi_spv_${NAME} = {words, sizeof words, \"${NAME}\"};
")
