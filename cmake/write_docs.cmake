# cmake -D TIDEMARK=binary -D SHARE=dir [-D EMULATOR=program] -P write_docs.cmake
#
# Lets the binary print its man pages and completions, which come from the same
# table as its parser, into SHARE/man/man1 and SHARE/completions.
cmake_minimum_required(VERSION 3.25)

function(ask out_variable)
  execute_process(
    COMMAND ${EMULATOR} ${TIDEMARK} ${ARGN}
    OUTPUT_VARIABLE output
    COMMAND_ERROR_IS_FATAL ANY)
  set(${out_variable} "${output}" PARENT_SCOPE)
endfunction()

# Straight to the file: a CMake variable would trip over `[` and `;`.
function(write_page file)
  execute_process(
    COMMAND ${EMULATOR} ${TIDEMARK} ${ARGN}
    OUTPUT_FILE ${file}
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# A page of a command that no longer exists must not be installed.
file(REMOVE_RECURSE ${SHARE})
file(MAKE_DIRECTORY ${SHARE}/man/man1 ${SHARE}/completions)

ask(pages manual --list)
string(STRIP "${pages}" pages)
string(REPLACE "\n" ";" pages "${pages}")
foreach(page IN LISTS pages)
  write_page(${SHARE}/man/man1/${page}.1 manual ${page})
endforeach()
# Its options are those of this one.
file(CREATE_LINK tidemark-trace.1 ${SHARE}/man/man1/memstrack.1 SYMBOLIC)
write_page(${SHARE}/completions/tidemark.bash completion bash)
write_page(${SHARE}/completions/_tidemark completion zsh)
write_page(${SHARE}/completions/tidemark.fish completion fish)
file(TOUCH ${SHARE}/stamp)
