// Access control lists as setfacl takes them.
#pragma once

#include <string>
#include <vector>

#include "acl.pb.h"
#include "common/error.h"

namespace ebb::client {

// "user:ann:rw-,default:group::r-x" and so on; with `rights` false the entries have no rights, as
// in "user:ann,default:mask". kInvalid with the entry that is wrong. Pure.
[[nodiscard]] Result<std::vector<hadoop::hdfs::AclEntryProto>> ParseAcl(const std::string& text,
                                                                        bool rights);

}  // namespace ebb::client
