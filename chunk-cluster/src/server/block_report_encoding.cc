#include "server/block_report_encoding.h"

#include <string>

namespace ebb::server {

namespace {

// The largest buffer. The namenode decodes one buffer at a time.
constexpr std::size_t kBufferBytes = 64 << 10;
constexpr std::size_t kLongestEntry = 40;

void AppendVarint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

std::uint64_t ZigZag(std::int64_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace

void EncodeBlockReport(const std::vector<ReplicaInfo>& replicas,
                       hadoop::hdfs::datanode::StorageBlockReportProto& report) {
  std::string buffer;
  for (const auto& replica : replicas) {
    if (buffer.size() + kLongestEntry > kBufferBytes) {
      report.add_blocksbuffers(std::move(buffer));
      buffer.clear();
    }
    AppendVarint(buffer, ZigZag(static_cast<std::int64_t>(replica.block_id)));
    AppendVarint(buffer, replica.length_bytes);
    AppendVarint(buffer, replica.generation_stamp);
    AppendVarint(buffer, static_cast<std::uint64_t>(replica.state));
  }
  if (!buffer.empty()) report.add_blocksbuffers(std::move(buffer));
  report.set_numberofblocks(replicas.size());
}

}  // namespace ebb::server
