package io.ebbfs.ignite;

import java.util.Collection;
import org.apache.ignite.Ignite;
import org.apache.ignite.cluster.BaselineNode;
import org.apache.ignite.cluster.ClusterNode;
import org.apache.ignite.configuration.TopologyValidator;
import org.apache.ignite.resources.IgniteInstanceResource;

/**
 * Refuses writes to a part of the store that has not more than half of its nodes: the other part
 * may be alive behind a broken network.
 */
final class MajorityOfBaseline implements TopologyValidator {
  private static final long serialVersionUID = 1;

  @IgniteInstanceResource private transient Ignite ignite;

  @Override
  public boolean validate(Collection<ClusterNode> nodes) {
    Collection<BaselineNode> baseline = ignite.cluster().currentBaselineTopology();
    if (baseline == null) {
      return true;
    }
    long present =
        nodes.stream()
            .filter(node -> !node.isClient())
            .filter(
                node ->
                    baseline.stream()
                        .anyMatch(one -> one.consistentId().equals(node.consistentId())))
            .count();
    return 2 * present > baseline.size();
  }

  /** All nodes must have the same validator. */
  @Override
  public boolean equals(Object other) {
    return other instanceof MajorityOfBaseline;
  }

  @Override
  public int hashCode() {
    return MajorityOfBaseline.class.hashCode();
  }
}
