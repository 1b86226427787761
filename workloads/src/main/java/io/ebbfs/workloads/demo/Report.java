package io.ebbfs.workloads.demo;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Everything the demo found out; its fields are those of demo-report.json. */
final class Report {
  /** One reading of every file and the comparison of its SHA-256 with the local file's. */
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

  /** A code: what repairing and degraded reading cost under it. */
  public record CodeCost(long repairedBlocks, long repairBlocksRead, double blocksReadPerRepair) {}

  /** Transitions of one kind and one pair of codes, with an example of a reason. */
  public record Converted(String kind, String toCode, long count, String exampleReason) {}

  /** Shares of the final overhead that the code itself does not ask for; see PackingCost. */
  public record Packing(double padding, double unfilled, double dead) {}

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

  void write(Path json, Path html) throws IOException {
    ObjectMapper mapper = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);
    String text = mapper.writeValueAsString(this);
    Files.writeString(json, text + "\n");
    try (InputStream template = Report.class.getResourceAsStream("demo-report.html")) {
      String page = new String(template.readAllBytes(), StandardCharsets.UTF_8);
      // A path in the data must not be able to end the script element.
      Files.writeString(html, page.replace("/*REPORT*/null", text.replace("</", "<\\/")));
    }
  }
}
