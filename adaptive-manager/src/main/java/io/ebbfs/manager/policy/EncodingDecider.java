package io.ebbfs.manager.policy;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.common.config.Units;
import io.ebbfs.manager.bound.PackingForecast;
import io.ebbfs.manager.bound.StorageBound;
import io.ebbfs.manager.config.PolicyRule;
import io.ebbfs.manager.view.FileView;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Makes the decisions that encode chosen files. Of each batch, the stripes are encoded for which
 * the storage bound has room; the shortest blocks wait.
 */
final class EncodingDecider {
  private final PolicyView view;
  private final PolicyRule rule;
  private final StorageBound bound;
  private final ProposalLimit limit;
  private final boolean fastCanShrink;
  private final Map<Long, String> waiting;
  private final Temperature temperature;
  private double roomMissingNow;

  /**
   * @param fastCanShrink whether fast stripes are left that could become compact and so make room
   */
  EncodingDecider(
      PolicyView view,
      StorageBound bound,
      ProposalLimit limit,
      boolean fastCanShrink,
      Map<Long, String> waiting) {
    this.view = view;
    this.rule = view.rule();
    this.bound = bound;
    this.limit = limit;
    this.fastCanShrink = fastCanShrink;
    this.waiting = waiting;
    this.temperature = view.temperature();
  }

  /**
   * Decides the encoding of fast files. There is room for them: whoever chose them asked the bound.
   */
  void encodeFast(List<FileView> files, int unitBlocks, List<Decision> decisions) {
    encode(files, rule.family().fastCode(), unitBlocks, true, decisions);
  }

  /** Decides the encoding into the compact code, or into the single code of the policy. */
  void encodeCompact(List<FileView> files, List<Decision> decisions) {
    ErasureCode code = rule.family().compactCode();
    encode(files, code, code.dataCount(), false, decisions);
  }

  private void encode(
      List<FileView> files,
      ErasureCode code,
      int unitBlocks,
      boolean fast,
      List<Decision> decisions) {
    for (List<FileView> batch : EncodingBatches.divide(files, unitBlocks)) {
      List<PackingForecast> stripes = PackingForecast.stripes(batch, code);
      int count = fast ? stripes.size() : countNow(stripes);
      // Stripes that wait count too: the bound then keeps room for them, or room is made.
      stripes.forEach(stripe -> bound.enter(change(stripe)));
      boolean all = count == stripes.size();
      String why = all ? "to %s by this evaluation".formatted(code.name()) : noRoom(stripes, count);
      String verdict = rule.isSingle() ? why : why + sides(batch);
      batch.forEach(file -> waiting.put(file.id(), verdict));
      if (count > 0) {
        PackingForecast packing = PackingForecast.sum(stripes.subList(0, count));
        limit.take(packing.dataBytes(), count);
        decisions.add(decision(batch, packing, code, all));
      }
    }
  }

  /**
   * How many of the stripes are encoded now. If there is room for none and nothing can make room,
   * all are: their replicas store still more.
   */
  private int countNow(List<PackingForecast> stripes) {
    int count = bound.countThatFitNow(stripes.stream().map(EncodingDecider::change).toList());
    if (count > 0) {
      return count;
    }
    boolean canMakeRoom = limit.isUsed() || fastCanShrink;
    if (!canMakeRoom) {
      return stripes.size();
    }
    roomMissingNow = Math.max(roomMissingNow, bound.lackingNow(change(stripes.get(0))));
    return 0;
  }

  /** Bytes of room that the first stripe of a batch that waits lacks now; 0 if no batch waits. */
  double roomMissingNow() {
    return roomMissingNow;
  }

  static StorageBound.Change change(PackingForecast packing) {
    return new StorageBound.Change(packing.mostStoredBytes(), packing.dataBytes());
  }

  private Decision decision(
      List<FileView> batch, PackingForecast packing, ErasureCode code, boolean all) {
    return Decision.encode(
        rule,
        code.name(),
        batch.stream().map(FileView::id).toList(),
        reason(batch, packing, code),
        packing.dataBytes(),
        all ? 0 : packing.blocks());
  }

  private String noRoom(List<PackingForecast> stripes, int count) {
    PackingForecast rest = PackingForecast.sum(stripes.subList(count, stripes.size()));
    return String.format(
        Locale.ROOT,
        "the shortest %d of %d blocks that are encoded together wait for room: they would store"
            + " %.2fx, the bound is %s",
        rest.blocks(),
        PackingForecast.sum(stripes).blocks(),
        (double) rest.storedBytes() / Math.max(1, rest.dataBytes()),
        bound.show());
  }

  private String reason(List<FileView> batch, PackingForecast packing, ErasureCode code) {
    return String.format(
        Locale.ROOT,
        "%d files, %s, write-cold for %s; %s; stored %.2fx instead of %.2fx",
        batch.size(),
        Units.showBytes(packing.dataBytes()),
        Units.showMillis(rule.writeColdAfterMillis()),
        rule.isSingle() ? "the only code of the policy" : heat(batch, code),
        (double) packing.storedBytes() / Math.max(1, packing.dataBytes()),
        batch.stream().mapToLong(FileView::replicatedStoredBytes).sum()
            / (double) Math.max(1, packing.dataBytes()));
  }

  private String heat(List<FileView> batch, ErasureCode code) {
    boolean fast = code.name().equals(rule.family().fast());
    double coldest = batch.stream().mapToDouble(temperature::ofFile).min().orElse(0);
    double hottest = batch.stream().mapToDouble(temperature::ofFile).max().orElse(0);
    String noRoom =
        !fast && batch.stream().anyMatch(temperature::isHot) ? ", no room for more fast data" : "";
    return "%s to %s (%s)%s%s"
        .formatted(
            temperature.show(coldest),
            temperature.show(hottest),
            temperature.showHot(),
            sides(batch),
            noRoom);
  }

  private String sides(List<FileView> batch) {
    return temperature.sidesOfFast(batch).map(text -> "; " + text).orElse("");
  }
}
