package io.ebbfs.verify.histories;

import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The model: the nodes of a round's directory by path, and what each call does to them if it runs
 * alone. Immutable.
 */
record Tree(SortedMap<String, Node> nodes) {
  static final Tree EMPTY = new Tree(new TreeMap<>());

  /** The tree after a call, and what the client is told. */
  record Step(Tree after, Answer answer) {}

  /**
   * Runs a call.
   *
   * @param told what the client was told, from which the id of a new file is taken; null if unknown
   */
  Step run(Call call, Answer told) {
    if (told != null && told.kind() == Answer.Kind.BUSY) {
      return unchanged(Answer.BUSY);
    }
    return switch (call.verb()) {
      case MKDIRS -> mkdirs(call.path());
      case CREATE -> create(call.path(), told);
      case OPEN -> open(call.path(), told);
      case CLOSE -> close(Long.parseLong(call.target()));
      case RENAME -> rename(call.path(), call.target(), false);
      case RENAME_OVER -> rename(call.path(), call.target(), true);
      case DELETE -> delete(call.path());
      case STAT -> stat(call.path());
      case LIST -> list(call.path());
    };
  }

  private Step unchanged(Answer answer) {
    return new Step(this, answer);
  }

  private Step refused() {
    return unchanged(Answer.REFUSED);
  }

  private static String parentOf(String path) {
    return path.contains("/") ? path.substring(0, path.lastIndexOf('/')) : "";
  }

  private boolean isDirectory(String path) {
    return path.isEmpty() || nodes.containsKey(path) && nodes.get(path).directory();
  }

  private boolean isEmpty(String directory) {
    return nodes.keySet().stream().noneMatch(path -> path.startsWith(directory + "/"));
  }

  private Step done(SortedMap<String, Node> changed) {
    return new Step(new Tree(changed), Answer.DONE);
  }

  private Step mkdirs(String path) {
    SortedMap<String, Node> changed = new TreeMap<>(nodes);
    for (String missing = path; !missing.isEmpty(); missing = parentOf(missing)) {
      if (!changed.computeIfAbsent(missing, p -> Node.newDirectory()).directory()) {
        return refused();
      }
    }
    return done(changed);
  }

  private Step create(String path, Answer told) {
    if (nodes.containsKey(path) || !isDirectory(parentOf(path))) {
      return refused();
    }
    long id = told == null || told.seen().isEmpty() ? Node.UNKNOWN : told.seen().get("").id();
    SortedMap<String, Node> changed = new TreeMap<>(nodes);
    changed.put(path, Node.file(id));
    return new Step(new Tree(changed), Answer.made(id));
  }

  /** From now on the id of the file is known. */
  private Step open(String path, Answer told) {
    Node file = nodes.get(path);
    if (file == null || file.directory()) {
      return refused();
    }
    Answer answer = Answer.saw(Map.of("", file));
    if (told == null || !told.agreesWith(answer)) {
      return unchanged(answer);
    }
    SortedMap<String, Node> changed = new TreeMap<>(nodes);
    changed.put(path, told.seen().get(""));
    return new Step(new Tree(changed), answer);
  }

  private Step close(long id) {
    for (Map.Entry<String, Node> entry : nodes.entrySet()) {
      if (entry.getValue().id() == id) {
        SortedMap<String, Node> changed = new TreeMap<>(nodes);
        changed.put(entry.getKey(), entry.getValue().longer());
        return done(changed);
      }
    }
    return refused();
  }

  private Step rename(String from, String to, boolean over) {
    Node moved = nodes.get(from);
    boolean possible =
        moved != null
            && !from.equals(to)
            && !to.startsWith(from + "/")
            && isDirectory(parentOf(to))
            && (!nodes.containsKey(to) || over && mayReplace(moved, to));
    if (!possible) {
      return refused();
    }
    SortedMap<String, Node> changed = new TreeMap<>(nodes);
    changed.keySet().removeIf(path -> path.equals(from) || path.startsWith(from + "/"));
    for (Map.Entry<String, Node> entry : nodes.entrySet()) {
      if (entry.getKey().equals(from) || entry.getKey().startsWith(from + "/")) {
        changed.put(to + entry.getKey().substring(from.length()), entry.getValue());
      }
    }
    return done(changed);
  }

  private boolean mayReplace(Node moved, String to) {
    return moved.directory() == nodes.get(to).directory() && isEmpty(to);
  }

  private Step delete(String path) {
    if (!nodes.containsKey(path) || !isEmpty(path)) {
      return refused();
    }
    SortedMap<String, Node> changed = new TreeMap<>(nodes);
    changed.remove(path);
    return done(changed);
  }

  private Step stat(String path) {
    Node found = nodes.get(path);
    return found == null ? refused() : unchanged(Answer.saw(Map.of("", found)));
  }

  private Step list(String path) {
    if (!isDirectory(path)) {
      return stat(path);
    }
    SortedMap<String, Node> seen = new TreeMap<>();
    nodes.forEach(
        (child, node) -> {
          if (parentOf(child).equals(path)) {
            seen.put(path.isEmpty() ? child : child.substring(path.length() + 1), node);
          }
        });
    return unchanged(Answer.saw(seen));
  }
}
