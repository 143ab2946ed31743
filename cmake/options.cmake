# Compiler flags shared by the project's own targets: wavefit_compile_options(TARGET).
function(wavefit_compile_options target)
    set_target_properties(${target} PROPERTIES
        C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
        C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
    target_compile_definitions(${target} PRIVATE _POSIX_C_SOURCE=200809L)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wpedantic -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
        $<$<BOOL:${WAVEFIT_WERROR}>:-Werror>)
    if(WAVEFIT_SANITIZE)
        target_compile_options(${target} PRIVATE
            -fsanitize=${WAVEFIT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
        target_link_options(${target} PUBLIC -fsanitize=${WAVEFIT_SANITIZE})
    endif()
endfunction()
