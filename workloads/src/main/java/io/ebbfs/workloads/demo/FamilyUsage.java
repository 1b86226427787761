package io.ebbfs.workloads.demo;

import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.testbed.client.ClusterProbe;
import io.ebbfs.testbed.client.ClusterProbe.Usage;
import io.ebbfs.workloads.demo.DataSet.Family;
import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** Measures the bytes that the files of each family take on the disks. */
final class FamilyUsage {
  private FamilyUsage() {}

  static Map<Family, Usage> of(ClusterProbe probe) throws IOException {
    return of(probe, probe.stripes());
  }

  /** The same, if the stripes are known already. */
  static Map<Family, Usage> of(ClusterProbe probe, List<StripeStatusProto> stripes)
      throws IOException {
    Map<Family, Usage> usage = new EnumMap<>(Family.class);
    for (Family family : Family.values()) {
      usage.put(family, probe.usage(family.tree, family.key(), stripes));
    }
    return usage;
  }
}
