// The program 'ebbfs' beside a namenode and a DataNode that fail on order: what it does when it
// cannot do what it was told.
#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "client/fake_cluster.h"

namespace ebb::cli {
namespace {

namespace fs = std::filesystem;
using client::testing::FakeDatanode;
using client::testing::FakeNamenode;

struct Answer {
  int code = 0;
  // Of both outputs.
  std::string text;
};

class ShellTest : public ::testing::Test {
 protected:
  using Calls = std::vector<std::string>;

  void SetUp() override {
    std::string pattern = fs::temp_directory_path() / "ebbfs-shell-XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    std::ofstream(directory_ / "local") << "one line\n";
    namenode_ = std::make_unique<FakeNamenode>(std::vector{node_.info()});
    port_ = namenode_->Start()[0].port;
  }
  void TearDown() override { fs::remove_all(directory_); }

  // Runs a line of the shell in the directory; "ebbfs" is the program.
  Answer Line(const std::string& line) const {
    const std::string all = "cd '" + directory_.string() + "'; export HADOOP_USER_NAME=tester; " +
                            "ebbfs() { '" EBBFS_PROGRAM "' --conf . \"$@\"; }; { " + line +
                            "; } 2>&1 </dev/null";
    FILE* pipe = popen(all.c_str(), "r");
    EXPECT_NE(pipe, nullptr);
    Answer answer;
    char buffer[4096];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, pipe)) > 0;) {
      answer.text.append(buffer, n);
    }
    answer.code = WEXITSTATUS(pclose(pipe));
    return answer;
  }

  // Runs a command of the file system shell.
  Answer Run(const std::string& command) const {
    return Line("ebbfs -fs hdfs://127.0.0.1:" + std::to_string(port_) + " " + command);
  }

  void Store(const std::string& bytes) {
    auto& located = namenode_->located;
    auto& block = *located.add_blocks();
    namenode_->Locate(7, {}, block);
    block.mutable_b()->set_numbytes(bytes.size());
    located.set_filelength(bytes.size());
    located.set_underconstruction(false);
    located.set_islastblockcomplete(true);
    node_.Put(7, bytes);
    namenode_->names["/f"] = false;
  }

  // The calls that changed names, with "ME" for the name of the client.
  Calls CallsOfMe() const {
    auto calls = namenode_->Calls();
    for (auto& call : calls) {
      call = std::regex_replace(call, std::regex("DFSClient_EBB_[0-9a-f]{8}_[0-9]+"), "ME");
    }
    return calls;
  }

  static bool Has(const Answer& answer, const std::string& part) {
    return answer.text.contains(part);
  }

  fs::path directory_;
  FakeDatanode node_;
  std::unique_ptr<FakeNamenode> namenode_;
  std::uint16_t port_ = 0;
};

TEST_F(ShellTest, ANameWithASlashAtItsEndIsADirectory) {
  namenode_->names["/a"] = false;
  for (const char* command : {"-put -f local /in/", "-put local /in/.", "-put - /in/",
                              "-mv /a /in/", "-cp /a /in/x/..", "-touchz /in/"}) {
    const auto answer = Run(command);
    EXPECT_EQ(answer.code, 1) << command;
    EXPECT_TRUE(Has(answer, "No such file or directory")) << command << answer.text;
  }
  EXPECT_EQ(namenode_->Calls(), Calls());
  namenode_->names["/in"] = true;
  EXPECT_EQ(Run("-touchz /in/b").code, 0);
  EXPECT_EQ(namenode_->Calls(), Calls{"create /in/b"});
}

TEST_F(ShellTest, ATouchThatMakesNoFileWantsADirectoryNevertheless) {
  EXPECT_EQ(Run("-touch -c /x").code, 0);
  for (const char* path : {"/none/x", "/x/"}) {
    const auto answer = Run(std::string("-touch -c ") + path);
    EXPECT_EQ(answer.code, 1) << path;
    EXPECT_TRUE(Has(answer, "No such file or directory")) << answer.text;
  }
  EXPECT_EQ(namenode_->Calls(), Calls());
}

