package io.ebbfs.verify.soak;

import io.ebbfs.verify.soak.Finding.Kind;
import io.ebbfs.verify.soak.SoakFile.Expectation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;

/**
 * One user of the cluster: writes, appends, flushes, renames and deletes files of its own, one
 * operation after the other, and reads the files of all users, also while these write. Runs in one
 * thread.
 */
final class SoakUser implements Runnable {
  /** Files of one user at a time. */
  private static final int MOST_FILES = 14;

  /** Logical bytes of all users above which more is deleted than written. */
  private static final long MOST_BYTES = 120L << 20;

  private static final int MOST_WRITE = 400_000;
  private static final long RECOVER_NANOS = 60_000_000_000L;

  private final String name;
  private final int process;
  private final SoakClients clients;
  private final SoakBook book;
  private final Random random;
  private final BooleanSupplier goesOn;
  private final List<SoakFile> mine = new ArrayList<>();
  private int serial;
  private int streams;

  SoakUser(
      String name,
      int process,
      SoakClients clients,
      SoakBook book,
      Random random,
      BooleanSupplier goesOn) {
    this.name = name;
    this.process = process;
    this.clients = clients;
    this.book = book;
    this.random = random;
    this.goesOn = goesOn;
  }

  static String directory(String user) {
    return "/soak/" + user;
  }

