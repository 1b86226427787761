package io.ebbfs.common.http;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryUsage;
import java.util.List;

/** Metrics in the text format of Prometheus, version 0.0.4. Not thread-safe. */
public final class PrometheusText {
  private static final double MILLIS_PER_SECOND = 1_000;

  private final StringBuilder out = new StringBuilder();

  /** Begins a metric; its lines follow. */
  public PrometheusText family(String name, String type, String help) {
    out.append("# HELP ").append(name).append(' ').append(help).append('\n');
    out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
    return this;
  }

  /** The value of a metric without labels. */
  public PrometheusText line(String name, double value) {
    return labelled(name, "", value);
  }

  /** The value of a metric with one label. */
  public PrometheusText line(String name, String label, String of, double value) {
    return labelled(name, "{" + label + "=\"" + escaped(of) + "\"}", value);
  }

  private PrometheusText labelled(String name, String labels, double value) {
    out.append(name).append(labels).append(' ').append(number(value)).append('\n');
    return this;
  }

  /** A whole metric with one value that goes up and down. */
  public PrometheusText gauge(String name, String help, double value) {
    return family(name, "gauge", help).line(name, value);
  }

  /** A whole metric with one value that only grows. */
  public PrometheusText counter(String name, String help, double value) {
    return family(name, "counter", help).line(name, value);
  }

  /** Adds what every process of Java has: memory, collections of garbage, threads, its age. */
  public PrometheusText withProcess() {
    MemoryUsage heap = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage();
    gauge("ebbfs_jvm_heap_used_bytes", "Bytes of the heap in use", heap.getUsed());
    gauge("ebbfs_jvm_heap_max_bytes", "Limit of the heap", heap.getMax());
    List<GarbageCollectorMXBean> collectors = ManagementFactory.getGarbageCollectorMXBeans();
    counter(
        "ebbfs_jvm_gc_seconds_total",
        "Time of all collections of garbage",
        collectors.stream().mapToLong(GarbageCollectorMXBean::getCollectionTime).sum()
            / MILLIS_PER_SECOND);
    gauge("ebbfs_jvm_threads", "Threads", ManagementFactory.getThreadMXBean().getThreadCount());
    return gauge(
        "ebbfs_process_start_time_seconds",
        "When the process started, in seconds since 1970",
        ManagementFactory.getRuntimeMXBean().getStartTime() / MILLIS_PER_SECOND);
  }

  private static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  private static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15
        ? Long.toString((long) value)
        : Double.toString(value);
  }

  @Override
  public String toString() {
    return out.toString();
  }
}
