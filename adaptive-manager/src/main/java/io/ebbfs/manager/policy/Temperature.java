package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.ReadHot;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;

/** How hot files and stripes are, in the unit of a policy's threshold. Immutable. */
final class Temperature {
  private static final double MIB = 1 << 20;

  private final Snapshot snapshot;
  private final Map<Long, FileView> filesById;

  Temperature(Snapshot snapshot, Map<Long, FileView> filesById) {
    this.snapshot = snapshot;
    this.filesById = filesById;
  }

  double ofFile(FileView file, PolicyRule rule) {
    double reads = snapshot.heatOf(file.id());
    return rule.readHot().unit() == ReadHot.Unit.PER_FILE
        ? reads
        : reads * MIB / Math.max(1, file.lengthBytes());
  }

  boolean hot(FileView file, PolicyRule rule) {
    return ofFile(file, rule) >= rule.readHot().threshold();
  }

  /** Of stripes together: the share of each member file's reads that falls on its blocks here. */
  double ofStripes(Collection<StripeView> stripes, PolicyRule rule) {
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
  static String show(double value, PolicyRule rule) {
    return String.format(Locale.ROOT, "%.3g %s", value, rule.readHot().unitName());
  }
}
