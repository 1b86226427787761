// Files that are written and read through the client library, on servers in memory.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "client/fake_cluster.h"
#include "client/file_system.h"
#include "mount/file_reader.h"
#include "mount/file_state.h"
#include "mount/file_writer.h"

namespace ebb::mount {
namespace {

using client::testing::FakeDatanode;
using client::testing::FakeNamenode;

std::span<const std::byte> Bytes(const std::string& text) {
  return std::as_bytes(std::span(text));
}

class WriterTest : public ::testing::Test {
 protected:
  void Open() {
    client::Configuration configuration;
    configuration.Set("dfs.client-write-packet-size", "4096");
    auto opened = client::FileSystem::Open(configuration, namenode_.Start()[0].Text());
    ASSERT_TRUE(opened) << opened.error().message;
    files_ = std::move(*opened);
  }

  std::unique_ptr<FileWriter> Writer(std::uint64_t length) {
    return std::make_unique<FileWriter>(
        *files_, dirty_, [this] { return path_; }, file_id_, length);
  }

  std::unique_ptr<FileWriter> CreatedWriter() {
    auto stream = files_->Create("/f", {});
    EXPECT_TRUE(stream) << stream.error().message;
    auto writer = Writer(0);
    writer->Adopt(std::move(*stream));
    return writer;
  }

  // A file of this text, which an append goes on with.
  void Present(const std::string& text) {
    auto& block = *namenode_.located.mutable_lastblock();
    namenode_.Locate(7, {}, block);
    block.mutable_b()->set_numbytes(text.size());
    *namenode_.located.add_blocks() = block;
    namenode_.located.set_filelength(text.size());
    namenode_.located.set_underconstruction(false);
    namenode_.located.set_islastblockcomplete(true);
    namenode_.names["/f"] = false;
    node_.Put(7, text);
  }

