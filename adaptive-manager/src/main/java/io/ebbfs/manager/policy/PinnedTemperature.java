package io.ebbfs.manager.policy;

import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.Pin;
import io.ebbfs.manager.view.StripeView;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/**
 * The temperature of files and stripes with their pins. Data that is pinned fast is hotter than all
 * data without a pin, and data that is pinned compact is colder. So the storage bound goes before a
 * pin: pinned fast data gets room first and gives it back last. A stripe that holds files of both
 * pins is pinned fast. As thread-safe as the temperature by reads.
 */
final class PinnedTemperature implements Temperature {
  private static final double FAST = Double.POSITIVE_INFINITY;
  private static final double COMPACT = Double.NEGATIVE_INFINITY;

  private final Temperature byReads;

  PinnedTemperature(Temperature byReads) {
    this.byReads = byReads;
  }

  @Override
  public double ofFile(FileView file) {
    return switch (file.pin()) {
      case FAST -> FAST;
      case COMPACT -> COMPACT;
      default -> byReads.ofFile(file);
    };
  }

  @Override
  public double ofStripes(Collection<StripeView> stripes) {
    List<Pin> pins = stripes.stream().map(StripeView::pin).toList();
    return switch (StripeView.pinOf(pins)) {
      case FAST -> FAST;
      case COMPACT -> COMPACT;
      default -> byReads.ofStripes(stripes);
    };
  }

  @Override
  public boolean isHot(FileView file) {
    return switch (file.pin()) {
      case FAST -> true;
      case COMPACT -> false;
      default -> byReads.isHot(file);
    };
  }

  /** A pin is not weighed. */
  @Override
  public Optional<String> sidesOfFast(Collection<FileView> files) {
    return byReads.sidesOfFast(files.stream().filter(file -> file.pin() == Pin.NONE).toList());
  }

  @Override
  public Optional<String> waitsReplicated(FileView file) {
    return file.pin() == Pin.NONE ? byReads.waitsReplicated(file) : Optional.empty();
  }

  @Override
  public Optional<Gain> toCompact(Collection<StripeView> stripes, double heat) {
    return Double.isInfinite(heat) ? gain(heat, COMPACT) : byReads.toCompact(stripes, heat);
  }

  @Override
  public Optional<Gain> toFast(StripeView stripe, double heat) {
    return Double.isInfinite(heat) ? gain(heat, FAST) : byReads.toFast(stripe, heat);
  }

  /** A pin goes before what conversions for reads earn. */
  private Optional<Gain> gain(double heat, double wanted) {
    return heat == wanted
        ? Optional.of(new Gain(Double.POSITIVE_INFINITY, show(heat)))
        : Optional.empty();
  }

  /** The mean of several stripes is infinite, or no number, if one of them is pinned. */
  @Override
  public Optional<String> whySwap(
      StripeView hotter, double heat, double colder, double colderPart) {
    return Double.isInfinite(heat) || !Double.isFinite(colder)
        ? Optional.of("")
        : byReads.whySwap(hotter, heat, colder, colderPart);
  }

  @Override
  public boolean mayYield(double colder, double hotter) {
    return Double.isInfinite(colder) || Double.isInfinite(hotter)
        ? colder < hotter
        : byReads.mayYield(colder, hotter);
  }

  @Override
  public String show(double value) {
    return Double.isInfinite(value)
        ? value == FAST ? "pinned fast" : "pinned compact"
        : byReads.show(value);
  }

  @Override
  public String explain(FileView file, Collection<StripeView> stripes, boolean compact) {
    return byReads.explain(file, stripes, compact);
  }

  @Override
  public String showHot() {
    return byReads.showHot();
  }
}
