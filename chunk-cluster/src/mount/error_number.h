// The errno that a program sees for an error of the client library.
#pragma once

#include "common/error.h"

namespace ebb::mount {

// For calls that look up, make, rename and remove names.
[[nodiscard]] int ErrorNumberOf(const Error& error);
// For reads: a missing block is EIO, not a missing file.
[[nodiscard]] int ErrorNumberOfRead(const Error& error);
// For changes of rights, owners and times: EPERM, where a name would get EACCES.
[[nodiscard]] int ErrorNumberOfChange(const Error& error);
// For extended attributes, which namenodes refuse by a plain IOException: `plain` is its errno.
[[nodiscard]] int ErrorNumberOfXAttr(const Error& error, int plain);

// "java.io.IOException": the namenode refuses, and its message alone tells why.
[[nodiscard]] bool IsPlain(const Error& error);

}  // namespace ebb::mount
