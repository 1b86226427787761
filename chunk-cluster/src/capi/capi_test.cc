// The C API over a namenode and DataNodes that hold bytes in memory and fail on order.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "capi/hdfs.h"
#include "client/fake_cluster.h"

namespace ebb::capi {
namespace {

namespace fs = std::filesystem;
using client::testing::FakeDatanode;
using client::testing::FakeNamenode;
using Calls = std::vector<std::string>;

constexpr int kWrite = O_WRONLY;
constexpr int kMakeNew = O_WRONLY | O_CREAT | O_EXCL;

std::string RandomText(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(size, '\0');
  for (auto& c : text) c = static_cast<char>(random());
  return text;
}

std::string CauseOfLast() {
  const char* cause = hdfsGetLastExceptionRootCause();
  return cause == nullptr ? "" : cause;
}

class CApiTest : public ::testing::Test {
 protected:
  static constexpr std::size_t kServers = 3;

  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "ebbfs-capi-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    std::vector<hadoop::hdfs::DatanodeInfoProto> infos;
    for (std::size_t i = 0; i < kServers; ++i) {
      nodes_.push_back(std::make_unique<FakeDatanode>());
      infos.push_back(nodes_.back()->info());
    }
    namenode_ = std::make_unique<FakeNamenode>(infos);
    const auto port = namenode_->Start()[0].port;
    uri_ = "hdfs://127.0.0.1:" + std::to_string(port);
    std::ofstream(directory_ / "core-site.xml")
        << "<configuration><property><name>fs.defaultFS</name><value>" << uri_
        << "</value></property><property><name>dfs.client-write-packet-size</name><value>4096"
        << "</value></property><property><name>a.number</name><value>17</value></property>"
        << "</configuration>";
    setenv("HADOOP_CONF_DIR", directory_.c_str(), 1);
    setenv("HADOOP_USER_NAME", "tester", 1);
    fs_ = hdfsConnect("default", 0);
    ASSERT_NE(fs_, nullptr) << CauseOfLast();
  }

  void TearDown() override {
    if (fs_ != nullptr) {
      EXPECT_EQ(hdfsDisconnect(fs_), 0);
    }
    fs::remove_all(directory_);
  }

  hdfsFile Open(const char* path, int flags) {
    hdfsFile file = hdfsOpenFile(fs_, path, flags, 0, 0, 0);
    EXPECT_NE(file, nullptr) << path << ": " << CauseOfLast();
    return file;
  }

  // The namenode tells of one file, which consists of this block.
  void Hold(std::uint64_t block_id, const std::string& text) {
    auto& located = namenode_->located;
    located.Clear();
    auto& block = *located.add_blocks();
    namenode_->Locate(block_id, {}, block);
    block.mutable_b()->set_numbytes(text.size());
    located.set_filelength(text.size());
    located.set_underconstruction(false);
    located.set_islastblockcomplete(true);
    for (auto& node : nodes_) node->Put(block_id, text);
  }

