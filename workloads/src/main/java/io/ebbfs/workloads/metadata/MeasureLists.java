package io.ebbfs.workloads.metadata;

import io.ebbfs.workloads.results.MetadataResults.Measure;
import io.ebbfs.workloads.results.MetadataResults.Values;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Collects the values of measures by system. Not thread-safe. */
final class MeasureLists {
  /** What a value is of. */
  private record Key(String name, String unit, String size, Double goal) {}

  private final Map<Key, Map<String, List<Double>>> values = new LinkedHashMap<>();

  void add(String name, String unit, String size, String system, double value) {
    add(name, unit, size, null, system, value);
  }

  /**
   * Adds a value.
   *
   * @param goal what EbbFS is to stay below; null for none
   */
  void add(String name, String unit, String size, Double goal, String system, double value) {
    values
        .computeIfAbsent(new Key(name, unit, size, goal), key -> new LinkedHashMap<>())
        .computeIfAbsent(system, key -> new ArrayList<>())
        .add(value);
  }

  /** The measures in the order of their first values. */
  List<Measure> measures() {
    List<Measure> measures = new ArrayList<>();
    values.forEach(
        (key, bySystem) -> {
          List<Double> hdfs = bySystem.get(ComparedNamenodes.HDFS);
          measures.add(
              new Measure(
                  key.name(),
                  key.unit(),
                  key.size(),
                  key.goal(),
                  Values.of(bySystem.get(ComparedNamenodes.EBBFS)),
                  hdfs == null ? null : Values.of(hdfs)));
        });
    return measures;
  }
}
