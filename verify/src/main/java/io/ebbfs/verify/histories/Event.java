package io.ebbfs.verify.histories;

/**
 * A call with its answer.
 *
 * @param answer null if the client does not know whether the call has had an effect
 * @param began nanoseconds of the clock of the process
 * @param ended the same; {@link #NEVER} if the answer is unknown, because the call may still run
 */
record Event(int client, Call call, Answer answer, long began, long ended) {
  static final long NEVER = Long.MAX_VALUE;

  static Event unknown(int client, Call call, long began) {
    return new Event(client, call, null, began, NEVER);
  }

  boolean isDone() {
    return answer != null && answer.kind() == Answer.Kind.DONE;
  }

  @Override
  public String toString() {
    return "client %d: %s -> %s".formatted(client, call, answer == null ? "unknown" : answer);
  }
}
