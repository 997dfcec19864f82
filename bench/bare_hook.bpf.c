// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The least that anybody pays who is asked about pages: the two events with
// nothing behind them.
#include <linux/bpf.h>
// The order matters: the helpers need the types.
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual BSD/GPL";

SEC("raw_tp/mm_page_alloc")
int on_alloc(struct bpf_raw_tracepoint_args* context) {
  return 0;
}

SEC("raw_tp/mm_page_free")
int on_free(struct bpf_raw_tracepoint_args* context) {
  return 0;
}
