// bare_trace OBJECT COMMAND…: runs the command with all programs of a BPF
// object attached.
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char** words) {
  struct bpf_object* object =
      count > 2 ? bpf_object__open_file(words[1], NULL) : NULL;
  struct bpf_program* program;
  int status = 1;
  if (!object || bpf_object__load(object) != 0) return 1;
  bpf_object__for_each_program(program, object) {
    if (!bpf_program__attach(program)) return 1;
  }
  if (fork() == 0) {
    execvp(words[2], words + 2);
    _exit(127);
  }
  wait(&status);
  return status != 0;
}
