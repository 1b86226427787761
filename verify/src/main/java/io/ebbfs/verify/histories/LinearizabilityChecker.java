package io.ebbfs.verify.histories;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides whether calls that overlapped can be put in one order, in which each takes effect at a
 * moment between its begin and its end, and which gives the answers that the clients got from the
 * model. The search is that of Wing and Gong with the memory of Lowe ("Testing for
 * linearizability", 2017): a state that was reached once with the same calls is not searched again.
 * A call whose answer is unknown may take effect at any time after its begin, or not at all.
 */
final class LinearizabilityChecker {
  private final List<Event> events;
  private final Set<Reached> seen = new HashSet<>();
  private final Deque<Choice> order = new ArrayDeque<>();
  private List<Event> longest = List.of();
  private Tree longestTree = Tree.EMPTY;

  private record Reached(BitSet done, Tree tree) {}

  private record Choice(int event, Tree before) {}

  /**
   * A history without such an order.
   *
   * @param longest the longest part of an order that was found
   * @param tree the tree after it
   * @param next the calls of which one would have had to be next, or two that made the same inode
   */
  record Violation(List<Event> longest, Tree tree, List<Event> next) {}

  private LinearizabilityChecker(List<Event> events) {
    this.events = events.stream().sorted(Comparator.comparingLong(Event::began)).toList();
  }

  /** The violation in a history on a directory that is empty at first, or empty. */
  static Optional<Violation> check(List<Event> events) {
    return repeatedId(events).or(() -> new LinearizabilityChecker(events).search());
  }

  /** Two files with one id; the model does not remember the ids of deleted files. */
  private static Optional<Violation> repeatedId(List<Event> events) {
    Map<Long, Event> makers = new HashMap<>();
    for (Event event : events) {
      if (event.call().verb() == Call.Verb.CREATE && event.isDone()) {
        Event other = makers.putIfAbsent(event.answer().seen().get("").id(), event);
        if (other != null) {
          return Optional.of(new Violation(List.of(), Tree.EMPTY, List.of(other, event)));
        }
      }
    }
    return Optional.empty();
  }

  private Optional<Violation> search() {
    BitSet done = new BitSet(events.size());
    Tree tree = Tree.EMPTY;
    int from = 0;
    while (!isComplete(done)) {
      int chosen = next(done, tree, from);
      if (chosen >= 0) {
        order.push(new Choice(chosen, tree));
        tree = step(tree, chosen).after();
        done.set(chosen);
        noteLongest(tree);
        from = 0;
      } else if (order.isEmpty()) {
        return Optional.of(new Violation(longest, longestTree, candidatesAfter(longest)));
      } else {
        Choice last = order.pop();
        done.clear(last.event());
        tree = last.before();
        from = last.event() + 1;
      }
    }
    return Optional.empty();
  }

  private boolean isComplete(BitSet done) {
    for (int i = done.nextClearBit(0); i < events.size(); i = done.nextClearBit(i + 1)) {
      if (events.get(i).answer() != null) {
        return false;
      }
    }
    return true;
  }

  private Tree.Step step(Tree tree, int event) {
    return tree.run(events.get(event).call(), events.get(event).answer());
  }

  /** The first event from an index on that may be next, or -1. */
  private int next(BitSet done, Tree tree, int from) {
    long end = firstEnd(done);
    for (int i = done.nextClearBit(from); i < events.size(); i = done.nextClearBit(i + 1)) {
      Event event = events.get(i);
      if (event.began() > end) {
        return -1;
      }
      Tree.Step step = step(tree, i);
      if (mayHaveHappened(event, step, tree)) {
        BitSet with = (BitSet) done.clone();
        with.set(i);
        if (seen.add(new Reached(with, step.after()))) {
          return i;
        }
      }
    }
    return -1;
  }

  /** A call without a known answer matters only if it changes something. */
  private static boolean mayHaveHappened(Event event, Tree.Step step, Tree before) {
    return event.answer() == null
        ? !step.after().equals(before)
        : step.answer().agreesWith(event.answer());
  }

  /** Nothing that begins later can come before the call that ends first. */
  private long firstEnd(BitSet done) {
    long end = Event.NEVER;
    for (int i = done.nextClearBit(0); i < events.size(); i = done.nextClearBit(i + 1)) {
      if (events.get(i).began() > end) {
        break;
      }
      end = Math.min(end, events.get(i).ended());
    }
    return end;
  }

  private void noteLongest(Tree tree) {
    if (order.size() > longest.size()) {
      List<Event> found = new ArrayList<>();
      order.descendingIterator().forEachRemaining(choice -> found.add(events.get(choice.event())));
      longest = found;
      longestTree = tree;
    }
  }

  private List<Event> candidatesAfter(List<Event> part) {
    BitSet done = new BitSet();
    for (int i = 0; i < events.size(); i++) {
      done.set(i, part.contains(events.get(i)));
    }
    long end = firstEnd(done);
    return events.stream().filter(event -> !part.contains(event) && event.began() <= end).toList();
  }
}
