# Configures and builds a consumer project: SOURCE, BINARY, PREFIX (of the installed package),
# ARGUMENTS (a list).
execute_process(
    COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BINARY} -G Ninja -DCMAKE_BUILD_TYPE=Debug
            -DCMAKE_PREFIX_PATH=${PREFIX} ${ARGUMENTS}
    COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BINARY} -j 2 COMMAND_ERROR_IS_FATAL ANY)
