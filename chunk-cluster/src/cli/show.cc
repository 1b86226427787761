// cat, text, head, tail
#include <poll.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstdio>

#include "cli/commands.h"

namespace ebb::cli {

namespace {

constexpr std::uint64_t kShownBytes = 1024;

std::unexpected<Error> OutputClosed() {
  return Fail(ErrorCode::kIo, "standard output is closed");
}

Status WriteOut(std::span<const std::byte> bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size()) return {};
  return OutputClosed();
}

Result<std::unique_ptr<client::InputStream>> OpenItem(const Item& item) {
  if (item.IsDirectory()) return Refuse(item.text, kIsDirectory);
  return item.files->OpenFile(item.path);
}

Status CopyOut(client::InputStream& in, std::uint64_t most) {
  while (most > 0) {
    EBB_ASSIGN(const auto bytes, in.Next(std::min<std::uint64_t>(kCopyBytes, most)));
    if (bytes.empty()) break;
    EBB_TRY(WriteOut(bytes));
    most -= bytes.size();
  }
  return {};
}

// Unpacks a stream of gzip members.
class Unpacker {
 public:
  Unpacker() { inflateInit2(&stream_, 16 + MAX_WBITS); }
  ~Unpacker() { inflateEnd(&stream_); }
  Unpacker(const Unpacker&) = delete;
  Unpacker& operator=(const Unpacker&) = delete;

  Status Write(std::span<const std::byte> bytes) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    do {
      if (stream_.avail_in > 0) within_ = true;
      stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
      stream_.avail_out = static_cast<uInt>(out_.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      EBB_TRY(WriteOut(std::span(out_).first(out_.size() - stream_.avail_out)));
      if (code == Z_STREAM_END) {
        inflateReset(&stream_);
        within_ = false;
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        return Fail(ErrorCode::kCorrupt, "the file is no valid gzip file");
      }
    } while (stream_.avail_in > 0 || stream_.avail_out == 0);
    return {};
  }

  // An error if the bytes have ended within a member.
  [[nodiscard]] Status Finish() const {
    if (!within_) return {};
    return Fail(ErrorCode::kCorrupt, "the file ends within its gzip data; it was cut off");
  }

 private:
  z_stream stream_ = {};
  bool within_ = false;
  std::array<std::byte, 64 << 10> out_;
};

Status ShowText(const Item& item) {
  EBB_ASSIGN(const auto in, OpenItem(item));
  std::array<std::byte, 3> magic = {};
  EBB_ASSIGN(const auto head, in->Read(magic));
  EBB_TRY(in->Seek(0));
  if (head >= 3 && magic[0] == std::byte{'S'} && magic[1] == std::byte{'E'} &&
      magic[2] == std::byte{'Q'}) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is a sequence file; use 'hdfs dfs -text'", item.text));
  }
  if (head < 2 || magic[0] != std::byte{0x1F} || magic[1] != std::byte{0x8B}) {
    return CopyOut(*in, in->length());
  }
  Unpacker unpacker;
  for (;;) {
    EBB_ASSIGN(const auto bytes, in->Next(kCopyBytes));
    if (bytes.empty()) return unpacker.Finish();
    EBB_TRY(unpacker.Write(bytes));
  }
}

// Waits for the interval. An error at once if nobody reads the output any more.
Status AwaitInterval(std::chrono::seconds interval) {
  pollfd output = {STDOUT_FILENO, 0, 0};
  const auto millis = std::min<std::int64_t>(std::chrono::milliseconds(interval).count(), INT_MAX);
  if (poll(&output, 1, static_cast<int>(millis)) > 0) return OutputClosed();
  return {};
}

// Shows what is appended to a file, until the user ends the command, or nobody reads what it shows.
Status Follow(const Item& item, std::uint64_t offset, std::chrono::seconds interval) {
  for (;;) {
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) return OutputClosed();
    EBB_TRY(AwaitInterval(interval));
    EBB_ASSIGN(const auto in, OpenItem(item));
    if (in->length() <= offset) continue;
    EBB_TRY(in->Seek(offset));
    EBB_TRY(CopyOut(*in, in->length() - offset));
    offset = in->length();
  }
}

}  // namespace

Result<int> RunCat(Shell& shell, Words words) {
  shell.ForEachExisting(words.rest, [](Item& item) -> Status {
    EBB_ASSIGN(const auto in, OpenItem(item));
    return CopyOut(*in, in->length());
  });
  return 0;
}

Result<int> RunText(Shell& shell, Words words) {
  shell.ForEachExisting(words.rest, [](Item& item) { return ShowText(item); });
  return 0;
}

// With hdfs dfs, too, head and tail know no patterns.
Result<int> RunHead(Shell& shell, Words words) {
  shell.ForEachNamed(words.rest, [](Item& item) -> Status {
    EBB_ASSIGN(const auto in, OpenItem(item));
    return CopyOut(*in, kShownBytes);
  });
  return 0;
}

Result<int> RunTail(Shell& shell, Words words) {
  bool follow = false;
  std::chrono::seconds interval(5);
  while (!words.rest.empty() && words.rest[0].starts_with('-')) {
    if (words.rest[0] == "-f") {
      follow = true;
    } else if (words.rest[0] == "-s" && words.rest.size() > 1) {
      interval = std::chrono::seconds(std::max(1, std::atoi(words.rest[1].c_str())));
      words.rest.erase(words.rest.begin());
    } else {
      return Misuse("Illegal option " + words.rest[0]);
    }
    words.rest.erase(words.rest.begin());
  }
  if (words.rest.size() != 1) {
    return Misuse(fmt::format("expected 1 file but got {}", words.rest.size()));
  }
  shell.ForEachNamed(words.rest, [&](Item& item) -> Status {
    EBB_ASSIGN(const auto in, OpenItem(item));
    EBB_TRY(in->Seek(in->length() - std::min(in->length(), kShownBytes)));
    EBB_TRY(CopyOut(*in, kShownBytes));
    return follow ? Follow(item, in->length(), interval) : Status();
  });
  return 0;
}

}  // namespace ebb::cli
