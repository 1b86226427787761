package io.ebbfs.manager.bound;

import io.ebbfs.coding.code.ErasureCode;
import io.ebbfs.coding.packing.PackedStripe;
import io.ebbfs.coding.packing.StripePacker;
import io.ebbfs.manager.view.FileView;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * What unencoded blocks of files store once they are packed into stripes. The namenode packs with
 * the same function, so the forecast is exact for the lengths that the listing tells. Immutable.
 *
 * @param parityBytes of the stripes as they are packed
 * @param mostParityBytes the same once placement has exchanged blocks of similar length, at most
 */
public record PackingForecast(long dataBytes, long parityBytes, long mostParityBytes, int blocks) {
  static final PackingForecast NONE = new PackingForecast(0, 0, 0, 0);

  public static PackingForecast of(Collection<FileView> files, ErasureCode code) {
    return sum(stripes(files, code));
  }

  public static PackingForecast sum(Collection<PackingForecast> parts) {
    return parts.stream().reduce(NONE, PackingForecast::plus);
  }

  /** A forecast for each stripe, the stripe with the longest blocks first. */
  public static List<PackingForecast> stripes(Collection<FileView> files, ErasureCode code) {
    List<Long> lengths = new ArrayList<>();
    for (FileView file : files) {
      lengths.addAll(file.unencodedLengths());
    }
    return stripes(StripePacker.pack(code, lengths));
  }

  /** A forecast for each of these stripes, whose blocks may still be exchanged. */
  public static List<PackingForecast> stripes(List<PackedStripe> packed) {
    List<Long> most = StripePacker.mostParityBytes(packed);
    List<PackingForecast> stripes = new ArrayList<>();
    for (int s = 0; s < packed.size(); s++) {
      PackedStripe stripe = packed.get(s);
      stripes.add(
          new PackingForecast(
              stripe.dataBytes(), stripe.parityBytes(), most.get(s), stripe.blocks()));
    }
    return stripes;
  }

  private PackingForecast plus(PackingForecast other) {
    return new PackingForecast(
        dataBytes + other.dataBytes,
        parityBytes + other.parityBytes,
        mostParityBytes + other.mostParityBytes,
        blocks + other.blocks);
  }

  public long storedBytes() {
    return dataBytes + parityBytes;
  }

  /** The stored bytes for which a storage bound must have room. */
  public long mostStoredBytes() {
    return dataBytes + mostParityBytes;
  }
}
