package io.ebbfs.namenode.fsck;

import io.ebbfs.namenode.files.inodes.Caller;
import io.ebbfs.namenode.files.inodes.Inode;
import java.io.IOException;
import java.io.Writer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * Visits the files below a path in the order of their names. It holds one page of each directory on
 * the way to the file that it visits. Used by one thread.
 */
final class FsckWalk {
  private static final int FILES_PER_DOT = 100;

  /** A directory on the way, and the rest of its page. */
  private static final class Level {
    private final String path;
    private Deque<Inode> page = new ArrayDeque<>();
    private Optional<Inode> last = Optional.empty();

    Level(String path) {
      this.path = path;
    }
  }

  private final FsckReader reader;
  private final Caller caller;
  private final FsckQuestion question;
  private final FsckSums sums;
  private final FsckFile files;
  private final Writer out;
  private final Deque<Level> way = new ArrayDeque<>();

  FsckWalk(
      FsckReader reader,
      Caller caller,
      FsckQuestion question,
      FsckSums sums,
      FsckFile files,
      Writer out) {
    this.reader = reader;
    this.caller = caller;
    this.question = question;
    this.sums = sums;
    this.files = files;
    this.out = out;
  }

  void visit(Inode root, String path) throws IOException {
    enter(root, path);
    while (!way.isEmpty()) {
      Level level = way.peek();
      if (level.page.isEmpty()) {
        turn(level);
      }
      Inode next = level.page.poll();
      if (next == null) {
        way.pop();
      } else {
        enter(next, (level.path.equals("/") ? "" : level.path) + "/" + next.nameText());
      }
    }
  }

  private void turn(Level level) throws IOException {
    List<Inode> page = reader.list(caller, level.path, level.last);
    if (!page.isEmpty()) {
      level.page = new ArrayDeque<>(page);
      level.last = Optional.of(page.get(page.size() - 1));
    }
    out.flush(); // fails if the client has gone
  }

  private void enter(Inode inode, String path) throws IOException {
    if (inode.isDirectory()) {
      sums.addDirectory();
      if (question.files()) {
        out.write(path + " <dir>\n");
      }
      way.push(new Level(path));
      return;
    }
    files.check(inode, path);
    if (!question.files() && sums.files() % FILES_PER_DOT == 0 && sums.files() > 0) {
      out.write(".");
      out.flush();
    }
  }
}
