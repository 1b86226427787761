// The calls that read into buffers of the library.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "capi/failure.h"
#include "capi/hdfs.h"
#include "capi/open_file.h"

using ebb::capi::Answer;
using ebb::capi::FailWith;
using ebb::capi::Guarded;

struct hadoopRzOptions {
  bool has_pool = false;
};

struct hadoopRzBuffer {
  std::vector<std::byte> bytes;
};

hadoopRzOptions* hadoopRzOptionsAlloc() {
  return Guarded<hadoopRzOptions*>(nullptr, []() -> Answer<hadoopRzOptions*> {
    return std::make_unique<hadoopRzOptions>().release();
  });
}

int hadoopRzOptionsSetSkipChecksum(hadoopRzOptions* options, int /*skip*/) {
  return Guarded([&]() -> Answer<void> { return ebb::capi::CheckHandle(options); });
}

int hadoopRzOptionsSetByteBufferPool(hadoopRzOptions* options, const char* class_name) {
  return Guarded([&]() -> Answer<void> {
    EBB_TRY(ebb::capi::CheckHandle(options));
    if (class_name != nullptr && std::string_view(class_name) != ELASTIC_BYTE_BUFFER_POOL_CLASS) {
      return FailWith(EINVAL, fmt::format("there is no pool '{}'; the one that there is, is {}",
                                          class_name, ELASTIC_BYTE_BUFFER_POOL_CLASS));
    }
    options->has_pool = class_name != nullptr;
    return {};
  });
}

void hadoopRzOptionsFree(hadoopRzOptions* options) {
  const std::unique_ptr<hadoopRzOptions> owned(options);
}

hadoopRzBuffer* hadoopReadZero(hdfsFile file, hadoopRzOptions* options, std::int32_t maxLength) {
  return Guarded<hadoopRzBuffer*>(nullptr, [&]() -> Answer<hadoopRzBuffer*> {
    EBB_TRY(ebb::capi::CheckHandle(file));
    EBB_TRY(ebb::capi::CheckHandle(options));
    if (!file->reader || maxLength < 0) {
      return FailWith(EINVAL, "the file is not open for reading, or the length is negative");
    }
    if (!options->has_pool) {
      return FailWith(EPROTONOSUPPORT, "bytes are copied, which needs a pool of buffers");
    }
    auto buffer = std::make_unique<hadoopRzBuffer>();
    const auto left = file->reader->length() - file->reader->position();
    buffer->bytes.resize(std::min<std::uint64_t>(left, static_cast<std::uint64_t>(maxLength)));
    EBB_ASSIGN(const auto read, file->reader->Read(buffer->bytes));
    buffer->bytes.resize(read);
    return buffer.release();
  });
}

std::int32_t hadoopRzBufferLength(const hadoopRzBuffer* buffer) {
  return static_cast<std::int32_t>(buffer->bytes.size());
}

const void* hadoopRzBufferGet(const hadoopRzBuffer* buffer) {
  return buffer->bytes.empty() ? nullptr : buffer->bytes.data();
}

void hadoopRzBufferFree(hdfsFile /*file*/, hadoopRzBuffer* buffer) {
  const std::unique_ptr<hadoopRzBuffer> owned(buffer);
}
