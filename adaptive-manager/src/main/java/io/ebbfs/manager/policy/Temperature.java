package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;

/** Computes how hot files and stripes are, in the unit of a policy's threshold. Immutable. */
final class Temperature {
  private static final double MIB = 1 << 20;

  private final ClusterSnapshot snapshot;
  private final PolicyRule rule;
  private final Map<Long, FileView> filesById;

  /**
   * @param filesById the files of all policies: a stripe may have members of any file
   */
  Temperature(ClusterSnapshot snapshot, PolicyRule rule, Map<Long, FileView> filesById) {
    this.snapshot = snapshot;
    this.rule = rule;
    this.filesById = filesById;
  }

  double ofFile(FileView file) {
    double reads = snapshot.heatOf(file.id());
    return rule.readHot().unit() == ReadHot.Unit.PER_FILE
        ? reads
        : reads * MIB / Math.max(1, file.lengthBytes());
  }

  /** Whether a file is read-hot. */
  boolean isHot(FileView file) {
    return ofFile(file) >= rule.readHot().threshold();
  }

  /**
   * The temperature of stripes that convert together. With reads per MiB, each member has the share
   * of its file's reads that its bytes are of the file. With reads per file, the temperature is the
   * mean of the files' reads, weighted by their bytes in the stripes.
   */
  double ofStripes(Collection<StripeView> stripes) {
    double reads = 0;
    double weighted = 0;
    long bytes = 0;
    for (StripeView stripe : stripes) {
      for (StripeView.Member member : stripe.members()) {
        FileView file = member.tombstone() ? null : filesById.get(member.ownerId());
        if (file != null) {
          double heat = snapshot.heatOf(file.id());
          reads += heat * member.lengthBytes() / Math.max(1, file.lengthBytes());
          weighted += heat * member.lengthBytes();
          bytes += member.lengthBytes();
        }
      }
    }
    double divisor = Math.max(1, bytes);
    return rule.readHot().unit() == ReadHot.Unit.PER_FILE
        ? weighted / divisor
        : reads * MIB / divisor;
  }

  /** "3.2 reads/MiB". */
  String show(double value) {
    return String.format(Locale.ROOT, "%.3g %s", value, rule.readHot().unitName());
  }
}
