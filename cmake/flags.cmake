# What every target of ours is compiled with. Optimisation and -Werror
# (CMAKE_COMPILE_WARNING_AS_ERROR) are the presets' business, so that a
# packager's newer compiler or own flags do not break the build.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion)
# Per-function sections let the linker drop what the header-only libraries bring
# and nobody calls: a smaller file is fewer page faults at every start.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(-Wl,--gc-sections)

if(TIDEMARK_SANITIZE)
  add_compile_options(
    -fsanitize=${TIDEMARK_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TIDEMARK_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC documents that the sanitizers' own code makes these two guess wrong.
    add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow)
    if(TIDEMARK_SANITIZE MATCHES thread)
      # Asio's fences, which the sanitizer does not see; its locks it does.
      add_compile_options(-Wno-tsan)
    endif()
  endif()
endif()
