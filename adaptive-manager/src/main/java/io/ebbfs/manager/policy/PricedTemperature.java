package io.ebbfs.manager.policy;

import io.ebbfs.manager.economics.Experience;
import io.ebbfs.manager.economics.PairCost;
import io.ebbfs.manager.economics.Worth;
import io.ebbfs.manager.view.ClusterSnapshot;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Remembered reads of a block, and what a conversion earns and costs by them. Thread-safe. */
final class PricedTemperature implements Temperature {
  private final ClusterSnapshot snapshot;
  private final Worth worth;
  private final double waitDays;
  private final Map<Long, Double> readsOfStripes = new ConcurrentHashMap<>();

  PricedTemperature(PolicyView view) {
    this.snapshot = view.snapshot();
    this.waitDays = view.rule().waitWhileReadMillis() / Experience.DAY;
    this.worth =
        new Worth(PairCost.of(view.rule().family()), view.rule().prices(), snapshot.experience());
  }

  @Override
  public double ofFile(FileView file) {
    return snapshot.experience().readsOf(file.id());
  }

  @Override
  public boolean isHot(FileView file) {
    return worth.first(ofFile(file), ageDays(file)).pays();
  }

  @Override
  public Optional<String> waitsReplicated(FileView file) {
    double days = ageDays(file);
    double replicas = (double) file.replicatedStoredBytes() / Math.max(1, file.replicatedBytes());
    Worth.Sides sides = worth.stayReplicated(ofFile(file), days, replicas);
    return sides.pays() && days < waitDays
        ? Optional.of(
            "%s in %s days: beside the compact code its replicas earn %s and cost %s block moves per block, so the file waits, but not longer than until an age of %s days (waitWhileRead)"
                .formatted(
                    show(ofFile(file)),
                    number(days),
                    number(sides.earns()),
                    number(sides.costs()),
                    number(waitDays)))
        : Optional.empty();
  }

  @Override
  public Optional<String> sidesOfFast(Collection<FileView> files) {
    double least = Double.POSITIVE_INFINITY;
    double most = Double.NEGATIVE_INFINITY;
    double costs = 0;
    for (FileView file : files) {
      Worth.Sides sides = worth.first(ofFile(file), ageDays(file));
      least = Math.min(least, sides.earns());
      most = Math.max(most, sides.earns());
      costs = sides.costs();
    }
    return files.isEmpty()
        ? Optional.empty()
        : Optional.of(
            "the fast code earns %s and costs %s block moves per block"
                .formatted(range(number(least), number(most)), number(costs)));
  }

  private static String range(String least, String most) {
    return least.equals(most) ? least : least + " to " + most;
  }

  private double ageDays(FileView file) {
    return Math.max(0, snapshot.nowMillis() - file.modifiedMillis()) / Experience.DAY;
  }

  /** The mean of the files' reads, weighted by their bytes in the stripes. */
  @Override
  public double ofStripes(Collection<StripeView> stripes) {
    double reads = 0;
    long bytes = 0;
    for (StripeView stripe : stripes) {
      reads +=
          readsOfStripes.computeIfAbsent(stripe.id(), id -> readsOf(stripe)) * stripe.liveBytes();
      bytes += stripe.liveBytes();
    }
    return reads / Math.max(1, bytes);
  }

  /** Parities and tombstones have no file. */
  private double readsOf(StripeView stripe) {
    double reads = 0;
    long bytes = 0;
    for (StripeView.Member member : stripe.members()) {
      if (member.isOwnedByFile(stripe.id())) {
        reads += snapshot.experience().readsOf(member.ownerId()) * member.lengthBytes();
        bytes += member.lengthBytes();
      }
    }
    return reads / Math.max(1, bytes);
  }

  private double daysInCode(Collection<StripeView> stripes) {
    long since = stripes.stream().mapToLong(StripeView::createdMillis).max().orElse(0);
    return Math.max(0, snapshot.nowMillis() - since) / Experience.DAY;
  }

  @Override
  public Optional<Gain> toCompact(Collection<StripeView> stripes, double heat) {
    return gain(worth.toCompact(heat, daysInCode(stripes)), heat);
  }

  @Override
  public Optional<Gain> toFast(StripeView stripe, double heat) {
    return gain(worth.toFast(heat, daysInCode(List.of(stripe))), heat);
  }

  @Override
  public Optional<String> whySwap(
      StripeView hotter, double heat, double colder, double colderPart) {
    Worth.Sides sides = worth.swap(heat, colder, colderPart, daysInCode(List.of(hotter)));
    return sides.pays() ? Optional.of("; " + show(sides)) : Optional.empty();
  }

  private Optional<Gain> gain(Worth.Sides sides, double reads) {
    return sides.pays()
        ? Optional.of(new Gain(sides.earns() - sides.costs(), show(reads) + "; " + show(sides)))
        : Optional.empty();
  }

  private static String show(Worth.Sides sides) {
    return "within %s days the conversion earns %s and costs %s block moves per block"
        .formatted(number(sides.days()), number(sides.earns()), number(sides.costs()));
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
    double days = daysInCode(stripes);
    Worth.Sides sides = compact ? worth.toFast(reads, days) : worth.toCompact(reads, days);
    return "%s, its stripes %s; within %s days a conversion to the %s code would earn %s and cost %s block moves per block"
        .formatted(
            show(ofFile(file)),
            number(reads),
            number(sides.days()),
            compact ? "fast" : "compact",
            number(sides.earns()),
            number(sides.costs()));
  }

  @Override
  public String showHot() {
    return "new data is worth the fast code from %s remembered reads on, old data from %s"
        .formatted(
            number(Math.max(0, worth.firstReads(0))),
            number(Math.max(0, worth.firstReads(snapshot.experience().memoryDays()))));
  }

  /** Three digits, or all of a larger number. */
  private static String number(double value) {
    return String.format(Locale.ROOT, Math.abs(value) < 999.5 ? "%.3g" : "%,.0f", value);
  }
}
