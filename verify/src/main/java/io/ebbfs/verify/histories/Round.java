package io.ebbfs.verify.histories;

import io.ebbfs.verify.histories.Call.Verb;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/** The calls of some clients at once in a directory that is empty at first. */
final class Round {
  private static final int FINAL_TRIES = 60;
  private static final long FINAL_PAUSE_MILLIS = 1_000;

  private final String directory;
  private final List<? extends NamespaceClient> clients;
  private final int calls;
  private final int mostPauseMillis;
  private final Consumer<IOException> failures;

  /**
   * A round.
   *
   * @param calls of each client
   * @param mostPauseMillis the longest pause of a client between two calls
   * @param failures is told why an answer is unknown, by many threads
   */
  Round(
      String directory,
      List<? extends NamespaceClient> clients,
      int calls,
      int mostPauseMillis,
      Consumer<IOException> failures) {
    this.directory = directory;
    this.clients = clients;
    this.calls = calls;
    this.mostPauseMillis = mostPauseMillis;
    this.failures = failures;
  }

  /** Runs the calls, then lists what is there. Returns all of them. */
  List<Event> run(Random random, ExecutorService threads) throws IOException, InterruptedException {
    List<Future<List<Event>>> running = new ArrayList<>();
    for (int i = 0; i < clients.size(); i++) {
      int client = i;
      Random own = new Random(random.nextLong());
      running.add(threads.submit(() -> calls(client, own)));
    }
    List<Event> events = new ArrayList<>();
    for (Future<List<Event>> client : running) {
      try {
        events.addAll(client.get());
      } catch (ExecutionException e) {
        throw new IOException("a client has ended by a mistake: " + e.getCause(), e);
      }
    }
    for (Call call : CallSource.everything()) {
      events.add(knownAnswer(call));
    }
    return events;
  }

  private List<Event> calls(int client, Random random) throws InterruptedException {
    CallSource source = new CallSource(random);
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < calls; i++) {
      Event event = event(client, source.next());
      events.add(event);
      if (event.call().verb() == Verb.OPEN && event.isDone()) {
        event = event(client, closing(event));
        events.add(event);
      }
      if (event.answer() == null) {
        break; // as if it had died: the search takes twice as long with each unknown answer
      }
      if (random.nextBoolean()) {
        Thread.sleep(random.nextInt(mostPauseMillis));
      }
    }
    return events;
  }

  private static Call closing(Event opened) {
    long id = opened.answer().seen().get("").id();
    return new Call(Verb.CLOSE, opened.call().path(), Long.toString(id));
  }

  private Event event(int client, Call call) throws InterruptedException {
    long began = System.nanoTime();
    try {
      Answer answer = clients.get(client).run(directory, call);
      return new Event(client, call, answer, began, System.nanoTime());
    } catch (IOException e) {
      failures.accept(e);
      return Event.unknown(client, call, began);
    }
  }

  private Event knownAnswer(Call call) throws IOException, InterruptedException {
    for (int i = 0; i < FINAL_TRIES; i++) {
      Event event = event(0, call);
      if (event.answer() != null) {
        return event;
      }
      Thread.sleep(FINAL_PAUSE_MILLIS);
    }
    throw new IOException(
        "%s of %s has had no answer in %d tries".formatted(call, directory, FINAL_TRIES));
  }
}
