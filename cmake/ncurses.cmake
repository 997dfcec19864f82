# ncurses for view/tui, as the target tidemark_ncurses.
find_path(TIDEMARK_NCURSES_INCLUDE curses.h)
tidemark_find_library(TIDEMARK_NCURSES ncursesw)
tidemark_find_library(TIDEMARK_TINFO tinfo)
if(NOT TIDEMARK_NCURSES OR NOT TIDEMARK_TINFO OR NOT TIDEMARK_NCURSES_INCLUDE)
  message(FATAL_ERROR "The terminal interface needs the package libncurses-dev.")
endif()
add_library(tidemark_ncurses INTERFACE)
target_include_directories(
  tidemark_ncurses SYSTEM INTERFACE ${TIDEMARK_NCURSES_INCLUDE})
target_link_libraries(
  tidemark_ncurses INTERFACE ${TIDEMARK_NCURSES} ${TIDEMARK_TINFO})
