package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.config.ReadHot;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Decayed reads against a threshold that the operator has set. Immutable. */
final class ThresholdTemperature implements Temperature {
  private static final double MIB = 1 << 20;

  private final ClusterSnapshot snapshot;
  private final PolicyRule rule;
  private final Map<Long, FileView> filesById;

  ThresholdTemperature(PolicyView view) {
    this.snapshot = view.snapshot();
    this.rule = view.rule();
    this.filesById = view.filesById();
  }

  @Override
  public double ofFile(FileView file) {
    double reads = snapshot.heatOf(file.id());
    return rule.readHot().unit() == ReadHot.Unit.PER_FILE
        ? reads
        : reads * MIB / Math.max(1, file.lengthBytes());
  }

  @Override
  public boolean isHot(FileView file) {
    return isHot(ofFile(file));
  }

  private boolean isHot(double heat) {
    return heat >= rule.readHot().threshold();
  }

  /**
   * With reads per MiB, each member has the share of its file's reads that its bytes are of the
   * file. With reads per file, the temperature is the mean of the files' reads, weighted by their
   * bytes in the stripes.
   */
  @Override
  public double ofStripes(Collection<StripeView> stripes) {
    double reads = 0;
    double weighted = 0;
    long bytes = 0;
    for (StripeView stripe : stripes) {
      for (StripeView.Member member : stripe.members()) {
        if (member.isOwnedByFile(stripe.id())) {
          bytes += member.lengthBytes();
          // The snapshot has every file that was read.
          FileView file = filesById.get(member.ownerId());
          if (file != null) {
            double heat = snapshot.heatOf(file.id());
            reads += heat * member.lengthBytes() / Math.max(1, file.lengthBytes());
            weighted += heat * member.lengthBytes();
          }
        }
      }
    }
    double divisor = Math.max(1, bytes);
    return rule.readHot().unit() == ReadHot.Unit.PER_FILE
        ? weighted / divisor
        : reads * MIB / divisor;
  }

  /** A threshold knows no costs. */
  @Override
  public Optional<String> sidesOfFast(Collection<FileView> files) {
    return Optional.empty();
  }

  /** A threshold knows no costs. */
  @Override
  public Optional<String> waitsReplicated(FileView file) {
    return Optional.empty();
  }

  @Override
  public Optional<Gain> toCompact(Collection<StripeView> stripes, double heat) {
    double cold = rule.readHot().threshold() / rule.hysteresis();
    return heat < cold
        ? Optional.of(
            new Gain(
                0,
                String.format(
                    Locale.ROOT,
                    "read-cold: %s, below %s (%s, hysteresis %.3g)",
                    show(heat),
                    show(cold),
                    showHot(),
                    rule.hysteresis())))
        : Optional.empty();
  }

  @Override
  public Optional<Gain> toFast(StripeView stripe, double heat) {
    return isHot(heat)
        ? Optional.of(new Gain(1, "read-hot: %s (%s)".formatted(show(heat), showHot())))
        : Optional.empty();
  }

  @Override
  public Optional<String> whySwap(
      StripeView hotter, double heat, double colder, double colderPart) {
    return Optional.of("");
  }

  @Override
  public boolean mayYield(double colder, double hotter) {
    return colder * rule.hysteresis() < hotter;
  }

  @Override
  public String show(double value) {
    return String.format(Locale.ROOT, "%.3g %s", value, rule.readHot().unitName());
  }

  @Override
  public String explain(FileView file, Collection<StripeView> stripes, boolean compact) {
    return "%s (%s)".formatted(show(ofFile(file)), showHot());
  }

  @Override
  public String showHot() {
    return "hot from " + rule.readHot().show();
  }
}