TEST_F(ShellTest, OutputThatIsLostIsAnError) {
  Store("one line\n");
  EXPECT_EQ(Run("-cat /f").text, "one line\n");
  const auto lost = Run("-cat /f >/dev/full");
  EXPECT_EQ(lost.code, 1);
  EXPECT_TRUE(Has(lost, "could not be written")) << lost.text;
  // More than the output's buffer: an early write fails.
  std::string many = "-stat " + std::string(100'000, 'x');
  for (int i = 0; i < 5; ++i) many += " /f";
  EXPECT_EQ(Run(many + " >/dev/full").code, 1);
}

TEST_F(ShellTest, ATailThatFollowsEndsWhenItsOutputIsLost) {
  Store("one line\n");
  const auto lost = Line("timeout 60 '" EBBFS_PROGRAM "' --conf . -fs hdfs://127.0.0.1:" +
                         std::to_string(port_) + " -tail -f -s 1 /f >/dev/full");
  EXPECT_EQ(lost.code, 1) << lost.text;
  EXPECT_TRUE(Has(lost, "standard output is closed")) << lost.text;
}

// Without a byte to write, the command would notice nothing.
TEST_F(ShellTest, ATailThatFollowsAFileThatDoesNotGrowEndsWithItsReader) {
  Store("one line\n");
  const auto ended = Line("{ timeout 60 '" EBBFS_PROGRAM "' --conf . -fs hdfs://127.0.0.1:" +
                          std::to_string(port_) +
                          " -tail -f -s 1000 /f; echo code $? >&2; } | head -c 9");
  EXPECT_TRUE(Has(ended, "one line")) << ended.text;
  EXPECT_TRUE(Has(ended, "code 1\n")) << ended.text;
}

TEST_F(ShellTest, AFailedPutDeletesItsOwnFileOnly) {
  node_.packets_until_end = 0;
  EXPECT_EQ(Run("-put -d local /x").code, 1);
  EXPECT_EQ(Run("-put local /y").code, 1);
  EXPECT_EQ(CallsOfMe(),
            (Calls{"create /x", "create /y.ME._COPYING_", "delete /y.ME._COPYING_"}));
}

TEST_F(ShellTest, OnlyForceReplacesAFileThatHasGotTheNameMeanwhile) {
  EXPECT_EQ(Run("-put local /x").code, 0);
  EXPECT_EQ(Run("-put -f local /y").code, 0);
  EXPECT_EQ(CallsOfMe(),
            (Calls{"create /x.ME._COPYING_", "rename2 /x.ME._COPYING_ /x",
                   "create /y.ME._COPYING_", "rename2 /y.ME._COPYING_ /y overwrite"}));
}

TEST_F(ShellTest, AFileThatHasGotTheNameMeanwhileIsNotReplacedByAnEmptyOne) {
  for (const char* command : {"-touchz ", "-touch ", "-put -d local "}) {
    namenode_->names.erase("/x");
    namenode_->appears = "/x";
    const auto answer = Run(command + namenode_->appears);
    EXPECT_EQ(answer.code, 1) << command;
    EXPECT_TRUE(Has(answer, "exists")) << command << answer.text;
  }
  namenode_->appears = "";
  EXPECT_EQ(namenode_->Calls(), Calls());
  EXPECT_EQ(Run("-touchz /x").code, 0) << "the file is empty";
  EXPECT_EQ(namenode_->Calls(), Calls{"create /x"});
}

// Another put of the same name may be writing, or may have died: both write names of their own.
TEST_F(ShellTest, TwoCommandsNeverWriteTheSameOtherName) {
  node_.packets_until_end = 0;
  for (const char* command : {"-put local /x", "-put -f local /x"}) {
    EXPECT_EQ(Run(command).code, 1) << command;
  }
  const auto calls = namenode_->Calls();
  ASSERT_EQ(calls.size(), 4U);
  EXPECT_EQ("delete" + calls[0].substr(calls[0].find(' ')), calls[1]);
  EXPECT_EQ("delete" + calls[2].substr(calls[2].find(' ')), calls[3]);
  EXPECT_NE(calls[0], calls[2]);
}

TEST_F(ShellTest, ALongNameIsCutInTheOtherNameBetweenTwoLetters) {
  // "e" and 127 letters of two bytes: 255 bytes, as many as a name may have.
  std::string name = "e";
  for (int i = 0; i < 127; ++i) name += "\xc3\xa8";
  EXPECT_EQ(Run("-put local '/" + name + "'").code, 0);
  const auto calls = namenode_->Calls();
  ASSERT_EQ(calls.size(), 2U);
  const std::string other = calls[0].substr(std::string("create /").size());
  EXPECT_LE(other.size(), 255U);
  EXPECT_GE(other.size(), 254U);
  EXPECT_EQ(calls[1], "rename2 /" + other + " /" + name);
  const std::size_t kept = other.find('~');
  EXPECT_TRUE(other.ends_with("._COPYING_"));
  ASSERT_NE(kept, std::string::npos);
  EXPECT_EQ(other.substr(0, kept), name.substr(0, kept));
  EXPECT_EQ(kept % 2, 1U) << "whole letters";
}

TEST_F(ShellTest, TwoLongNamesWithOneBeginningHaveTwoParts) {
  const std::string name(250, 'n');
  EXPECT_EQ(Line("mkdir tree; echo a > tree/" + name + "a; echo b > tree/" + name + "b").code, 0);
  const auto answer = Run("-put -t 2 tree /");
  EXPECT_EQ(answer.code, 0) << answer.text;
  EXPECT_EQ(namenode_->Calls().size(), 4U);
}

TEST_F(ShellTest, AGetOfALongNameCutsTheNameOfItsPart) {
  Store("one line\n");
  const std::string name(255, 'n');
  for (const char* get : {"-get ", "-get -resume "}) {
    const auto answer = Run(get + std::string("/f ") + name);
    EXPECT_EQ(answer.code, 0) << get << answer.text;
    EXPECT_EQ(Line("ls -A; cat " + name + "; rm " + name).text, "local\n" + name + "\none line\n");
  }
}

TEST_F(ShellTest, APutOfAPipeShowsNoShare) {
  const int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
  ASSERT_GE(terminal, 0);
  ASSERT_EQ(grantpt(terminal), 0);
  ASSERT_EQ(unlockpt(terminal), 0);
  const std::string name = ptsname(terminal);
  // While nobody has the terminal open, what was written to it could be lost.
  const int held = open(name.c_str(), O_RDWR | O_NOCTTY);
  ASSERT_GE(held, 0);
  // The progress is shown from the third second on.
  const auto answer =
      Line("mkfifo pipe; (echo one; sleep 2.3; echo two) > pipe & ebbfs -fs hdfs://127.0.0.1:" +
           std::to_string(port_) + " -put pipe /x 2>" + name);
  EXPECT_EQ(answer.code, 0) << answer.text;
  char shown[4096];
  const auto bytes = read(terminal, shown, sizeof shown);
  ASSERT_GT(bytes, 0);
  close(held);
  close(terminal);
  const std::string progress(shown, static_cast<std::size_t>(bytes));
  EXPECT_TRUE(progress.contains("8, ")) << progress;
  EXPECT_FALSE(progress.contains('%')) << progress;
}

TEST_F(ShellTest, AFileIsNotCopiedOverItself) {
  Store("one line\n");
  namenode_->names["/.reserved/.inodes/17"] = false;
  for (const char* command : {"-cp -f -d /f /f", "-cp -f -d /f /",
                              "-cp -f -d /f /.reserved/.inodes/17",
                              "-cp -f -d /.reserved/.inodes/17 /f"}) {
    const auto answer = Run(command);
    EXPECT_EQ(answer.code, 1) << command;
    EXPECT_TRUE(Has(answer, "are identical")) << command << answer.text;
  }
  const auto other_name = Run("-cp -f -d hdfs://localhost:" + std::to_string(port_) + "/f /f");
  EXPECT_TRUE(Has(other_name, "are identical")) << other_name.text;
  EXPECT_EQ(namenode_->Calls(), Calls());
  // A snapshot keeps the bytes that are copied.
  namenode_->names["/.snapshot/s/f"] = false;
  const auto restored = Run("-cp -f -d /.snapshot/s/f /f");
  EXPECT_EQ(restored.code, 0) << restored.text;
  EXPECT_EQ(namenode_->Calls(), Calls{"create /f"});
}

TEST_F(ShellTest, WhatClientsEncryptIsRefusedBeforeAFileIsGone) {
  namenode_->encrypted = true;
  namenode_->names["/f"] = false;
  for (const char* command :
       {"-put -d -f local /f", "-appendToFile local /f", "-appendToFile local /new"}) {
    const auto answer = Run(command);
    EXPECT_EQ(answer.code, 1) << command;
    EXPECT_TRUE(Has(answer, "use 'hdfs dfs'")) << command << answer.text;
  }
  EXPECT_EQ(namenode_->Calls(), Calls());
  EXPECT_EQ(Run("-put local /g").code, 1);
  EXPECT_EQ(Run("-touchz /empty").code, 0);
  EXPECT_EQ(CallsOfMe(),
            (Calls{"create /g.ME._COPYING_", "delete /g.ME._COPYING_", "create /empty"}));
}

TEST_F(ShellTest, ForceHidesOnlyThatAPatternHasNoMatch) {
  EXPECT_EQ(Run("-rm -f '/none*'").text, "");
  EXPECT_EQ(Run("-rm -f '/none*'").code, 0);
  EXPECT_EQ(Run("-rm '/none*'").code, 1);
  EXPECT_EQ(Run("-rm -f '/none{'").code, 1);
  const auto unconfigured = Line("ebbfs -rm -r -f /secret");
  EXPECT_EQ(unconfigured.code, 1);
  EXPECT_TRUE(Has(unconfigured, "fs.defaultFS")) << unconfigured.text;
}

TEST_F(ShellTest, NamesThatAreNoUtf8AreRefused) {
  fs::create_directory(directory_ / "names");
  std::ofstream(directory_ / "names" / "caf\xe8") << "a";
  for (const char* command : {"-rm -skipTrash '/caf\xe8'", "-put names /", "-put local '/\xff'"}) {
    const auto answer = Run(command);
    EXPECT_EQ(answer.code, 1) << command;
    EXPECT_TRUE(Has(answer, "\\x")) << answer.text;
  }
  EXPECT_EQ(namenode_->Calls(), Calls());
  EXPECT_EQ(Run("-touchz '/caf\xc3\xa8'").code, 0);
}

TEST_F(ShellTest, AQuotedNameNeedNotExist) {
  EXPECT_EQ(Run("-touchz '/a\\[b'").code, 0);
  EXPECT_EQ(namenode_->Calls(), Calls{"create /a[b"});
}

TEST_F(ShellTest, TextTellsThatAGzipFileIsCutOff) {
  const std::string packed(
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\xcf\x4b\x55\xc8\xc9\xcc\x4b\xe5\x02\x00"
      "\x35\x3c\x6a\xde\x09\x00\x00\x00",
      29);
  Store(packed + packed);
  EXPECT_EQ(Run("-text /f").text, "one line\none line\n");
  namenode_->located.Clear();
  Store((packed + packed).substr(0, 50));
  const auto cut = Run("-text /f");
  EXPECT_EQ(cut.code, 1);
  EXPECT_TRUE(Has(cut, "cut off")) << cut.text;
}

TEST_F(ShellTest, MergedFilesFollowEachOtherAndNoneMayBeMissing) {
  Store("one line\n");
  EXPECT_EQ(Line("ebbfs -fs hdfs://127.0.0.1:" + std::to_string(port_) +
                 " -getmerge -nl /f /f merged && cat merged")
                .text,
            "one line\n\none line\n\n");
  const auto lacking = Run("-getmerge /f /none lacking");
  EXPECT_EQ(lacking.code, 1);
  EXPECT_TRUE(Has(lacking, "No such file or directory")) << lacking.text;
  EXPECT_FALSE(fs::exists(directory_ / "lacking"));
  EXPECT_TRUE(Has(Run("-getmerge /f ."), "Is a directory"));
}

TEST_F(ShellTest, FindTellsWhatItDoesNotKnow) {
  Store("one line\n");
  EXPECT_EQ(Run("-find /f -iname F -a -name '{f,g}'").text, "/f\n");
  EXPECT_EQ(Run("-find /f -name g").text, "");
  EXPECT_EQ(Run("-find /f -print0").text, std::string("/f\0", 3));
  const auto unknown = Run("-find /f -size 3");
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(Has(unknown, "Unexpected argument: -size")) << unknown.text;
}

// The present bytes differ from those of the file: they show what was read again.
TEST_F(ShellTest, AGetThatIsResumedReadsTheRestOnly) {
  Store("one line\n");
  // The id of the file and the time of its last change.
  std::ofstream(directory_ / "copy.17-1._COPYING_") << "XXXX";
  std::ofstream(directory_ / "other.17-0._COPYING_") << "YYYY";
  EXPECT_EQ(Line("ebbfs -fs hdfs://127.0.0.1:" + std::to_string(port_) +
                 " -get -resume /f copy && cat copy")
                .text,
            "XXXXline\n");
  EXPECT_FALSE(fs::exists(directory_ / "copy.17-1._COPYING_"));
  EXPECT_EQ(Run("-get -resume /f other").code, 0);
  EXPECT_EQ(Line("cat other").text, "one line\n");
}

// As if each of two directories had a file of that name.
TEST_F(ShellTest, OfTwoFilesWithOneTargetTheFirstStays) {
  Store("one line\n");
  for (const char* threads : {"", "-t 2 "}) {
    fs::remove_all(directory_ / "got");
    fs::create_directory(directory_ / "got");
    const auto answer = Run(std::string("-get ") + threads + "/f /f got");
    EXPECT_EQ(answer.code, 1);
    EXPECT_TRUE(Has(answer, "exists")) << answer.text;
    EXPECT_EQ(Line("ls -A got; cat got/f").text, "f\none line\n");
  }
}

TEST_F(ShellTest, APartThatAnotherCommandWritesIsLeftAlone) {
  Store("one line\n");
  const auto answer = Line("exec 9>>copy.17-1._COPYING_; flock 9; ebbfs -fs hdfs://127.0.0.1:" +
                           std::to_string(port_) + " -get -resume /f copy 9>&-; cat copy*");
  EXPECT_TRUE(Has(answer, "is being written by another command")) << answer.text;
  EXPECT_FALSE(Has(answer, "one line"));
}

TEST_F(ShellTest, AGetThatFailsKeepsItsPartForAnotherOneToResume) {
  Store("one line\n");
  node_.damages_reads = true;
  EXPECT_EQ(Run("-get /f copy").code, 1);
  EXPECT_EQ(Line("ls -A").text, "local\n");
  EXPECT_EQ(Run("-get -resume /f copy").code, 1);
  EXPECT_TRUE(Has(Line("ls -A"), "._COPYING_"));
  node_.damages_reads = false;
  EXPECT_EQ(Run("-get -resume /f copy").code, 0);
  EXPECT_EQ(Line("ls -A; cat copy").text, "copy\nlocal\none line\n");
}

TEST_F(ShellTest, APutThatIsResumedWritesTheRestOnly) {
  Store("XXXX");
  auto& last = *namenode_->located.mutable_lastblock();
  last = namenode_->located.blocks(0);
  const std::string mark = Line("stat -c %d-%i-%.3Y-%s local | tr -d .").text;
  const std::string other = "/x." + mark.substr(0, mark.size() - 1) + "._COPYING_";
  namenode_->names[other] = false;
  const auto answer = Run("-put -resume local /x");
  EXPECT_EQ(answer.code, 0) << answer.text;
  EXPECT_EQ(namenode_->Calls(), (Calls{"append " + other, "rename2 " + other + " /x"}));
  EXPECT_EQ(node_.Bytes(7), "XXXXline\n");
}

// A namenode lets nobody append to it.
TEST_F(ShellTest, APartThatClientsEncodeBeginsAnew) {
  auto& policy = namenode_->policy;
  policy.set_id(70);
  policy.set_name("XOR-1-1-1024k");
  policy.mutable_schema()->set_codecname("xor");
  policy.mutable_schema()->set_dataunits(1);
  policy.mutable_schema()->set_parityunits(1);
  policy.set_cellsize(1 << 20);
  const std::string mark = Line("stat -c %d-%i-%.3Y-%s local | tr -d .").text;
  const std::string other = "/x." + mark.substr(0, mark.size() - 1) + "._COPYING_";
  namenode_->names[other] = false;
  const auto answer = Run("-put -resume local /x");
  EXPECT_EQ(answer.code, 0) << answer.text;
  EXPECT_EQ(namenode_->Calls(), (Calls{"create " + other, "rename2 " + other + " /x"}));
  EXPECT_EQ(node_.Bytes(namenode_->finished().at(0).blockid()), Line("cat local").text);
}

TEST_F(ShellTest, APutThatIsResumedWaitsForTheLeaseOfTheCommandBefore) {
  Store("XXXX");
  *namenode_->located.mutable_lastblock() = namenode_->located.blocks(0);
  namenode_->appends_to_refuse = 1;
  const std::string mark = Line("stat -c %d-%i-%.3Y-%s local | tr -d .").text;
  namenode_->names["/x." + mark.substr(0, mark.size() - 1) + "._COPYING_"] = false;
  const auto answer = Run("-put -resume local /x");
  EXPECT_EQ(answer.code, 0) << answer.text;
  EXPECT_TRUE(Has(answer, "/x: waiting for the end of the lease")) << answer.text;
  EXPECT_EQ(node_.Bytes(7), "XXXXline\n");
}

TEST_F(ShellTest, APutThatFailsKeepsItsPartForAnotherOneToResume) {
  node_.packets_until_end = 0;
  EXPECT_EQ(Run("-put -resume local /x").code, 1);
  const auto calls = namenode_->Calls();
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_TRUE(calls[0].starts_with("create /x.")) << calls[0];
  for (const char* misuse : {"-put -resume - /x", "-put -resume -d local /x"}) {
    EXPECT_EQ(Run(misuse).code, 255) << misuse;
  }
}

TEST_F(ShellTest, TreesAreCopiedByTheThreadsThatWereAskedFor) {
  fs::create_directories(directory_ / "tree" / "below");
  for (int i = 0; i < 20; ++i) {
    std::ofstream(directory_ / "tree" / "below" / std::to_string(i)) << "file " << i;
  }
  const auto put = Run("-put -t 4 -q 2 tree /");
  EXPECT_EQ(put.code, 0) << put.text;
  EXPECT_EQ(namenode_->Calls().size(), 40U);
  for (const char* misuse : {"-put -t 0 tree /", "-put -t", "-get -t x /f .", "-get -q 0 /f ."}) {
    EXPECT_EQ(Run(misuse).code, 255) << misuse;
  }
  Store("one line\n");
  namenode_->names = {{"/", true}, {"/d", true}};
  for (int i = 0; i < 20; ++i) namenode_->names["/d/" + std::to_string(i)] = false;
  EXPECT_EQ(Run("-get -t 4 /d got").code, 0);
  EXPECT_EQ(Line("cat got/* | sort | uniq -c | tr -s ' '").text, " 20 one line\n");
  namenode_->names["/to"] = true;
  const auto before = namenode_->Calls().size();
  EXPECT_EQ(Run("-cp -t 4 /d /to").code, 0);
  EXPECT_EQ(namenode_->Calls().size(), before + 40);
}

TEST_F(ShellTest, RightsOfATreeChangeSideBySideAndErrorsKeepTheirOrder) {
  namenode_->names = {{"/", true}, {"/d", true}, {"/d/sub", true}, {"/d/sub/last", false}};
  std::string errors;
  for (int i = 10; i < 40; ++i) {
    const std::string path = fmt::format("/d/{}", i);
    namenode_->names[path] = false;
    errors += fmt::format("chmod: changing permissions of '{}': not {}\n", path, path);
  }
  std::atomic<int> within = 0;
  std::atomic<int> most = 0;
  namenode_->on_set_permission = [&](const std::string& path) -> Status {
    if (!path.starts_with("/d/") || path.contains("sub")) return {};
    const int now = ++within;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    for (int i = 0; i < 1000 && most < 4; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    // Others end before the first one.
    if (path == "/d/10") std::this_thread::sleep_for(std::chrono::milliseconds(200));
    --within;
    return Fail(ErrorCode::kIo, "not " + path);
  };
  const auto answer = Run("-chmod -R 600 /d");
  EXPECT_EQ(answer.code, 1);
  EXPECT_EQ(answer.text, errors);
  EXPECT_GE(most, 4);
  EXPECT_EQ(namenode_->Calls(), (Calls{"setPermission /d 600", "setPermission /d/sub 600",
                                       "setPermission /d/sub/last 600"}));
  // What cannot be changed is not entered, and missing names have their place among the errors.
  namenode_->on_set_permission = [](const std::string& path) -> Status {
    return Fail(ErrorCode::kIo, "not " + path);
  };
  EXPECT_EQ(Run("-chmod -R 600 /d/10 /none /d").text,
            "chmod: changing permissions of '/d/10': not /d/10\n"
            "chmod: `/none': No such file or directory\n"
            "chmod: changing permissions of '/d': not /d\n");
}

}  // namespace
}  // namespace ebb::cli
