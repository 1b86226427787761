package io.ebbfs.workloads.experiment;

import io.ebbfs.workloads.traffic.Workload;
import io.ebbfs.workloads.traffic.Workload.File;
import java.util.ArrayList;
import java.util.List;

/** Makes some files of a workload small, so that stripes are made of short blocks. */
final class SmallFiles {
  private SmallFiles() {}

  /**
   * The same workload with every n-th file cut to a quarter of a block.
   *
   * @param share of the files that are cut; files that were small before are not counted in it
   */
  static Workload in(Workload workload, double share, long blockBytes) {
    List<File> files = new ArrayList<>();
    double due = 0;
    for (File file : workload.files()) {
      due += share;
      boolean small = due >= 1;
      due -= small ? 1 : 0;
      files.add(small ? new File(file.path(), Math.min(file.bytes(), blockBytes / 4)) : file);
    }
    return new Workload(
        workload.name(), files, workload.reads(), workload.epochs(), workload.durationMillis());
  }
}
