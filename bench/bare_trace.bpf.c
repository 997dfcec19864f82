// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The least that any trace of allocations with stacks does: unwinds up to 64
// frames and stores one word for each page.
#include <linux/bpf.h>
// The order matters: the helpers need the types.
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

enum { kFrames = 64, kWords = 1024, kChunks = 8192 };

struct chunk {
  __u32 words[kWords];
};

struct stack {
  __u64 frames[kFrames];
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, kChunks);
  __type(key, __u32);
  __type(value, struct chunk);
} pages SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct stack);
} stacks SEC(".maps");

static __always_inline void store(__u64 page, __u32 word) {
  const __u64 frame = page >> 6;
  const __u32 index = (frame / kWords) % kChunks;
  struct chunk* chunk = bpf_map_lookup_elem(&pages, &index);
  if (chunk) chunk->words[frame % kWords] = word;
}

SEC("raw_tp/mm_page_alloc")
int on_alloc(struct bpf_raw_tracepoint_args* context) {
  const __u32 zero = 0;
  struct stack* stack = bpf_map_lookup_elem(&stacks, &zero);
  if (!stack) return 0;
  bpf_get_stack(context, stack->frames, sizeof(stack->frames), 0);
  store(context->args[0], 1);
  return 0;
}

SEC("raw_tp/mm_page_free")
int on_free(struct bpf_raw_tracepoint_args* context) {
  store(context->args[0], 0);
  return 0;
}
