// arm KERNEL INITRAMFS COMMAND-LINE: loads a kernel for a crash into the memory
// that crashkernel= has set aside, as kexec-tools' `kexec -s -p` does.
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { kOnCrash = 2 };  // KEXEC_FILE_ON_CRASH

int main(int count, char** words) {
  if (count != 4) return 2;
  const int kernel = open(words[1], O_RDONLY | O_CLOEXEC);
  const int initramfs = open(words[2], O_RDONLY | O_CLOEXEC);
  if (kernel < 0 || initramfs < 0) {
    perror("open");
    return 1;
  }
  if (syscall(SYS_kexec_file_load, kernel, initramfs, strlen(words[3]) + 1,
              words[3], kOnCrash) != 0) {
    perror("kexec_file_load");
    return 1;
  }
  return 0;
}
