package io.ebbfs.manager.api;

import io.ebbfs.common.config.Units;
import io.ebbfs.manager.view.FileView;
import io.ebbfs.manager.view.NamespaceView;
import io.ebbfs.manager.view.Pin;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the pin of a path means for the files at or below it, as far as they are counted.
 *
 * @param before the pin of the path itself
 * @param files that were looked at
 * @param bytes of these files
 * @param alike files of these that follow the same pin now
 * @param whole whether all files were looked at
 * @param known whether the view has been filled; else the files are those that it has so far
 */
record PinPlan(
    String path,
    Pin pin,
    Pin before,
    long files,
    long bytes,
    long alike,
    boolean whole,
    boolean known) {
  /** More files would take longer than an operator likes to wait. */
  static final int MOST_FILES = 4_000;

  private static final String NOT_KNOWN =
      "How many files it concerns is not known yet, because the manager's view of the namespace is being filled: ask again with dryRun=true in a while. A pin of a directory or file below goes first.";

  /** Files and directories that are looked at: there may be directories without files. */
  static final int MOST_INODES = 3 * MOST_FILES;

  static PinPlan of(NamespaceView view, String path, Pin pin, Pin before) {
    boolean known = view.position().isPresent(); // before the files are looked at
    long[] sums = new long[3];
    boolean whole =
        view.eachFileBelow(
            path,
            MOST_INODES,
            file -> {
              if (sums[0] == MOST_FILES) {
                return false;
              }
              add(sums, file, pin);
              return true;
            });
    return new PinPlan(path, pin, before, sums[0], sums[1], sums[2], whole, known);
  }

  private static void add(long[] sums, FileView file, Pin pin) {
    sums[0]++;
    sums[1] += file.lengthBytes();
    sums[2] += file.pin() == pin ? 1 : 0;
  }

  List<String> summary() {
    return List.of(
        "The pin of %s is '%s' instead of '%s'; it is kept as the attribute user.ebbfs.pin."
            .formatted(path, pin.text(), before.text()),
        known ? concerned() : NOT_KNOWN,
        switch (pin) {
          case NONE -> "Reads decide again about these files. Nothing is converted at once.";
          case REPLICAS ->
              "Encoded data of these files becomes replicas again over the next runs of the policy,"
                  + " within the bound.";
          case FAST, COMPACT ->
              "Data that is not in the %s code is encoded or converted over the next runs of the policy, within the bound."
                  .formatted(pin.text());
        });
  }

  private String concerned() {
    return "It concerns %s%,d %s with %s, of which %,d already follow the pin '%s'. A pin of a directory or file below goes first."
        .formatted(
            whole ? "" : files < MOST_FILES ? "at least " : "more than ",
            files,
            files == 1 ? "file" : "files",
            Units.showBytes(bytes),
            alike,
            pin.text());
  }

  /** Empty if the files are not known yet. */
  Map<String, Number> figures() {
    Map<String, Number> figures = new LinkedHashMap<>();
    if (known) {
      figures.put("files", files);
      figures.put("dataBytes", bytes);
      figures.put("alike", alike);
    }
    return figures;
  }
}
