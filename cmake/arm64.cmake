# Toolchain of Debian's crossbuild-essential-arm64, for the tarball of arm64.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
# Man pages and completions are written by the binary itself.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)
# Never a library of this machine; programs that build are of this one.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
