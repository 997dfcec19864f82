// Functions of the kernel that say what a stack is about.
#pragma once

#include <string_view>

namespace tidemark::model {

// What stands outside of these was interrupted, and asked for nothing.
inline constexpr std::string_view kInterruptCode[] = {
    "handle_softirqs",
    "__do_softirq",
    "__handle_irq_event_percpu",
    "hrtimer_interrupt",
    "__flush_smp_call_function_queue",
};

// Loads a module; what reads its file comes before. The second is there once
// the kernel has told of it.
inline constexpr std::string_view kLoadingCode = "load_module";
inline constexpr std::string_view kInitCode = "do_init_module";

}  // namespace tidemark::model
