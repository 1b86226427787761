package io.ebbfs.workloads.demo;

import io.ebbfs.protocol.proto.CodingProtos.FileStatusProto;
import io.ebbfs.protocol.proto.CodingProtos.StripeStatusProto;
import io.ebbfs.protocol.proto.StoreProtos.StripeMemberProto;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Which code the blocks of each file are in, as of the last update. The files are those of the
 * first update: the demo stores no others later. Thread-safe.
 */
final class FileCodes {
  /** Stands for blocks in no stripe. */
  static final String UNENCODED = "";

  private volatile Map<String, FileStatusProto> fileByPath = Map.of();
  private volatile Map<Long, String> pathById = Map.of();
  private volatile Map<Long, Map<String, Integer>> encodedById = Map.of();

  /** Takes over the stored files. */
  void setFiles(Collection<FileStatusProto> files) {
    Map<String, FileStatusProto> byPath = new HashMap<>();
    Map<Long, String> paths = new HashMap<>();
    for (FileStatusProto file : files) {
      byPath.put(file.getPath(), file);
      paths.put(file.getFileId(), file.getPath());
    }
    fileByPath = byPath;
    pathById = paths;
  }

  /** Takes over the present stripes. */
  void setStripes(List<StripeStatusProto> stripes) {
    Map<Long, Map<String, Integer>> encoded = new HashMap<>();
    for (StripeStatusProto stripe : stripes) {
      for (StripeMemberProto member : stripe.getStripe().getMembersList()) {
        if (pathById.containsKey(member.getOwnerId()) && !member.getTombstone()) {
          encoded
              .computeIfAbsent(member.getOwnerId(), id -> new TreeMap<>())
              .merge(stripe.getStripe().getCode(), 1, Integer::sum);
        }
      }
    }
    encodedById = encoded;
  }

  /** The path of the file that owns a block; empty for parities. */
  Optional<String> path(long ownerId) {
    return Optional.ofNullable(pathById.get(ownerId));
  }

  /** How many blocks of a file are in each code; {@link #UNENCODED} stands for none. */
  Map<String, Integer> blocksByCode(String path) {
    FileStatusProto file = fileByPath.get(path);
    if (file == null) {
      return Map.of();
    }
    Map<String, Integer> blocks =
        new TreeMap<>(encodedById.getOrDefault(file.getFileId(), Map.of()));
    int encoded = blocks.values().stream().mapToInt(Integer::intValue).sum();
    if (encoded < file.getBlocks()) {
      blocks.put(UNENCODED, file.getBlocks() - encoded);
    }
    return blocks;
  }

  /** The share of the blocks of some files that is in a code, 0 to 1; 0 without blocks. */
  double share(Collection<String> paths, String code) {
    long all = 0;
    long inCode = 0;
    for (String path : paths) {
      Map<String, Integer> blocks = blocksByCode(path);
      all += blocks.values().stream().mapToLong(Integer::longValue).sum();
      inCode += blocks.getOrDefault(code, 0);
    }
    return all == 0 ? 0 : (double) inCode / all;
  }
}
