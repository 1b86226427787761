package io.ebbfs.fault;

import io.ebbfs.common.config.Section;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Faults with the times at which they happen. Immutable.
 *
 * @param entries in the order of the file
 */
public record Timetable(List<Entry> entries) {
  /** No faults. */
  public static final Timetable NONE = new Timetable(List.of());

  public Timetable {
    entries = List.copyOf(entries);
  }

  /** The numbers of a cluster, which limit the targets. */
  public record Shape(int servers, int disks, int racks) {}

  /**
   * One line of a timetable.
   *
   * @param atMillis after the start
   * @param target a path or block id, {@code SERVER/DISK}, or the number of a server or rack; empty
   *     for a random one
   * @param forMillis duration of the fault; 0 if it does not end
   * @param rate of a slow link, in the notation of tc; empty for other faults
   * @param times number of deaths of a flapping server; 0 for other faults
   * @param periodMillis from one death of a flapping server to the next; it is down for half of it
   * @param line in the file
   */
  public record Entry(
      long atMillis,
      Fault fault,
      String target,
      long forMillis,
      String rate,
      int times,
      long periodMillis,
      int line) {
    /** "server 3", "disk". */
    @Override
    public String toString() {
      return fault.word() + (target.isEmpty() ? "" : " " + target);
    }
  }

  /**
   * The begin or end of a fault.
   *
   * @param entry index of the entry
   * @param begins whether the fault begins; otherwise it ends
   */
  public record Event(long atMillis, int entry, boolean begins) {}

  /** All events in the order of time. At the same time, an end comes before a begin. */
  public List<Event> events() {
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < entries.size(); i++) {
      Entry entry = entries.get(i);
      boolean flaps = entry.fault == Fault.FLAP;
      for (int time = 0; time < (flaps ? entry.times : 1); time++) {
        long begin = entry.atMillis + time * entry.periodMillis;
        long lasts = flaps ? entry.periodMillis / 2 : entry.forMillis;
        events.add(new Event(begin, i, true));
        if (lasts > 0) {
          events.add(new Event(begin + lasts, i, false));
        }
      }
    }
    events.sort(Comparator.comparingLong(Event::atMillis).thenComparing(Event::begins));
    return List.copyOf(events);
  }

  /** The time of the last event; 0 if there is none. */
  public long endMillis() {
    return events().stream().mapToLong(Event::atMillis).max().orElse(0);
  }

  /** Reads a list of entries. Errors are noted in the section. */
  public static Timetable read(Section section, String key, Shape shape) {
    List<Entry> entries = new ArrayList<>();
    for (Section line : section.sections(key)) {
      new TimetableReader(line, shape).read().ifPresent(entries::add);
      line.end();
    }
    return new Timetable(entries);
  }
}
