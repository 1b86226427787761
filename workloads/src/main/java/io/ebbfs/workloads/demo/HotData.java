package io.ebbfs.workloads.demo;

import io.ebbfs.workloads.demo.DataSet.Family;
import io.ebbfs.workloads.demo.DataSet.LocalFile;
import io.ebbfs.workloads.demo.ProgressWait.Progress;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Looks how much of the hot set is in the fast codes. */
final class HotData {
  private final DemoCluster cluster;
  private final DataSet data;
  private final HotSet hot;
  private final FileCodes codes;

  HotData(DemoCluster cluster, DataSet data, HotSet hot, FileCodes codes) {
    this.cluster = cluster;
    this.data = data;
    this.hot = hot;
    this.codes = codes;
  }

  /** The hot files of each family, as the cluster has them now. */
  Map<String, DemoReport.HotData> now() throws IOException {
    codes.setStripes(cluster.probe().stripes());
    Map<String, DemoReport.HotData> now = new TreeMap<>();
    for (Family family : Family.values()) {
      if (!hot.of(family).isEmpty()) {
        now.put(
            family.key(),
            new DemoReport.HotData(
                hot.of(family).size(),
                (double) hot.bytes(family) / data.bytes(family),
                readsInFastCode(family)));
      }
    }
    return now;
  }

  /** The share of the reads of a family's hot files that falls on data in the fast code. */
  private double readsInFastCode(Family family) {
    double all = 0;
    double fast = 0;
    for (int rank = 0; rank < hot.ranked().size(); rank++) {
      LocalFile file = hot.ranked().get(rank);
      if (file.family() == family) {
        double reads = Math.pow(rank + 1, -HotTraffic.ZIPF_EXPONENT);
        all += reads;
        fast += reads * codes.share(List.of(file.remote()), family.codes().fast());
      }
    }
    return all == 0 ? 0 : fast / all;
  }

  /** Whether the fast code serves enough of the reads of each family's hot data. */
  Progress inFastCode() throws IOException {
    Map<String, DemoReport.HotData> now = now();
    StringBuilder detail = new StringBuilder();
    for (Family family : Family.values()) {
      if (now.containsKey(family.key())) {
        detail.append(
            DemoConsole.format(
                "%s%.0f%% of the reads of hot files of %s fall on %s",
                detail.isEmpty() ? "" : ", ",
                100 * now.get(family.key()).inFastCode(),
                family.key(),
                family.codes().fast()));
      }
    }
    return new Progress(DemoReport.isFast(now), detail.toString());
  }
}
