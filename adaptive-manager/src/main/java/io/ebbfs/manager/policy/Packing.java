package io.ebbfs.manager.policy;

import io.ebbfs.coding.ErasureCode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What files would occupy if their loose blocks were packed into stripes, longest first. */
record Packing(long dataBytes, long parityBytes, int blocks) {
  static final Packing NONE = new Packing(0, 0, 0);

  static Packing of(Collection<FileView> files, ErasureCode code) {
    return sum(stripes(files, code));
  }

  static Packing sum(Collection<Packing> parts) {
    return parts.stream().reduce(NONE, Packing::plus);
  }

  /** The same for each stripe, the one with the longest blocks first. */
  static List<Packing> stripes(Collection<FileView> files, ErasureCode code) {
    List<Long> lengths = new ArrayList<>();
    for (FileView file : files) {
      for (int i = file.stripedBlocks(); i < file.blocks(); i++) {
        lengths.add(file.blockLengthBytes(i));
      }
    }
    lengths.sort(Comparator.reverseOrder());
    List<Packing> stripes = new ArrayList<>();
    for (int from = 0; from < lengths.size(); from += code.dataCount()) {
      stripes.add(
          stripe(lengths.subList(from, Math.min(from + code.dataCount(), lengths.size())), code));
    }
    return stripes;
  }

  private static Packing stripe(List<Long> lengths, ErasureCode code) {
    Map<Integer, Long> stripe = new TreeMap<>();
    for (int i = 0; i < lengths.size(); i++) {
      stripe.put(i, lengths.get(i));
    }
    return new Packing(
        lengths.stream().mapToLong(Long::longValue).sum(),
        StripeSize.reckonedParityBytes(code, stripe),
        lengths.size());
  }

  private Packing plus(Packing other) {
    return new Packing(
        dataBytes + other.dataBytes, parityBytes + other.parityBytes, blocks + other.blocks);
  }

  long storedBytes() {
    return dataBytes + parityBytes;
  }
}
