package io.ebbfs.fault;

import io.ebbfs.common.config.NearestWord;
import io.ebbfs.common.config.Section;
import io.ebbfs.fault.Timetable.Entry;
import io.ebbfs.fault.Timetable.Shape;
import io.ebbfs.testbed.network.ShapedNetwork;
import java.util.List;
import java.util.Optional;

/** Reads one entry of a timetable and checks it against its cluster. */
final class TimetableReader {
  private static final int MAX_FLAPS = 1_000;
  private static final long LEAST_PERIOD_MILLIS = 1_000;

  private final Section section;
  private final Shape shape;

  TimetableReader(Section section, Shape shape) {
    this.section = section;
    this.shape = shape;
  }

  /** Empty if it names no fault. */
  Optional<Entry> read() {
    long at = section.durationMillis("at", 0);
    if (!section.has("at")) {
      section.problem(
          "at", "a fault has no time", "write 'at: 30s', counted from the start of the workload");
    }
    String word = section.text("fault").orElse("");
    Optional<Fault> found = Fault.of(word);
    if (found.isEmpty()) {
      section.problem(
          "fault",
          word.isEmpty() ? "an entry names no fault" : "unknown fault '" + word + "'",
          NearestWord.to(word, Fault.words())
              .filter(near -> !word.isEmpty())
              .map(near -> "did you mean '" + near + "'?")
              .orElse("write 'fault:' and one of " + String.join(", ", Fault.words())));
      List.of("target", "for", "rate", "times", "period").forEach(section::has);
      return Optional.empty();
    }
    Fault fault = found.get();
    String target = section.text("target").orElse("");
    checkTarget(fault, target);
    return Optional.of(
        new Entry(
            at,
            fault,
            target,
            readFor(fault),
            readRate(fault),
            readTimes(fault),
            readPeriod(fault),
            section.line()));
  }

  private long readFor(Fault fault) {
    long millis = section.durationMillis("for", 0);
    if (section.has("for") && !fault.ends()) {
      section.problem(
          "for",
          "a fault '" + fault.word() + "' does not end by itself",
          fault == Fault.FLAP
              ? "write 'times:' and 'period:' instead"
              : "leave 'for' out; what is lost is repaired by the cluster");
      return 0;
    }
    if (section.has("for") && millis == 0) {
      section.problem("for", "'for: 0' would end it at once", "write a duration such as 20s");
    }
    return millis;
  }

  private String readRate(Fault fault) {
    String rate = section.text("rate").orElse("");
    boolean wanted = fault == Fault.SLOW_LINK;
    if (wanted && !ShapedNetwork.isRate(rate)) {
      section.problem(
          "rate",
          rate.isEmpty() ? "a slow link has no rate" : "'rate: " + rate + "' is no rate of a link",
          "write a rate such as 10mbit or 500kbit");
    } else if (!wanted) {
      refuse("rate", fault);
    }
    return wanted ? rate : "";
  }

  private int readTimes(Fault fault) {
    int times = section.integer("times", 3, 1, MAX_FLAPS);
    if (fault != Fault.FLAP) {
      refuse("times", fault);
      return 0;
    }
    return times;
  }

  private long readPeriod(Fault fault) {
    long period = section.durationMillis("period", 10_000);
    if (fault != Fault.FLAP) {
      refuse("period", fault);
      return 0;
    }
    if (period < LEAST_PERIOD_MILLIS) {
      section.problem(
          "period",
          "a server cannot go down and come up again every " + period + " ms",
          "write at least 1s");
    }
    return period;
  }

  private void refuse(String key, Fault fault) {
    if (section.has(key)) {
      String owner = key.equals("rate") ? Fault.SLOW_LINK.word() : Fault.FLAP.word();
      section.problem(
          key,
          "'" + key + "' means nothing for a fault '" + fault.word() + "'",
          "leave it out; it belongs to '" + owner + "'");
    }
  }

  private void checkTarget(Fault fault, String target) {
    if (fault == Fault.RACK && shape.racks() < 2) {
      section.problem(
          "fault",
          "the cluster has no racks, so none of them can fail",
          "give the cluster at least 2 racks, or use 'server'");
      return;
    }
    if (target.isEmpty()) {
      return;
    }
    switch (fault) {
      case BLOCK, CORRUPT -> {
        if (!target.startsWith("/") && !target.matches("\\d{1,18}")) {
          section.problem(
              "target",
              "'" + target + "' is neither a path nor the id of a block",
              "write a path such as /data/file, or leave it out for any block");
        }
      }
      case DISK -> {
        String[] parts = target.split("/", -1);
        if (parts.length != 2
            || !isBelow(parts[0], shape.servers())
            || !isBelow(parts[1], shape.disks())) {
          section.problem(
              "target",
              "'" + target + "' is no disk",
              "write SERVER/DISK from 0/0 to %d/%d, or leave it out for any"
                  .formatted(shape.servers() - 1, shape.disks() - 1));
        }
      }
      case SERVER, SLOW_LINK, FLAP -> checkNumber(target, "server", shape.servers());
      case RACK -> checkNumber(target, "rack", shape.racks());
    }
  }

  private void checkNumber(String target, String what, int count) {
    if (!isBelow(target, count)) {
      section.problem(
          "target",
          "'" + target + "' is no " + what,
          "write a number from 0 to %d, or leave it out for any".formatted(count - 1));
    }
  }

  private static boolean isBelow(String text, int count) {
    return text.matches("\\d{1,6}") && Integer.parseInt(text) < count;
  }
}
