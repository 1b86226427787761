package io.ebbfs.manager.policy;

import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.economics.Worth;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** Remembered reads of a block, and what a conversion earns and costs by them. Immutable. */
final class PricedTemperature implements Temperature {
  private static final double MILLIS_PER_DAY = 86_400_000;

  private final ClusterSnapshot snapshot;
  private final Map<Long, FileView> filesById;
  private final Worth worth;

  PricedTemperature(PolicyView view) {
    this.snapshot = view.snapshot();
    this.filesById = view.filesById();
    PolicyRule rule = view.rule();
    this.worth = new Worth(PairCost.of(rule.family()), rule.prices(), view.snapshot().experience());
  }

  @Override
  public double ofFile(FileView file) {
    return snapshot.experience().of(file.id()).opens();
  }

  @Override
  public boolean isHot(FileView file) {
    return worth.ofFast(ofFile(file)) > 0;
  }

  /** The mean of the files' reads, weighted by their bytes in the stripes. */
  @Override
  public double ofStripes(Collection<StripeView> stripes) {
    double weighted = 0;
    long bytes = 0;
    for (StripeView stripe : stripes) {
      for (StripeView.Member member : stripe.members()) {
        if (!member.tombstone()) {
          weighted += snapshot.experience().of(member.ownerId()).opens() * member.lengthBytes();
          bytes += member.lengthBytes();
        }
      }
    }
    return weighted / Math.max(1, bytes);
  }

  /** Days since somebody has read or written one of the files; 0 if there is none. */
  private double idleDays(Collection<StripeView> stripes) {
    long last = 0;
    for (StripeView stripe : stripes) {
      for (StripeView.Member member : stripe.members()) {
        FileView file = member.tombstone() ? null : filesById.get(member.ownerId());
        if (file != null) {
          last = Math.max(last, lastUse(file));
        }
      }
    }
    return last == 0 ? 0 : daysSince(last);
  }

  private long lastUse(FileView file) {
    return Math.max(snapshot.experience().of(file.id()).lastMillis(), file.modifiedMillis());
  }

  private double daysSince(long millis) {
    return Math.max(0, snapshot.nowMillis() - millis) / MILLIS_PER_DAY;
  }

  @Override
  public Optional<String> whyCompact(Collection<StripeView> stripes) {
    double reads = ofStripes(stripes);
    double idle = idleDays(stripes);
    Worth.Sides sides = worth.toCompact(reads, idle);
    return why(sides, "%s, not read for %s days".formatted(show(reads), number(idle)));
  }

  @Override
  public Optional<String> whyFast(double heat) {
    return why(worth.toFast(heat), show(heat));
  }

  @Override
  public Optional<String> whySwap(double hotter, double colder, double colderPart) {
    Worth.Sides sides = worth.swap(hotter, colder, colderPart);
    return sides.pays() ? Optional.of("; " + show(sides)) : Optional.empty();
  }

  private static Optional<String> why(Worth.Sides sides, String heat) {
    return sides.pays() ? Optional.of(heat + "; " + show(sides)) : Optional.empty();
  }

  private static String show(Worth.Sides sides) {
    return "the conversion earns %s and costs %s block moves per block"
        .formatted(number(sides.earns()), number(sides.costs()));
  }

  @Override
  public boolean mayYield(double colder, double hotter) {
    return colder < hotter;
  }

  @Override
  public String show(double value) {
    return number(value) + " remembered reads";
  }

  /** By the mean of the file's stripes, which convert as a whole. */
  @Override
  public String explain(FileView file, Collection<StripeView> stripes, boolean compact) {
    double reads = ofStripes(stripes);
    Worth.Sides sides = compact ? worth.toFast(reads) : worth.toCompact(reads, idleDays(stripes));
    return "%s, its stripes %s; a conversion to the %s code would earn %s and cost %s block moves per block"
        .formatted(
            show(ofFile(file)),
            number(reads),
            compact ? "fast" : "compact",
            number(sides.earns()),
            number(sides.costs()));
  }

  @Override
  public String showHot() {
    return "new data is worth the fast code from %s remembered reads, compact data from %s"
        .formatted(
            number(Math.max(0, worth.evenReads())), number(Math.max(0, worth.payingReads())));
  }

  /** Three digits, or all of a larger number. */
  private static String number(double value) {
    return String.format(Locale.ROOT, Math.abs(value) < 999.5 ? "%.3g" : "%,.0f", value);
  }
}