  FakeDatanode node_;
  FakeNamenode namenode_{std::vector<hadoop::hdfs::DatanodeInfoProto>{node_.info()}};
  std::unique_ptr<client::FileSystem> files_;
  DirtyBytes dirty_{1 << 20};
  std::optional<std::string> path_ = "/f";
  // The number of all files of the namenode.
  std::uint64_t file_id_ = 17;
};

TEST_F(WriterTest, AFileIsWrittenInOrderAndEnded) {
  Open();
  const auto writer = CreatedWriter();
  EXPECT_TRUE(writer->Complete(false)) << "nothing was written: the file stays open";
  EXPECT_EQ(writer->open_length(), 0);
  ASSERT_TRUE(writer->Write(0, false, Bytes("abc")));
  ASSERT_TRUE(writer->Write(3, false, Bytes("def")));
  EXPECT_EQ(writer->open_length(), 6);
  EXPECT_EQ(dirty_.total(), 6);
  ASSERT_TRUE(writer->Flush());
  EXPECT_EQ(node_.Bytes(101), "abcdef");
  EXPECT_EQ(dirty_.total(), 0);
  ASSERT_TRUE(writer->Complete(false));
  EXPECT_EQ(writer->open_length(), std::nullopt);
  EXPECT_EQ(namenode_.finished().size(), 1);
  EXPECT_TRUE(writer->Complete(true)) << "nothing is open";
}

TEST_F(WriterTest, AFileWithoutBytesIsEndedAtLast) {
  Open();
  const auto writer = CreatedWriter();
  ASSERT_TRUE(writer->Complete(true));
  EXPECT_EQ(writer->open_length(), std::nullopt);
}

TEST_F(WriterTest, AWriteElsewhereIsRefusedAndOpensNothing) {
  Present("0123456789");
  Open();
  const auto writer = Writer(10);
  for (const std::uint64_t offset : {0, 5, 11}) {
    const auto refused = writer->Write(offset, false, Bytes("x"));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  }
  EXPECT_TRUE(namenode_.Calls().empty());
  EXPECT_EQ(writer->open_length(), std::nullopt);
}

TEST_F(WriterTest, AWriteAtTheEndGoesOn) {
  Present("0123456789");
  Open();
  // Another client has written since this one looked.
  const auto writer = Writer(4);
  ASSERT_TRUE(writer->Write(10, false, Bytes("ab")));
  ASSERT_TRUE(writer->Write(0, true, Bytes("cd"))) << "O_APPEND: the offset is a belief";
  EXPECT_FALSE(writer->Write(10, false, Bytes("x")));
  ASSERT_TRUE(writer->Complete(false));
  EXPECT_EQ(node_.Bytes(7), "0123456789abcd");
  EXPECT_EQ(namenode_.Calls(), (std::vector<std::string>{"append /f"}));
}

TEST_F(WriterTest, AnotherFileAtThePathIsLeftAlone) {
  Present("0123456789");
  Open();
  file_id_ = 18;
  const auto writer = Writer(10);
  EXPECT_FALSE(writer->Open());
  EXPECT_FALSE(writer->Write(10, false, Bytes("x")));
  EXPECT_FALSE(writer->SetLength(0, [] { return false; }));
  EXPECT_TRUE(namenode_.Calls().empty());
}

TEST_F(WriterTest, AnAppendThatFailsGivesTheFileBack) {
  Present("0123456789");
  node_.refused_link = "127.0.0.1";
  Open();
  const auto writer = Writer(10);
  EXPECT_FALSE(writer->Write(10, false, Bytes("x")));
  EXPECT_EQ(namenode_.Calls(), (std::vector<std::string>{"append /f", "recoverLease /f"}));
}

TEST(FileStateTest, ReadersLearnOfOtherBytes) {
  FileState state;
  state.Tell({.modified_millis = 1, .length = 10});
  state.Tell({.modified_millis = 1, .length = 12});
  EXPECT_EQ(state.changes(), 0) << "the file grows where readers have no bytes";
  state.Tell({.modified_millis = 1, .length = 11});
  EXPECT_EQ(state.changes(), 1);
  state.Tell({.modified_millis = 2, .length = 11});
  EXPECT_EQ(state.changes(), 2);
  state.Cut();
  EXPECT_EQ(state.changes(), 3);
  EXPECT_EQ(state.known_length(), 0);
}

TEST_F(WriterTest, AfterAFailureNothingIsWrittenAnyMore) {
  Open();
  const auto writer = CreatedWriter();
  node_.packets_until_end = 0;
  ASSERT_TRUE(writer->Write(0, false, Bytes("abc")));
  const auto ended = writer->Complete(false);
  ASSERT_FALSE(ended);
  const auto later = writer->Write(3, false, Bytes("x"));
  ASSERT_FALSE(later);
  EXPECT_EQ(later.error().message, ended.error().message);
  EXPECT_FALSE(writer->Complete(true));
  EXPECT_EQ(dirty_.total(), 0);
}

TEST_F(WriterTest, NobodyMissesTheEndOfAFileThatWasRemoved) {
  Open();
  const auto writer = CreatedWriter();
  ASSERT_TRUE(writer->Write(0, false, Bytes("abc")));
  path_ = std::nullopt;
  node_.packets_until_end = 0;
  EXPECT_TRUE(writer->Complete(false));
  EXPECT_TRUE(writer->Complete(true));
}

TEST_F(WriterTest, TooManyBytesInFlightAreWaitedFor) {
  DirtyBytes few(10'000);
  Open();
  auto stream = files_->Create("/f", {});
  ASSERT_TRUE(stream);
  FileWriter writer(*files_, few, [this] { return path_; }, file_id_, 0);
  writer.Adopt(std::move(*stream));
  const std::string text(9'000, 'x');
  ASSERT_TRUE(writer.Write(0, false, Bytes(text)));
  EXPECT_EQ(few.total(), 9'000);
  ASSERT_TRUE(writer.Write(9'000, false, Bytes(text)));
  EXPECT_EQ(few.total(), 0);
  EXPECT_EQ(node_.Bytes(101).size(), 18'000);
  EXPECT_EQ(namenode_.synced(), -1) << "readers need not see the bytes";
  ASSERT_TRUE(writer.Write(18'000, false, Bytes("abc")));
  ASSERT_TRUE(writer.Complete(false));
  EXPECT_EQ(node_.Bytes(101), text + text + "abc");
}

TEST_F(WriterTest, ALengthIsKeptAndNeverGrows) {
  Open();
  const auto never = [] { return false; };
  const auto writer = CreatedWriter();
  ASSERT_TRUE(writer->Write(0, false, Bytes("abc")));
  EXPECT_TRUE(writer->SetLength(3, never));
  const auto longer = writer->SetLength(4, never);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, ErrorCode::kUnsupported);
  ASSERT_TRUE(writer->Complete(false));
  EXPECT_EQ(node_.Bytes(101), "abc");
}

TEST_F(WriterTest, ReadsInOrderAndElsewhereAgree) {
  std::string text(300'000, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  Present(text);
  Open();
  FileReader reader(*files_);
  EXPECT_FALSE(reader.is_open());
  ASSERT_TRUE(reader.Open("/f"));
  EXPECT_EQ(reader.length(), text.size());
  std::string read(65'536, '\0');
  for (const std::size_t offset :
       {0U, 65'536U, 131'072U, 250'000U, 299'999U, 5U, 65'541U, 200'000U}) {
    const auto done = reader.Read(offset, std::as_writable_bytes(std::span(read)));
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(read.substr(0, *done), text.substr(offset, read.size())) << offset;
  }
  EXPECT_EQ(reader.Read(text.size(), std::as_writable_bytes(std::span(read))).value(), 0);
  reader.Cancel();
  const auto cancelled = reader.Read(0, std::as_writable_bytes(std::span(read)));
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code, ErrorCode::kShutdown);
  EXPECT_FALSE(reader.is_open());
  ASSERT_TRUE(reader.Open("/f"));
  EXPECT_TRUE(reader.Read(0, std::as_writable_bytes(std::span(read))));
}

}  // namespace
}  // namespace ebb::mount