  fs::path directory_;
  std::vector<std::unique_ptr<FakeDatanode>> nodes_;
  std::unique_ptr<FakeNamenode> namenode_;
  std::string uri_;
  hdfsFS fs_ = nullptr;
};

TEST_F(CApiTest, BytesAreWrittenFlushedAndRead) {
  const auto text = RandomText(10'000, 1);
  hdfsFile file = Open("/f", kWrite);
  EXPECT_EQ(hdfsFileIsOpenForWrite(file), 1);
  EXPECT_EQ(hdfsFileIsOpenForRead(file), 0);
  EXPECT_EQ(hdfsWrite(fs_, file, text.data(), 700), 700);
  EXPECT_EQ(hdfsWrite(fs_, file, text.data(), 0), 0);
  EXPECT_EQ(hdfsTell(fs_, file), 700) << "what is not sent yet counts, too";
  EXPECT_EQ(ebbfsFileLength(file), 700);
  EXPECT_EQ(hdfsFlush(fs_, file), 0);
  EXPECT_EQ(hdfsHFlush(fs_, file), 0);
  EXPECT_EQ(nodes_[0]->Bytes(101), text.substr(0, 700));
  EXPECT_EQ(hdfsWrite(fs_, file, text.data() + 700, 9300), 9300);
  EXPECT_EQ(hdfsHSync(fs_, file), 0);
  EXPECT_EQ(hdfsTell(fs_, file), 10'000);
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
  EXPECT_EQ(nodes_[0]->Bytes(101), text);

  Hold(101, text);
  file = Open("/f", O_RDONLY);
  EXPECT_EQ(hdfsAvailable(fs_, file), 10'000);
  EXPECT_EQ(ebbfsFileLength(file), 10'000);
  std::string read(6000, '\0');
  EXPECT_EQ(hdfsRead(fs_, file, read.data(), 6000), 6000);
  EXPECT_EQ(read, text.substr(0, 6000));
  EXPECT_EQ(hdfsTell(fs_, file), 6000);
  EXPECT_EQ(hdfsUnbufferFile(file), 0);
  EXPECT_EQ(hdfsRead(fs_, file, read.data(), 6000), 4000);
  EXPECT_EQ(read.substr(0, 4000), text.substr(6000));
  EXPECT_EQ(hdfsRead(fs_, file, read.data(), 6000), 0);
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
}

TEST_F(CApiTest, SeeksAndPositionalReadsDoNotDisturbEachOther) {
  const auto text = RandomText(10'000, 2);
  Hold(7, text);
  hdfsFile file = Open("/f", O_RDONLY);
  std::string read(300, '\0');
  const auto expect_next = [&](std::size_t at) {
    EXPECT_EQ(hdfsTell(fs_, file), static_cast<tOffset>(at));
    EXPECT_EQ(hdfsRead(fs_, file, read.data(), 300), 300);
    EXPECT_EQ(read, text.substr(at, 300));
  };
  expect_next(0);
  EXPECT_EQ(hdfsSeek(fs_, file, 5000), 0);
  expect_next(5000);
  EXPECT_EQ(hdfsPread(fs_, file, 9900, read.data(), 300), 100) << "the file ends";
  EXPECT_EQ(read.substr(0, 100), text.substr(9900));
  EXPECT_EQ(hdfsPread(fs_, file, 20'000, read.data(), 300), 0);
  EXPECT_EQ(hdfsPreadFully(fs_, file, 100, read.data(), 300), 0);
  EXPECT_EQ(read, text.substr(100, 300));
  EXPECT_EQ(hdfsPreadFully(fs_, file, 9900, read.data(), 300), -1);
  EXPECT_EQ(errno, EINTERNAL);
  expect_next(5300);
  expect_next(5600);
  EXPECT_EQ(hdfsSeek(fs_, file, 10'001), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hdfsSeek(fs_, file, -1), -1);
  EXPECT_EQ(hdfsPread(fs_, file, -1, read.data(), 300), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
}

TEST_F(CApiTest, ReadStatisticsCountBytesOfServersHere) {
  Hold(7, RandomText(1000, 3));
  hdfsFile file = Open("/f", O_RDONLY);
  char read[400];
  EXPECT_EQ(hdfsRead(fs_, file, read, 400), 400);
  EXPECT_EQ(hdfsPread(fs_, file, 900, read, 400), 100);
  hdfsReadStatistics* statistics = nullptr;
  ASSERT_EQ(hdfsFileGetReadStatistics(file, &statistics), 0);
  EXPECT_EQ(statistics->totalBytesRead, 500U);
  EXPECT_EQ(statistics->totalLocalBytesRead, 500U) << "the server has the address 127.0.0.1";
  EXPECT_EQ(hdfsReadStatisticsGetRemoteBytesRead(statistics), 0);
  hdfsFileFreeReadStatistics(statistics);
  EXPECT_EQ(hdfsFileClearReadStatistics(file), 0);
  ASSERT_EQ(hdfsFileGetReadStatistics(file, &statistics), 0);
  EXPECT_EQ(statistics->totalBytesRead, 0U);
  hdfsFileFreeReadStatistics(statistics);
  hdfsHedgedReadMetrics* metrics = nullptr;
  ASSERT_EQ(hdfsGetHedgedReadMetrics(fs_, &metrics), 0);
  EXPECT_EQ(metrics->hedgedReadOps, 0U);
  hdfsFreeHedgedReadMetrics(metrics);
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
}

TEST_F(CApiTest, ThreadsShareAnOpenFile) {
  const auto text = RandomText(50'000, 4);
  Hold(7, text);
  hdfsFile file = Open("/f", O_RDONLY);
  std::atomic<int> wrong = 0;
  std::atomic<std::size_t> sequential = 0;
  std::vector<std::thread> threads;
  for (unsigned seed = 0; seed < 4; ++seed) {
    threads.emplace_back([&, seed] {
      std::mt19937 random(seed);
      char read[1000];
      for (int round = 0; round < 20; ++round) {
        const std::size_t at = random() % (text.size() - sizeof read);
        const auto got = hdfsPread(fs_, file, static_cast<tOffset>(at), read, sizeof read);
        if (got != sizeof read || text.compare(at, sizeof read, read, sizeof read) != 0) ++wrong;
        const auto next = hdfsRead(fs_, file, read, sizeof read);
        if (next < 0) ++wrong;
        sequential += static_cast<std::size_t>(next);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(sequential, text.size()) << "each byte was read once";
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
}

TEST_F(CApiTest, EachExceptionHasItsErrno) {
  const std::vector<std::pair<std::string, int>> known = {
      {"java.io.FileNotFoundException", ENOENT},
      {"org.apache.hadoop.security.AccessControlException", EACCES},
      {"org.apache.hadoop.fs.UnresolvedLinkException", ENOLINK},
      {"org.apache.hadoop.fs.ParentNotDirectoryException", ENOTDIR},
      {"java.lang.IllegalArgumentException", EINVAL},
      {"java.lang.OutOfMemoryError", ENOMEM},
      {"org.apache.hadoop.hdfs.server.namenode.SafeModeException", EROFS},
      {"org.apache.hadoop.fs.FileAlreadyExistsException", EEXIST},
      {"org.apache.hadoop.hdfs.protocol.QuotaExceededException", EDQUOT},
      {"org.apache.hadoop.hdfs.protocol.NSQuotaExceededException", EDQUOT},
      {"java.lang.UnsupportedOperationException", ENOTSUP},
      {"org.apache.hadoop.hdfs.server.namenode.LeaseExpiredException", ESTALE},
      {"org.apache.hadoop.fs.PathIsNotEmptyDirectoryException", ENOTEMPTY},
      {"java.io.IOException", EINTERNAL},
      {"of.another.Kind", EINTERNAL}};
  for (const auto& [exception, number] : known) {
    namenode_->exceptions["delete"] = exception;
    errno = 0;
    EXPECT_EQ(hdfsDelete(fs_, "/f", 0), -1);
    EXPECT_EQ(errno, number) << exception;
    EXPECT_EQ(CauseOfLast(), exception.substr(exception.rfind('.') + 1) + ": as ordered");
    EXPECT_NE(std::string(hdfsGetLastExceptionStackTrace()).find(exception), std::string::npos);
  }
  std::thread([] { EXPECT_EQ(hdfsGetLastExceptionRootCause(), nullptr); }).join();
}

TEST_F(CApiTest, ALostBlockIsNoMissingFile) {
  Hold(7, "bytes");
  for (auto& node : nodes_) node->damages_reads = true;
  hdfsBuilder* builder = hdfsNewBuilder();
  hdfsBuilderSetNameNode(builder, "default");
  EXPECT_EQ(hdfsBuilderConfSetStr(builder, "dfs.client.max.block.acquire.failures", "0"), 0);
  hdfsFS impatient = hdfsBuilderConnect(builder);
  ASSERT_NE(impatient, nullptr);
  hdfsFile file = hdfsOpenFile(impatient, "/f", O_RDONLY, 0, 0, 0);
  ASSERT_NE(file, nullptr);
  char read[5];
  EXPECT_EQ(hdfsRead(impatient, file, read, 5), -1);
  EXPECT_EQ(errno, EIO);
  EXPECT_EQ(hdfsPread(impatient, file, 0, read, 5), -1);
  EXPECT_EQ(errno, EIO);
  // The block is read again once it can be read.
  for (auto& node : nodes_) node->damages_reads = false;
  EXPECT_EQ(hdfsPread(impatient, file, 0, read, 5), 5);
  EXPECT_EQ(hdfsRead(impatient, file, read, 5), 5);
  EXPECT_EQ(hdfsCloseFile(impatient, file), 0);
  EXPECT_EQ(hdfsDisconnect(impatient), 0);
}

TEST_F(CApiTest, AForkedChildLeavesTheConnectionsOfItsParentAlone) {
  Hold(7, "bytes");
  hdfsFile file = Open("/f", O_RDONLY);
  const pid_t child = fork();
  if (child == 0) _exit(hdfsCloseFile(fs_, file) == 0 && hdfsDisconnect(fs_) == 0 ? 0 : 1);
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  char read[5];
  EXPECT_EQ(hdfsRead(fs_, file, read, 5), 5);
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
}

TEST_F(CApiTest, FilesAreUsedAsTheyWereOpened) {
  namenode_->names["/there"] = false;
  EXPECT_EQ(hdfsOpenFile(fs_, "/there", kMakeNew, 0, 0, 0), nullptr);
  EXPECT_EQ(errno, EEXIST);
  EXPECT_EQ(hdfsOpenFile(fs_, "/f", O_RDWR, 0, 0, 0), nullptr);
  EXPECT_EQ(errno, ENOTSUP);
  hdfsFile written = Open("/f", kMakeNew);
  char byte = 0;
  EXPECT_EQ(hdfsRead(fs_, written, &byte, 1), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hdfsSeek(fs_, written, 0), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(hdfsUnbufferFile(written), ENOTSUP);
  EXPECT_EQ(hdfsFileClearReadStatistics(written), EINVAL);
  EXPECT_EQ(hdfsWrite(fs_, written, &byte, -1), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hdfsCloseFile(fs_, written), 0);
  Hold(7, "x");
  hdfsFile read = Open("/f", O_RDONLY);
  EXPECT_EQ(hdfsWrite(fs_, read, &byte, 1), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hdfsHFlush(fs_, read), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(hdfsCloseFile(fs_, read), 0);
  EXPECT_EQ(hdfsCloseFile(fs_, nullptr), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(hdfsDisconnect(nullptr), -1);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(CApiTest, AFileOutlivesItsHandle) {
  hdfsFile file = Open("/f", kWrite);
  EXPECT_EQ(hdfsDisconnect(fs_), 0);
  EXPECT_EQ(hdfsWrite(nullptr, file, "ab", 2), 2);
  EXPECT_EQ(hdfsCloseFile(nullptr, file), 0);
  EXPECT_EQ(nodes_[0]->Bytes(101), "ab");
  fs_ = nullptr;
}

TEST_F(CApiTest, BuildersTakeTheirWords) {
  auto* builder = hdfsStreamBuilderAlloc(fs_, "f", kWrite);
  EXPECT_EQ(hdfsStreamBuilderSetReplication(builder, 2), 0);
  EXPECT_EQ(hdfsStreamBuilderSetDefaultBlockSize(builder, std::int64_t{3} << 30), 0);
  EXPECT_EQ(hdfsStreamBuilderSetReplication(builder, -2), -1);
  EXPECT_EQ(errno, EINVAL);
  hdfsFile file = hdfsStreamBuilderBuild(builder);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
  EXPECT_EQ(namenode_->Calls(), (Calls{"create /user/tester/f"}));
  EXPECT_EQ(namenode_->created().replication(), 2U);
  EXPECT_EQ(namenode_->created().blocksize(), std::uint64_t{3} << 30);

  builder = hdfsStreamBuilderAlloc(fs_, "/f", O_RDONLY);
  EXPECT_EQ(hdfsStreamBuilderSetBufferSize(builder, 4096), -1);
  EXPECT_EQ(errno, EINVAL);
  hdfsStreamBuilderFree(builder);
}

TEST_F(CApiTest, AFileIsOpenedInTheBackground) {
  Hold(7, "bytes");
  auto* builder = hdfsOpenFileBuilderAlloc(fs_, "/f");
  builder = hdfsOpenFileBuilderOpt(builder, "hello", "world");
  builder = hdfsOpenFileBuilderMust(builder, "fs.option.openfile.read.policy", "random");
  auto* future = hdfsOpenFileBuilderBuild(builder);
  ASSERT_NE(future, nullptr);
  hdfsFile file = hdfsOpenFileFutureGetWithTimeout(future, 1, DAYS);
  ASSERT_NE(file, nullptr) << CauseOfLast();
  EXPECT_EQ(hdfsAvailable(fs_, file), 5);
  EXPECT_NE(hdfsOpenFileFutureCancel(future, 0), 0);
  EXPECT_EQ(hdfsOpenFileFutureGet(future), nullptr);
  EXPECT_EQ(errno, EINVAL);
  hdfsOpenFileFutureFree(future);
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);

  builder = hdfsOpenFileBuilderMust(hdfsOpenFileBuilderAlloc(fs_, "/f"), "hello", "world");
  EXPECT_EQ(hdfsOpenFileBuilderBuild(builder), nullptr);
  EXPECT_EQ(errno, EINVAL);
  namenode_->exceptions["getBlockLocations"] = "java.io.FileNotFoundException";
  future = hdfsOpenFileBuilderBuild(hdfsOpenFileBuilderAlloc(fs_, "/f"));
  EXPECT_EQ(hdfsOpenFileFutureGet(future), nullptr);
  EXPECT_EQ(errno, ENOENT);
  hdfsOpenFileFutureFree(future);
  // A file that nobody gets is closed.
  namenode_->exceptions.clear();
  hdfsOpenFileFutureFree(hdfsOpenFileBuilderBuild(hdfsOpenFileBuilderAlloc(fs_, "/f")));
}

TEST_F(CApiTest, BuffersOfTheLibraryNeedAPool) {
  Hold(7, "all bytes");
  hdfsFile file = Open("/f", O_RDONLY);
  auto* options = hadoopRzOptionsAlloc();
  EXPECT_EQ(hadoopRzOptionsSetSkipChecksum(options, 1), 0);
  EXPECT_EQ(hadoopReadZero(file, options, 100), nullptr);
  EXPECT_EQ(errno, EPROTONOSUPPORT);
  EXPECT_EQ(hadoopRzOptionsSetByteBufferPool(options, "another"), -1);
  EXPECT_EQ(hadoopRzOptionsSetByteBufferPool(options, ELASTIC_BYTE_BUFFER_POOL_CLASS), 0);
  auto* buffer = hadoopReadZero(file, options, 100);
  ASSERT_NE(buffer, nullptr);
  ASSERT_EQ(hadoopRzBufferLength(buffer), 9);
  EXPECT_EQ(std::string(static_cast<const char*>(hadoopRzBufferGet(buffer)), 9), "all bytes");
  hadoopRzBufferFree(file, buffer);
  buffer = hadoopReadZero(file, options, 100);
  ASSERT_NE(buffer, nullptr);
  EXPECT_EQ(hadoopRzBufferGet(buffer), nullptr) << "the file has ended";
  hadoopRzBufferFree(file, buffer);
  hadoopRzOptionsFree(options);
  EXPECT_EQ(hdfsCloseFile(fs_, file), 0);
}

TEST_F(CApiTest, InfosTellOfFilesAndDirectories) {
  Hold(7, "bytes");
  namenode_->names = {
      {"/", true}, {"/d", true}, {"/d/file", false}, {"/d/sub", true}, {"/e", true}};
  int count = -1;
  hdfsFileInfo* infos = hdfsListDirectory(fs_, "/d", &count);
  ASSERT_EQ(count, 2);
  EXPECT_EQ(infos[0].mName, uri_ + "/d/file");
  EXPECT_EQ(infos[0].mKind, kObjectKindFile);
  EXPECT_EQ(infos[0].mSize, 5);
  EXPECT_EQ(infos[0].mPermissions, 0644);
  EXPECT_EQ(std::string(infos[0].mOwner), "o");
  EXPECT_EQ(std::string(infos[0].mGroup), "g");
  EXPECT_EQ(hdfsFileIsEncrypted(&infos[0]), 0);
  EXPECT_EQ(infos[1].mKind, kObjectKindDirectory);
  EXPECT_EQ(infos[1].mSize, 0);
  hdfsFreeFileInfo(infos, count);
  errno = EIO;
  EXPECT_EQ(hdfsListDirectory(fs_, "/e", &count), nullptr);
  EXPECT_EQ(errno, 0);
  EXPECT_EQ(count, 0);

  // The names that the calls answer with are accepted as paths.
  hdfsFileInfo* info = hdfsGetPathInfo(fs_, (uri_ + "/d/../d/./file").c_str());
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->mName, uri_ + "/d/file");
  EXPECT_EQ(hdfsExists(fs_, info->mName), 0);
  hdfsFreeFileInfo(info, 1);
  namenode_->encrypted = true;
  info = hdfsGetPathInfo(fs_, "/d/file");
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(hdfsFileIsEncrypted(info), 1);
  hdfsFreeFileInfo(info, 1);
  EXPECT_EQ(hdfsGetPathInfo(fs_, "/none"), nullptr);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(hdfsExists(fs_, "/none"), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(CApiTest, NamesAndAttributesChange) {
  namenode_->names["/f"] = false;
  EXPECT_EQ(hdfsCreateDirectory(fs_, "/made"), 0);
  EXPECT_EQ(hdfsChmod(fs_, "/f", 0640), 0);
  EXPECT_EQ(hdfsChown(fs_, "/f", "alice", nullptr), 0);
  EXPECT_EQ(hdfsChown(fs_, "/f", nullptr, nullptr), 0);
  EXPECT_EQ(hdfsUtime(fs_, "/f", 5, -1), 0);
  EXPECT_EQ(hdfsSetReplication(fs_, "/f", 2), 0);
  EXPECT_EQ(hdfsSetReplication(fs_, "/none", 2), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(hdfsTruncateFile(fs_, "/f", 0), 1);
  EXPECT_EQ(hdfsTruncateFile(fs_, "/f", 3), 0);
  EXPECT_EQ(hdfsRename(fs_, "/f", "/g"), 0);
  EXPECT_EQ(ebbfsReplace(fs_, "/f", "/g"), 0);
  EXPECT_EQ(hdfsDelete(fs_, "/f", 1), 0);
  EXPECT_EQ(hdfsDelete(fs_, "/f", 1), -1);
  EXPECT_EQ(errno, EIO) << "as in libhdfs";
  EXPECT_EQ(namenode_->Calls(),
            (Calls{"setPermission /f 640", "setOwner /f alice:", "setTimes /f 5000 -1",
                   "setReplication /f 2", "setReplication /none 2", "truncate /f 0",
                   "truncate /f 3", "rename /f /g", "rename2 /f /g overwrite", "delete /f",
                   "delete /f"}));
  EXPECT_EQ(hdfsGetCapacity(fs_), 1000);
  EXPECT_EQ(hdfsGetUsed(fs_), 10);
  EXPECT_EQ(hdfsGetDefaultBlockSize(fs_), 128 << 20);
  EXPECT_EQ(hdfsGetDefaultBlockSizeAtPath(fs_, "/f"), 128 << 20);
}

TEST_F(CApiTest, HostsAreThoseOfTheBlocks) {
  Hold(7, "bytes");
  char*** hosts = hdfsGetHosts(fs_, "/f", 0, 5);
  ASSERT_NE(hosts, nullptr);
  ASSERT_NE(hosts[0], nullptr);
  for (std::size_t i = 0; i < kServers; ++i) EXPECT_EQ(std::string(hosts[0][i]), "127.0.0.1");
  EXPECT_EQ(hosts[0][kServers], nullptr);
  EXPECT_EQ(hosts[1], nullptr);
  hdfsFreeHosts(hosts);
  EXPECT_EQ(hdfsGetHosts(fs_, "/f", -1, 5), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(CApiTest, PathsFollowTheWorkingDirectoryOfTheirHandle) {
  char buffer[200];
  ASSERT_EQ(hdfsGetWorkingDirectory(fs_, buffer, sizeof buffer), buffer);
  EXPECT_EQ(buffer, uri_ + "/user/tester");
  hdfsFS other = hdfsConnect(uri_.c_str(), 0);
  EXPECT_EQ(hdfsSetWorkingDirectory(fs_, "/a/b/../c"), 0);
  EXPECT_EQ(hdfsSetWorkingDirectory(fs_, "d"), 0);
  EXPECT_EQ(std::string(hdfsGetWorkingDirectory(fs_, buffer, sizeof buffer)), uri_ + "/a/c/d");
  EXPECT_EQ(std::string(hdfsGetWorkingDirectory(other, buffer, sizeof buffer)),
            uri_ + "/user/tester");
  EXPECT_EQ(hdfsGetWorkingDirectory(fs_, buffer, 8), nullptr);
  EXPECT_EQ(errno, ENAMETOOLONG);
  EXPECT_EQ(hdfsDisconnect(other), 0);
  hdfsFS of_alice = hdfsConnectAsUser("default", 0, "alice");
  EXPECT_EQ(std::string(hdfsGetWorkingDirectory(of_alice, buffer, sizeof buffer)),
            uri_ + "/user/alice");
  EXPECT_EQ(hdfsDisconnect(of_alice), 0);
  for (const char* wrong :
       {"", "hdfs://elsewhere:1/f", "file:///f", "s3a://bucket/f", "/\xff\xfe"}) {
    EXPECT_EQ(hdfsExists(fs_, wrong), -1) << wrong;
    EXPECT_EQ(errno, EINVAL) << wrong;
  }
  EXPECT_EQ(hdfsExists(fs_, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(CApiTest, ConnectionsNeedANameNodeOfHdfs) {
  const auto number_of = [](const char* name_node, tPort port) {
    hdfsFS connected = hdfsConnectAsUser(name_node, port, "alice");
    if (connected == nullptr) return errno;
    hdfsDisconnect(connected);
    return 0;
  };
  EXPECT_EQ(number_of("localhost", 1234), 0);
  EXPECT_EQ(number_of("localhost:1234", 0), 0);
  EXPECT_EQ(number_of("hdfs://localhost", 1234), 0);
  EXPECT_EQ(number_of("localhost:1234", 5), EINVAL);
  EXPECT_EQ(number_of(nullptr, 0), ENOTSUP);
  EXPECT_EQ(number_of("file:///", 0), ENOTSUP);
  EXPECT_EQ(number_of("webhdfs://localhost", 0), ENOTSUP);
  hdfsBuilder* builder = hdfsNewBuilder();
  hdfsBuilderSetNameNode(builder, "default");
  hdfsBuilderSetForceNewInstance(builder);
  hdfsBuilderConfSetStr(builder, "hadoop.security.authentication", "kerberos");
  EXPECT_EQ(hdfsBuilderConnect(builder), nullptr);
  EXPECT_EQ(errno, ENOTSUP);
  hdfsFreeBuilder(hdfsNewBuilder());
}

TEST_F(CApiTest, TheConfigurationIsRead) {
  char* text = nullptr;
  ASSERT_EQ(hdfsConfGetStr("fs.defaultFS", &text), 0);
  EXPECT_EQ(text, uri_);
  hdfsConfStrFree(text);
  ASSERT_EQ(hdfsConfGetStr("none", &text), 0);
  EXPECT_EQ(text, nullptr);
  std::int32_t number = 3;
  EXPECT_EQ(hdfsConfGetInt("none", &number), 0);
  EXPECT_EQ(number, 3);
  EXPECT_EQ(hdfsConfGetInt("a.number", &number), 0);
  EXPECT_EQ(number, 17);
  EXPECT_EQ(hdfsConfGetInt("fs.defaultFS", &number), EINVAL);
  EXPECT_EQ(number, 17);
}

TEST_F(CApiTest, CopiesGoIntoDirectoriesAndNeverOverTheirSource) {
  Hold(7, "bytes");
  namenode_->names = {{"/", true}, {"/d", true}, {"/d/f", false}, {"/f", false}, {"/t", true}};
  EXPECT_EQ(hdfsCopy(fs_, "/f", fs_, "/g"), 0);
  EXPECT_EQ(nodes_[0]->Bytes(101), "bytes");
  EXPECT_EQ(hdfsMove(fs_, "/d", fs_, "/t"), 0);
  EXPECT_EQ(namenode_->Calls(), (Calls{"create /g", "create /t/d/f", "delete /d"}));
  EXPECT_EQ(hdfsCopy(fs_, "/f", fs_, "/f"), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hdfsCopy(fs_, "/t", fs_, "/t/below"), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(hdfsCopy(fs_, "/none", fs_, "/g"), -1);
  EXPECT_EQ(errno, ENOENT);
  namenode_->exceptions["getBlockLocations"] = "org.apache.hadoop.security.AccessControlException";
  namenode_->names["/h"] = false;
  EXPECT_EQ(hdfsMove(fs_, "/f", fs_, "/h"), -1);
  EXPECT_EQ(errno, EACCES);
  EXPECT_TRUE(namenode_->names.contains("/h"));
  EXPECT_TRUE(namenode_->names.contains("/f"));
}

struct Output {
  int code = 0;
  std::string text;
};

Output OutputOf(const std::string& command) {
  FILE* pipe = popen((command + " 2>&1 </dev/null").c_str(), "r");
  Output output;
  char buffer[4096];
  for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
    output.text.append(buffer, n);
  }
  output.code = WEXITSTATUS(pclose(pipe));
  return output;
}

// A program in C, with the header and the library alone.
TEST_F(CApiTest, TheExampleWorks) {
  const std::string first = "the first line\n";
  const std::string all = first + "a second one\n";
  Hold(101, "");
  namenode_->located.set_filelength(all.size());
  namenode_->located.mutable_blocks(0)->mutable_b()->set_numbytes(all.size());
  auto& last = *namenode_->located.mutable_lastblock();
  last = namenode_->located.blocks(0);
  last.mutable_b()->set_numbytes(first.size());
  const auto output = OutputOf(CAPI_EXAMPLE " default /journal");
  EXPECT_EQ(output.code, 0);
  EXPECT_EQ(output.text, "F 28 " + uri_ + "/journal/today\n" + all);
  namenode_->exceptions["mkdirs"] = "org.apache.hadoop.security.AccessControlException";
  const auto refused = OutputOf(CAPI_EXAMPLE " default /journal");
  EXPECT_EQ(refused.code, 1);
  EXPECT_EQ(refused.text,
            "journal: /journal: Permission denied (AccessControlException: as ordered)\n");
}

TEST_F(CApiTest, TheLibraryHasTheNamesOfLibhdfsAndNoOthers) {
  const auto output = OutputOf("nm -D --defined-only --format=posix " CAPI_LIBRARY);
  ASSERT_EQ(output.code, 0) << output.text;
  std::istringstream lines(output.text);
  int names = 0;
  for (std::string line; std::getline(lines, line); ++names) {
    const auto name = line.substr(0, line.find(' '));
    EXPECT_TRUE(name.starts_with("hdfs") || name.starts_with("hadoopR") ||
                name == "ebbfsFileLength" || name == "ebbfsReplace" ||
                name.starts_with("ebbfs_append"))
        << line;
  }
  EXPECT_GT(names, 80);
  const fs::path directory = fs::path(CAPI_LIBRARY).parent_path();
  EXPECT_TRUE(fs::equivalent(directory / "libhdfs.so.0.0.0", CAPI_LIBRARY));
  EXPECT_TRUE(fs::equivalent(directory / "ebbfs-arrow" / "libjvm.so", CAPI_LIBRARY));
}

}  // namespace
}  // namespace ebb::capi
