# tidemark_find_library(VARIABLE NAME): the library NAME, as an archive unless
# TIDEMARK_SHARED says otherwise.
#
# Archives by default: shared ones would be loaded at every start, also by
# commands that use none of them, and the binary could not be copied to another
# machine. Distributions want the shared ones, which they mend without us.
function(tidemark_find_library variable name)
  if(TIDEMARK_SHARED)
    find_library(${variable} NAMES ${name})
  else()
    find_library(${variable} NAMES lib${name}.a)
  endif()
endfunction()