  @Override
  public void run() {
    try {
      while (goesOn.getAsBoolean()) {
        step();
        Thread.sleep(random.nextInt(120));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      book.find(Kind.STUCK, "user %s ended by a mistake of the soak: %s".formatted(name, e));
      throw e;
    }
  }

  private void step() throws InterruptedException {
    boolean tooMuch = mine.size() >= MOST_FILES || book.liveBytes() > MOST_BYTES;
    int choice = random.nextInt(100);
    if (mine.isEmpty() || choice < 20 && !tooMuch) {
      create();
    } else if (choice < 32 && !tooMuch) {
      append(any(mine));
    } else if (choice < 40) {
      rename(any(mine));
    } else if (choice < (tooMuch ? 55 : 45)) {
      delete(any(mine));
    } else {
      read();
    }
  }

  private SoakFile any(List<SoakFile> files) {
    return files.get(random.nextInt(files.size()));
  }

  // ---- requests ---------------------------------------------------------------------------------

  /** Sends a request about a file and writes it into the file's history; null if it failed. */
  private List<String> ask(SoakFile file, String verb, String... fields)
      throws InterruptedException {
    String words = verb + " " + String.join(" ", fields);
    try {
      List<String> answer = clients.call(process, verb, fields);
      file.note(words + " -> " + answer);
      return answer;
    } catch (SoakClients.StuckException e) {
      file.note(words + " -> no answer");
      book.find(Kind.STUCK, file, e.getMessage());
    } catch (IOException e) {
      file.note(words + " -> " + e.getMessage());
    }
    book.failed(verb);
    return null;
  }

  // ---- writing ----------------------------------------------------------------------------------

  private void create() throws InterruptedException {
    SoakFile file = new SoakFile("%s/f%d".formatted(directory(name), serial++), random.nextLong());
    book.add(file);
    String handle = name + "-" + streams++;
    if (ask(file, "create", name, handle, file.expectation().path()) == null) {
      // Perhaps it exists, empty. Nobody writes to it any more.
      recover(file);
      return;
    }
    file.created();
    book.acknowledged("create");
    mine.add(file);
    writeAndClose(file, handle);
  }

  private void append(SoakFile file) throws InterruptedException {
    if (!file.isClosed() && !recover(file)) {
      mine.remove(file);
      return;
    }
    String handle = name + "-" + streams++;
    file.opening();
    List<String> answer = ask(file, "append", name, handle, file.expectation().path());
    if (answer == null) {
      giveUp(file, handle);
      return;
    }
    book.acknowledged("append");
    Expectation before = file.expectation();
    String objection =
        SoakFile.objection(Long.parseLong(answer.get(0)), before.least(), before.most());
    if (objection != null) {
      book.find(Kind.WRONG, file, "when it is opened for appending it " + objection);
    }
    writeAndClose(file, handle);
  }

  private void writeAndClose(SoakFile file, String handle) throws InterruptedException {
    int writes = 1 + random.nextInt(6);
    for (int i = 0; i < writes; i++) {
      int count = 1 + random.nextInt(random.nextInt(4) == 0 ? MOST_WRITE * 3 : MOST_WRITE);
      file.writing(count);
      book.addBytes(count);
      if (ask(file, "write", handle, Long.toString(file.seed()), Integer.toString(count)) == null) {
        giveUp(file, handle);
        return;
      }
      if (random.nextInt(3) > 0) {
        String verb = random.nextInt(4) == 0 ? "hsync" : "hflush";
        if (ask(file, verb, handle) == null) {
          giveUp(file, handle);
          return;
        }
        file.flushed();
        book.acknowledged(verb);
        if (random.nextInt(4) == 0) {
          check(file);
        }
        Thread.sleep(random.nextInt(400));
      }
    }
    if (ask(file, "close", handle) == null) {
      giveUp(file, handle);
      return;
    }
    file.closed();
    book.acknowledged("close");
  }

  /** After a failure the stream is closed as well as it can be, and the lease is taken back. */
  private void giveUp(SoakFile file, String handle) throws InterruptedException {
    ask(file, "close", handle);
    if (!recover(file)) {
      mine.remove(file);
    }
  }

  /** Whether the file is closed now, with a length that is known. */
  private boolean recover(SoakFile file) throws InterruptedException {
    long deadline = System.nanoTime() + RECOVER_NANOS;
    String path = file.expectation().path();
    while (System.nanoTime() < deadline) {
      List<String> recovered = ask(file, "recover", name, path);
      if (recovered != null && recovered.get(0).equals("true")) {
        List<String> length = ask(file, "status", name, path);
        if (length != null) {
          return settle(file, Long.parseLong(length.get(0)));
        }
      }
      if (file.expectation().mayBeAbsent() && isAbsent(file, path)) {
        return false;
      }
      Thread.sleep(1000);
    }
    return false;
  }

  private boolean isAbsent(SoakFile file, String path) throws InterruptedException {
    List<String> length = ask(file, "status", name, path);
    return length != null && length.get(0).equals("-1");
  }

  private boolean settle(SoakFile file, long length) {
    if (length < 0) {
      if (!file.expectation().mayBeAbsent()) {
        book.find(Kind.LOST, file, "does not exist after the recovery of its lease");
      }
      return false;
    }
    String objection = file.recovered(length);
    if (objection != null) {
      book.find(Kind.LOST, file, "after the recovery of its lease it " + objection);
    }
    book.acknowledged("recover");
    return true;
  }

  // ---- names ------------------------------------------------------------------------------------

  private void rename(SoakFile file) throws InterruptedException {
    String from = file.expectation().path();
    String to = "%s/f%d".formatted(directory(name), serial++);
    file.renaming(to);
    List<String> answer = ask(file, "rename", name, from, to);
    // A client may repeat a call that was executed, and gets "false" then.
    if (answer == null || !answer.get(0).equals("true")) {
      mine.remove(file);
      return;
    }
    file.renamed();
    book.addGoneName(from);
    book.acknowledged("rename");
  }

  private void delete(SoakFile file) throws InterruptedException {
    mine.remove(file);
    book.addBytes(-file.expectation().most());
    file.deleting();
    List<String> answer = ask(file, "delete", name, file.expectation().path());
    if (answer != null && answer.get(0).equals("true")) {
      file.deleted();
      book.remove(file);
      book.acknowledged("delete");
    }
  }

  // ---- reading ----------------------------------------------------------------------------------

  private void read() throws InterruptedException {
    List<SoakFile> all = book.files();
    if (!all.isEmpty()) {
      // Some files are read much more than others, so that there are hot files.
      check(all.get((int) (all.size() * Math.pow(random.nextDouble(), 3))));
    }
  }

  private void check(SoakFile file) throws InterruptedException {
    Expectation before = file.expectation();
    boolean whole = before.least() == 0 || random.nextInt(3) > 0;
    long offset = whole ? 0 : random.nextLong(before.least());
    long count = whole ? 0 : 1 + random.nextLong(before.least() - offset);
    String seed = Long.toString(file.seed());
    List<String> answer;
    try {
      answer =
          whole
              ? clients.call(process, "read", name, before.path(), seed)
              : clients.call(process, "pread", name, before.path(), seed, "" + offset, "" + count);
    } catch (SoakClients.StuckException e) {
      book.find(Kind.STUCK, file, e.getMessage());
      return;
    } catch (IOException e) {
      book.failed(whole ? "read" : "pread");
      judgeFailure(file, before, e);
      return;
    }
    Expectation after = file.expectation();
    long length = Long.parseLong(answer.get(0));
    if (!answer.get(1).equals("-1")) {
      file.note("%s read from %d: %s".formatted(name, offset, answer));
      book.find(Kind.WRONG, file, "has a wrong byte at " + answer.subList(1, answer.size()));
    } else {
      String objection =
          whole
              ? SoakFile.objection(length, before.least(), after.most())
              : SoakFile.objection(length, count, count);
      if (objection != null) {
        file.note("%s read from %d: %s".formatted(name, offset, answer));
        book.find(Kind.WRONG, file, "a reader from %d on: it %s".formatted(offset, objection));
      }
    }
    book.acknowledged(whole ? "read" : "pread");
  }

  /** Reads may fail while something is broken. The answer that a file does not exist may not. */
  private void judgeFailure(SoakFile file, Expectation before, IOException failure) {
    Expectation after = file.expectation();
    boolean sameName = before.isCertain() && before.nameChanges() == after.nameChanges();
    if (sameName && String.valueOf(failure.getMessage()).contains("FileNotFoundException")) {
      file.note("%s read: %s".formatted(name, failure.getMessage()));
      book.find(Kind.LOST, file, "is not found: " + failure.getMessage());
    }
  }
}
