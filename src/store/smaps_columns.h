// Where the fields of smaps are kept in a row of proc_change.
#pragma once

#include "model/smaps_fields.h"

namespace tidemark::store {

// With a column of their own, in the order of the columns.
inline constexpr model::SmapsField kColumnFields[] = {
    model::SmapsField::Pss,          model::SmapsField::PssDirty,
    model::SmapsField::SharedClean,  model::SmapsField::SharedDirty,
    model::SmapsField::PrivateClean, model::SmapsField::PrivateDirty,
    model::SmapsField::Referenced,   model::SmapsField::Anonymous,
    model::SmapsField::Swap,
};

// Nearly always zero, by the kernel's name in one text; a zero is left out.
inline constexpr model::SmapsField kRareFields[] = {
    model::SmapsField::Ksm,
    model::SmapsField::LazyFree,
    model::SmapsField::AnonHugePages,
    model::SmapsField::ShmemPmdMapped,
    model::SmapsField::FilePmdMapped,
    model::SmapsField::SharedHugetlb,
    model::SmapsField::PrivateHugetlb,
    model::SmapsField::SwapPss,
    model::SmapsField::Locked,
};

// In the same text, zero or not: only totals of a process have them, and the
// other mappings of a recording must not seem to.
inline constexpr model::SmapsField kRollupFields[] = {
    model::SmapsField::PssAnon,
    model::SmapsField::PssFile,
    model::SmapsField::PssShmem,
};

}  // namespace tidemark::store
