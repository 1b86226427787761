// The commands of the shell.
#pragma once

#include <vector>

#include "cli/shell.h"

namespace ebb::cli {

// In alphabetical order.
[[nodiscard]] const std::vector<Command>& Commands();

// Each in the file that its comment names.
Result<int> RunLs(Shell& shell, Words words);            // list.cc
Result<int> RunStat(Shell& shell, Words words);          // stat.cc
Result<int> RunTest(Shell& shell, Words words);          // stat.cc
Result<int> RunCount(Shell& shell, Words words);         // usage.cc
Result<int> RunDu(Shell& shell, Words words);            // usage.cc
Result<int> RunDf(Shell& shell, Words words);            // usage.cc
Result<int> RunCat(Shell& shell, Words words);           // show.cc
Result<int> RunText(Shell& shell, Words words);          // show.cc
Result<int> RunHead(Shell& shell, Words words);          // show.cc
Result<int> RunTail(Shell& shell, Words words);          // show.cc
Result<int> RunChecksum(Shell& shell, Words words);      // checksum.cc
Result<int> RunPut(Shell& shell, Words words);           // upload.cc
Result<int> RunAppendToFile(Shell& shell, Words words);  // upload.cc
Result<int> RunGet(Shell& shell, Words words);           // download.cc
Result<int> RunCp(Shell& shell, Words words);            // copy.cc
Result<int> RunMv(Shell& shell, Words words);            // copy.cc
Result<int> RunMkdir(Shell& shell, Words words);         // names.cc
Result<int> RunRmdir(Shell& shell, Words words);         // names.cc
Result<int> RunTouch(Shell& shell, Words words);         // touch.cc
Result<int> RunTouchz(Shell& shell, Words words);        // touch.cc
Result<int> RunRm(Shell& shell, Words words);            // remove.cc
Result<int> RunExpunge(Shell& shell, Words words);       // remove.cc
Result<int> RunChmod(Shell& shell, Words words);         // rights.cc
Result<int> RunChown(Shell& shell, Words words);         // rights.cc
Result<int> RunChgrp(Shell& shell, Words words);         // rights.cc
Result<int> RunSetrep(Shell& shell, Words words);        // replication.cc
Result<int> RunGetfattr(Shell& shell, Words words);      // attributes.cc
Result<int> RunSetfattr(Shell& shell, Words words);      // attributes.cc
Result<int> RunGetfacl(Shell& shell, Words words);       // access_list.cc
Result<int> RunSetfacl(Shell& shell, Words words);       // access_list.cc
Result<int> RunExplain(Shell& shell, Words words);       // explain.cc
Result<int> RunFind(Shell& shell, Words words);          // find.cc
Result<int> RunGetmerge(Shell& shell, Words words);      // merge.cc
Result<int> RunConcat(Shell& shell, Words words);        // merge.cc
Result<int> RunTruncate(Shell& shell, Words words);      // merge.cc

}  // namespace ebb::cli
