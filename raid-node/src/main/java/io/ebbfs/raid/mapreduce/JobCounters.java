package io.ebbfs.raid.mapreduce;

import io.ebbfs.raid.executor.TransitionOutcome;
import java.util.Map;
import java.util.TreeMap;
import org.apache.hadoop.mapreduce.Counter;
import org.apache.hadoop.mapreduce.Counters;
import org.apache.hadoop.mapreduce.TaskAttemptContext;

/**
 * The counters of a job, in the group "EbbFS": {@code KIND.committed}, {@code KIND.refused}, {@code
 * KIND.failed}, {@code KIND.abandoned}, {@code KIND.blocksRead}, {@code KIND.bytesRead}, {@code
 * KIND.bytesWritten}, {@code KIND.checks}, {@code KIND.checkBlocksRead}, {@code
 * KIND.checkBytesRead}.
 */
final class JobCounters {
  private static final String GROUP = "EbbFS";

  private JobCounters() {}

  static void add(TaskAttemptContext context, TransitionOutcome outcome) {
    String kind = outcome.kind().name();
    add(context, kind + "." + outcome.result().name().toLowerCase(java.util.Locale.ROOT), 1);
    add(context, kind + ".blocksRead", outcome.work().blocksRead());
    add(context, kind + ".bytesRead", outcome.work().bytesRead());
    add(context, kind + ".bytesWritten", outcome.work().bytesWritten());
    add(context, kind + ".checks", outcome.work().checks());
    add(context, kind + ".checkBlocksRead", outcome.work().checkBlocksRead());
    add(context, kind + ".checkBytesRead", outcome.work().checkBytesRead());
  }

  private static void add(TaskAttemptContext context, String name, long value) {
    context.getCounter(GROUP, name).increment(value);
  }

  static Map<String, Long> read(Counters counters) {
    Map<String, Long> values = new TreeMap<>();
    if (counters != null) {
      for (Counter counter : counters.getGroup(GROUP)) {
        values.put(counter.getName(), counter.getValue());
      }
    }
    return values;
  }
}
