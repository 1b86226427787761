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
    List<Long> lengths = new ArrayList<>();
    long data = 0;
    for (FileView file : files) {
      data += file.replicatedBytes();
      for (int i = file.stripedBlocks(); i < file.blocks(); i++) {
        lengths.add(file.blockLengthBytes(i));
      }
    }
    lengths.sort(Comparator.reverseOrder());
    long parity = 0;
    for (int from = 0; from < lengths.size(); from += code.dataCount()) {
      Map<Integer, Long> stripe = new TreeMap<>();
      for (int i = from; i < Math.min(from + code.dataCount(), lengths.size()); i++) {
        stripe.put(i - from, lengths.get(i));
      }
      parity += StripeSize.reckonedParityBytes(code, stripe);
    }
    return new Packing(data, parity, lengths.size());
  }

  long storedBytes() {
    return dataBytes + parityBytes;
  }
}
