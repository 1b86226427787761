package io.ebbfs.workloads.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import io.ebbfs.common.charts.ChartLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The results of a demo. The fields are those of demo-report.json. */
final class DemoReport {
  /** One reading of every file, whose SHA-256 was compared with that of the local file. */
  public record Verification(
      String after,
      int files,
      long bytes,
      int mismatches,
      int unreadable,
      double seconds,
      long degradedReads) {}

  /** Stored bytes per byte of data, at one moment, by family. */
  public record Sample(double seconds, String phase, Map<String, Double> overhead) {}

  /** The cost of repairs in one code. */
  public record CodeCost(long repairedBlocks, long repairBlocksRead, double blocksReadPerRepair) {}

  /** The transitions of one kind to one code, with the reason of one of them. */
  public record Converted(String kind, String toCode, long count, String exampleReason) {}

  /** The parts of the final overhead that the code itself does not need; see PackingCost. */
  public record Packing(double padding, double unfilled, double dead) {}

  /**
   * What the fast code of a family serves, and what a degraded read costs in both of its codes.
   *
   * @param shareOfReads of the block reads by background readers since all was encoded, the share
   *     on data in the fast code; the readings of every file that check it are not counted
   * @param shareOfBytes of the bytes of the family, the share in the fast code at the end
   * @param degradedReadBlocksFast blocks that a lost block is decoded from, median of all blocks
   *     that were lost; each lost block counts once, however often it was read
   * @param degradedReadMillisFast median of timed reads; null if no block could be timed
   */
  public record FastCode(
      String family,
      String fast,
      String compact,
      double shareOfReads,
      double shareOfBytes,
      Double degradedReadBlocksFast,
      Double degradedReadBlocksCompact,
      Double degradedReadMillisFast,
      Double degradedReadMillisCompact) {}

  /**
   * The files of a family that the demo kept hot.
   *
   * @param shareOfBytes of the bytes of the family
   * @param inFastCode share of the reads of these files that falls on the fast code at the end
   */
  public record HotData(int files, double shareOfBytes, double inFastCode) {}

  /** The least share of the reads of hot files that must fall on the fast code at the end. */
  static final double LEAST_IN_FAST_CODE = 0.75;

  public String dataDirectory;
  public int servers;
  public int disksPerServer;
  public int files;
  public long bytes;
  public int mismatches;
  public int unreadable;
  public Map<String, Double> bound = new TreeMap<>();
  public Map<String, Double> overheadFinal = new TreeMap<>();
  public Map<String, Packing> packingFinal = new TreeMap<>();
  public Map<String, Double> overheadAfterRestart = new TreeMap<>();
  public List<Sample> overheadTimeline = List.of();
  public Map<String, Long> transitions = new TreeMap<>();
  public List<Converted> conversions = List.of();
  public long degradedReads;
  public Map<String, Long> degradedReadsByCode = new TreeMap<>();
  public Map<String, Double> blocksReadPerDegradedRead = new TreeMap<>();
  public Map<String, Double> blocksReadPerRepair = new TreeMap<>();
  public Map<String, CodeCost> repairs = new TreeMap<>();
  public long repairedBlocks;
  public List<FastCode> fastCode = List.of();
  public Map<String, HotData> hotData = new TreeMap<>();
  public Map<String, Long> bytesMoved = new TreeMap<>();
  public Map<String, Double> secondsPerPhase = new TreeMap<>();
  public double secondsTotal;
  public List<Verification> verifications = List.of();
  public List<String> faults = List.of();
  public long backgroundReads;
  public long backgroundReadFailures;
  public long peakResidentBytes;
  public long idleChunkServerResidentBytes;
  public boolean passed;

  /** Whether the hot data of all families that have room for some is in their fast codes. */
  boolean hotDataIsFast() {
    return isFast(hotData);
  }

  static boolean isFast(Map<String, HotData> hotData) {
    return hotData.values().stream().allMatch(hot -> hot.inFastCode() >= LEAST_IN_FAST_CODE);
  }

  void write(Path json, Path html) throws IOException {
    ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    String text = mapper.writeValueAsString(this);
    Files.writeString(json, text + "\n");
    try (InputStream template = DemoReport.class.getResourceAsStream("demo-report.html")) {
      String page = new String(template.readAllBytes(), StandardCharsets.UTF_8);
      // A path in the data must not be able to end the script element.
      Files.writeString(
          html,
          page.replace("<!--CHARTS-->", ChartLibrary.elements())
              .replace("/*REPORT*/null", text.replace("<", "\\u003c")));
    }
  }
}
