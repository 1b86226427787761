#include "cli/commands.h"

namespace ebb::cli {

namespace {

constexpr std::size_t kAny = 1'000'000;

}  // namespace

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      {"appendToFile", "LOCAL... FILE", "", 2, kAny, RunAppendToFile},
      {"cat", "PATH...", "ignoreCrc", 1, kAny, RunCat},
      {"checksum", "PATH...", "", 1, kAny, RunChecksum},
      {"chgrp", "[-R] GROUP PATH...", "R", 2, kAny, RunChgrp},
      {"chmod", "[-R] MODE PATH...", "R", 2, kAny, RunChmod},
      {"chown", "[-R] [OWNER][:[GROUP]] PATH...", "R", 2, kAny, RunChown},
      {"concat", "FILE PATH PATH...", "", 0, kAny, RunConcat},
      {"copyFromLocal", "[-f] [-p] [-d] [-l] [-resume] [-t THREADS] [-q WAITING] LOCAL... PATH",
       "f p d l resume t= q=", 1, kAny, RunPut},
      {"copyToLocal", "[-f] [-p] [-resume] [-t THREADS] [-q WAITING] PATH... LOCAL",
       "f p ignoreCrc crc resume t= q=", 1, kAny, RunGet},
      {"count", "[-q] [-h] [-v] [-u] PATH...", "q h v u", 1, kAny, RunCount},
      {"cp", "[-f] [-p] [-d] [-t THREADS] [-q WAITING] PATH... TO", "f p d t= q=", 2, kAny, RunCp},
      {"df", "[-h] [PATH...]", "h", 0, kAny, RunDf},
      {"du", "[-s] [-h] [-v] [PATH...]", "s h v", 0, kAny, RunDu},
      {"explain", "PATH...", "", 1, kAny, RunExplain},
      {"expunge", "[-immediate] [-fs URI]", "immediate fs=", 0, 0, RunExpunge},
      {"find", "[PATH...] [-name PATTERN] [-iname PATTERN] [-print] [-print0]", nullptr, 1, kAny,
       RunFind},
      {"get", "[-f] [-p] [-resume] [-t THREADS] [-q WAITING] PATH... LOCAL",
       "f p ignoreCrc crc resume t= q=", 1, kAny, RunGet},
      {"getfacl", "[-R] PATH", "R", 1, 1, RunGetfacl},
      {"getfattr", "[-R] {-n NAME | -d} [-e ENCODING] PATH", nullptr, 0, kAny, RunGetfattr},
      {"getmerge", "[-nl] [-skip-empty-file] PATH... LOCAL", "nl skip-empty-file", 2, kAny,
       RunGetmerge},
      {"head", "FILE", "", 1, 1, RunHead},
      {"ls", "[-C] [-d] [-h] [-q] [-R] [-t] [-S] [-r] [-u] [PATH...]", "C d h q R t S r u", 0, kAny,
       RunLs},
      {"mkdir", "[-p] PATH...", "p", 1, kAny, RunMkdir},
      {"mv", "PATH... TO", "", 2, kAny, RunMv},
      {"put", "[-f] [-p] [-d] [-l] [-resume] [-t THREADS] [-q WAITING] LOCAL... PATH",
       "f p d l resume t= q=", 1, kAny, RunPut},
      {"rm", "[-f] [-r|-R] [-skipTrash] PATH...", "f r R skipTrash", 1, kAny, RunRm},
      {"rmdir", "[--ignore-fail-on-non-empty] DIRECTORY...", "-ignore-fail-on-non-empty", 1, kAny,
       RunRmdir},
      {"setfacl", "[-R] {-b | -k | {-m | -x | --set} ENTRIES} PATH", "b k R m x -set", 0, kAny,
       RunSetfacl},
      {"setfattr", "{-n NAME [-v VALUE] | -x NAME} PATH", nullptr, 0, kAny, RunSetfattr},
      {"setrep", "[-R] [-w] REPLICATION PATH...", "R w", 2, kAny, RunSetrep},
      {"stat", "[-R] [FORMAT] PATH...", "R", 1, kAny, RunStat},
      {"tail", "[-f] [-s SECONDS] FILE", nullptr, 1, kAny, RunTail},
      {"test", "-[defswrz] PATH", "d e f s w r z", 1, 1, RunTest},
      {"text", "PATH...", "ignoreCrc", 1, kAny, RunText},
      {"touch", "[-a] [-m] [-t yyyyMMdd:HHmmss] [-c] PATH...", nullptr, 1, kAny, RunTouch},
      {"touchz", "PATH...", "", 1, kAny, RunTouchz},
      {"truncate", "[-w] LENGTH PATH...", "w", 2, kAny, RunTruncate},
  };
  return commands;
}

}  // namespace ebb::cli
