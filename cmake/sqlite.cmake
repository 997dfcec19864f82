# SQLite for store/, as the target tidemark_sqlite.
find_path(TIDEMARK_SQLITE_INCLUDE sqlite3.h)
tidemark_find_library(TIDEMARK_SQLITE sqlite3)
if(NOT TIDEMARK_SQLITE OR NOT TIDEMARK_SQLITE_INCLUDE)
  message(FATAL_ERROR "Recordings need the package libsqlite3-dev.")
endif()
find_package(Threads REQUIRED)
add_library(tidemark_sqlite INTERFACE)
target_include_directories(
  tidemark_sqlite SYSTEM INTERFACE ${TIDEMARK_SQLITE_INCLUDE})
target_link_libraries(
  tidemark_sqlite INTERFACE ${TIDEMARK_SQLITE} m ${CMAKE_DL_LIBS}
                            Threads::Threads)
