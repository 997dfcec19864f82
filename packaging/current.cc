// current STAMP PROGRAM BUILDER ROOT NAME [ARGUMENT...]: becomes PROGRAM,
// called NAME, when no source below ROOT is newer than STAMP, and BUILDER
// otherwise.
//
// What ./tidemark asks first, at every start: bash took 10 ms to look at as
// many files. Without a library that has to be loaded this is one of a few
// hundred microseconds. Folders count too: their time moves when a file in them
// is added, renamed or deleted.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

// What the program is made of.
constexpr const char* kSources[] = {
    "src",
    "bpf",
    "cmake",
    "share",
    "packaging/current.cc",
    "CMakeLists.txt",
    "CMakePresets.json",
    "packaging/build-packages.txt",
};

bool is_newer(const timespec& one, const timespec& other) {
  return one.tv_sec != other.tv_sec ? one.tv_sec > other.tv_sec
                                    : one.tv_nsec > other.tv_nsec;
}

// What cannot be looked at is taken for new: building says what is wrong.
bool has_newer(int folder, const char* name, const timespec& stamp) {
  struct stat status;
  if (::fstatat(folder, name, &status, 0) != 0) return true;
  if (is_newer(status.st_mtim, stamp)) return true;
  if (!S_ISDIR(status.st_mode)) return false;
  DIR* inside =
      ::fdopendir(::openat(folder, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (inside == nullptr) return true;
  bool found = false;
  while (!found) {
    const dirent* entry = ::readdir(inside);
    if (entry == nullptr) break;
    if (entry->d_name[0] == '.') continue;
    found = has_newer(::dirfd(inside), entry->d_name, stamp);
  }
  ::closedir(inside);
  return found;
}

bool is_current(const char* stamp_path, const char* program, int root) {
  struct stat stamp;
  if (::stat(stamp_path, &stamp) != 0) return false;
  if (::access(program, X_OK) != 0) return false;
  for (const char* source : kSources) {
    if (has_newer(root, source, stamp.st_mtim)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  constexpr int kName = 5;
  if (argc <= kName) return 2;
  const char* program = argv[2];
  const int root = ::open(argv[4], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root >= 0 && is_current(argv[1], program, root)) {
    // Called by another name the program answers to that.
    const char* slash = std::strrchr(argv[kName], '/');
    if (slash != nullptr) argv[kName] = const_cast<char*>(slash + 1);
    ::execv(program, argv + kName);
    std::perror(program);
    return 126;
  }
  // The name, and all that follows it, is the builder's to pass on.
  argv[kName - 1] = argv[3];
  ::execv(argv[3], argv + kName - 1);
  std::perror(argv[3]);
  return 126;
}
