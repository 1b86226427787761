package io.ebbfs.namenode.fsck;

import io.ebbfs.namenode.datanodes.ClusterView.DrainState;
import io.ebbfs.namenode.erasure.BlockGroupLayout;
import io.ebbfs.namenode.files.inodes.Inode;
import io.ebbfs.namenode.replicas.BlockHealth;
import io.ebbfs.namenode.store.Key;
import io.ebbfs.protocol.proto.StoreProtos.InodeRow;
import java.io.IOException;
import java.io.Writer;
import java.util.Optional;

/**
 * Checks the blocks of files, one after the other, and writes what was asked for. The blocks of a
 * file are read in pages: first those that are damaged, and a second time to list them all. Used by
 * one thread.
 */
final class FsckFile {
  private final FsckReader reader;
  private final FsckQuestion question;
  private final FsckText text;
  private final FsckSums sums;
  private final Writer out;

  FsckFile(FsckReader reader, FsckQuestion question, FsckText text, FsckSums sums, Writer out) {
    this.reader = reader;
    this.question = question;
    this.text = text;
    this.sums = sums;
    this.out = out;
  }

  void check(Inode file, String path) throws IOException {
    long length = file.row().getLengthBytes();
    int blocks = file.row().getBlocks();
    boolean coded = file.row().hasEcPolicyId();
    if (file.isUnderConstruction() && !question.openFiles()) {
      if (coded) {
        sums.groups().addOpenFile(length, blocks);
      } else {
        sums.addOpenFile(length, blocks);
      }
      return;
    }
    if (coded) {
      sums.groups().addFile(length);
    } else {
      sums.addFile(length);
    }
    boolean named = question.files() || file.isUnderConstruction();
    if (named) {
      out.write(
          "%s %d bytes, %s, %d block(s)%s: "
              .formatted(
                  path,
                  length,
                  redundancy(file.row()),
                  blocks,
                  file.isUnderConstruction() ? ", OPENFORWRITE" : ""));
    }
    Damage damage = check(file, path, named);
    end(file, path, damage);
  }

  private static String redundancy(InodeRow file) {
    return file.hasEcPolicyId()
        ? "erasure-coded: policy=" + BlockGroupLayout.of(file.getEcPolicyId()).policy().getName()
        : "replicated: replication=" + file.getReplication();
  }

  /** What is wrong with a file. */
  private static final class Damage {
    private boolean tooFew;
    private long missing;
    private long missingBytes;
    private long corrupt;
    private long corruptBytes;
  }

  private Damage check(Inode file, String path, boolean isNamed) throws IOException {
    Damage damage = new Damage();
    boolean named = isNamed;
    Optional<Key> after = Optional.empty();
    do {
      FsckReader.BlockPage page = reader.blocks(file, after);
      for (BlockHealth health : page.blocks()) {
        sums.add(health);
        if (health.isCorrupt()) {
          damage.corrupt++;
          damage.corruptBytes += health.block().getLengthBytes();
          out.write(
              "\n%s: CORRUPT blockpool %s block blk_%d\n"
                  .formatted(path, text.blockPoolId(), health.block().getBlockId()));
        }
        if (health.isMissing()) {
          damage.missing++;
          damage.missingBytes += health.block().getLengthBytes();
        } else if (health.live(DrainState.NONE) < health.wanted()) {
          damage.tooFew = true;
          out.write(named ? "" : "\n" + path + ": ");
          named = true;
          out.write(text.tooFew(health));
        }
      }
      after = page.last();
    } while (after.isPresent());
    return damage;
  }

  private void end(Inode file, String path, Damage damage) throws IOException {
    String missing = " MISSING %d blocks of total size %d B";
    String corrupt = " CORRUPT %d blocks of total size %d B";
    if (damage.missing > 0 || damage.corrupt > 0) {
      if (file.row().hasEcPolicyId()) {
        sums.groups().addDamagedFile();
      } else {
        sums.addDamagedFile();
      }
      String begin = question.files() ? "" : "\n" + path + ":";
      String last = question.files() ? "\n" : ".";
      if (damage.missing > 0) {
        out.write(begin + missing.formatted(damage.missing, damage.missingBytes) + last);
      }
      if (damage.corrupt > 0 && (damage.missing == 0 || !question.files())) {
        out.write(begin + corrupt.formatted(damage.corrupt, damage.corruptBytes) + last);
      }
    } else if (question.files() && !damage.tooFew) {
      out.write(" OK\n");
    }
    if (question.files() && question.blocks()) {
      list(file);
    }
  }

  private void list(Inode file) throws IOException {
    long index = 0;
    Optional<Key> after = Optional.empty();
    do {
      FsckReader.BlockPage page = reader.blocks(file, after);
      for (BlockHealth health : page.blocks()) {
        out.write(text.line(index++, health, question.detail()));
      }
      after = page.last();
    } while (after.isPresent());
    out.write("\n");
  }
}
