package io.ebbfs.namenode.replicas;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * Replicas whose servers are to be asked whether the replica is good. In memory and bounded: a
 * suspicion that does not fit is dropped; whoever reads the replica raises it again. Thread-safe.
 */
final class SuspectReplicas {
  /** A replica of one generation on one disk. */
  record Suspect(String storageUuid, long blockId, long generationStamp) {}

  /** A suspect, why it is one, and how often its server was asked in vain. */
  record Question(Suspect suspect, String why, int askedBefore) {}

  private record Waiting(Question question, long dueMillis) {}

  /** After this many questions without an answer the suspicion is dropped. */
  private static final int MOST_QUESTIONS = 5;

  private static final long RETRY_MILLIS = 5_000;

  /** A replica that was good is not read again for this long, whatever clients say about it. */
  private static final long TRUST_MILLIS = 10_000;

  private final int limit;
  private final Map<Suspect, Waiting> waiting = new LinkedHashMap<>();
  // The time of the last answer, for suspects that were asked a short while ago.
  private final Map<Suspect, Long> answered = new LinkedHashMap<>();

  SuspectReplicas(int limit) {
    this.limit = limit;
  }

  /** Adds a suspect, unless it waits already, was answered a short while ago, or does not fit. */
  synchronized void add(Suspect suspect, String why, long nowMillis) {
    forgetAnswers(nowMillis);
    if (waiting.size() < limit && !answered.containsKey(suspect)) {
      waiting.putIfAbsent(suspect, new Waiting(new Question(suspect, why, 0), nowMillis));
    }
  }

  /** Takes the oldest question that is due. */
  synchronized Optional<Question> take(long nowMillis) {
    Iterator<Waiting> all = waiting.values().iterator();
    while (all.hasNext()) {
      Waiting next = all.next();
      if (next.dueMillis() <= nowMillis) {
        all.remove();
        return Optional.of(next.question());
      }
    }
    return Optional.empty();
  }

  /** The server gave no answer: it is asked again later, a limited number of times. */
  synchronized void retry(Question question, long nowMillis) {
    Question again = new Question(question.suspect(), question.why(), question.askedBefore() + 1);
    if (again.askedBefore() < MOST_QUESTIONS && waiting.size() < limit) {
      waiting.putIfAbsent(again.suspect(), new Waiting(again, nowMillis + RETRY_MILLIS));
    }
  }

  /** The server has answered. */
  synchronized void noteAnswer(Suspect suspect, long nowMillis) {
    forgetAnswers(nowMillis);
    if (answered.size() < limit) {
      answered.put(suspect, nowMillis);
    }
  }

  private void forgetAnswers(long nowMillis) {
    Iterator<Long> times = answered.values().iterator();
    while (times.hasNext() && nowMillis - times.next() > TRUST_MILLIS) {
      times.remove();
    }
  }
}
