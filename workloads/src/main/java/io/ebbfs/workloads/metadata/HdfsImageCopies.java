package io.ebbfs.workloads.metadata;

import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.BlockProto;
import org.apache.hadoop.hdfs.server.namenode.FSImageUtil;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.FileSummary;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.INodeDirectorySection.DirEntry;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.INodeSection;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.INodeSection.INode;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.INodeSection.INodeFile;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.NameSystemSection;
import org.apache.hadoop.thirdparty.protobuf.ByteString;
import org.apache.hadoop.thirdparty.protobuf.Message;

/**
 * Copies files in the newest image of a NameNode that does not run. The image holds the first file
 * of the tree; each copy is this file's own record with another id, name and block, and all other
 * parts of the image stay as the NameNode has written them. Not thread-safe.
 */
final class HdfsImageCopies {
  private static final String IMAGE = "fsimage_";
  private static final String DIGEST = ".md5";
  private static final int BUFFER_BYTES = 1 << 20;

  private final RandomAccessFile old;
  private final CopiedTree tree;
  private final NewBlocks blocks;
  private final HdfsImageTree known;
  private final List<NewDirectory> directories = new ArrayList<>();
  private long lastInodeId;
  private NameSystemSection numbers;

  /**
   * A directory that gets copies.
   *
   * @param firstId the id of its first new file; the others follow
   * @param from the number of its first new file
   */
  private record NewDirectory(long id, long firstId, int from, int to) {
    int files() {
      return to - from;
    }
  }

  private HdfsImageCopies(
      RandomAccessFile old, FileSummary summary, CopiedTree tree, NewBlocks blocks)
      throws IOException {
    this.old = old;
    this.tree = tree;
    this.blocks = blocks;
    this.numbers = NameSystemSection.parseDelimitedFrom(section(summary, "NS_INFO"));
    this.known = HdfsImageTree.read(section(summary, "INODE"), section(summary, "INODE_DIR"), tree);
    this.lastInodeId = known.header().getLastInodeId();
    plan();
  }

  /**
   * Makes all files of the tree but the first.
   *
   * @param nameDirectory of the NameNode, as {@code dfs.namenode.name.dir} names it
   */
  static void copy(Path nameDirectory, CopiedTree tree, NewBlocks blocks) throws IOException {
    Path image = newest(nameDirectory.resolve("current"));
    Path next = image.resolveSibling("copies.tmp");
    try (RandomAccessFile old = new RandomAccessFile(image.toFile(), "r")) {
      FileSummary summary = FSImageUtil.loadSummary(old);
      if (!summary.getCodec().isEmpty()) {
        throw new IOException(
            "%s is compressed with %s: write it uncompressed".formatted(image, summary.getCodec()));
      }
      byte[] digest = new HdfsImageCopies(old, summary, tree, blocks).write(next, summary);
      Files.writeString(
          image.resolveSibling(image.getFileName() + DIGEST),
          "%s *%s%n".formatted(HexFormat.of().formatHex(digest), image.getFileName()));
    }
    Files.move(next, image, StandardCopyOption.REPLACE_EXISTING);
  }

  private static Path newest(Path current) throws IOException {
    try (Stream<Path> files = Files.list(current)) {
      return files
          .filter(file -> file.getFileName().toString().startsWith(IMAGE))
          .filter(file -> !file.toString().endsWith(DIGEST))
          .max(Comparator.naturalOrder())
          .orElseThrow(() -> new IOException(current + " holds no image"));
    }
  }

  private void plan() {
    for (int number = 0; number < tree.directories(); number++) {
      long id = number == 0 ? known.firstDirectory().getId() : ++lastInodeId;
      int from = number == 0 ? 1 : 0;
      NewDirectory directory =
          new NewDirectory(id, lastInodeId + 1, from, Math.max(from, tree.filesIn(number)));
      lastInodeId += directory.files();
      directories.add(directory);
    }
  }

  private InputStream section(FileSummary summary, String name) throws IOException {
    for (FileSummary.Section section : summary.getSectionsList()) {
      if (section.getName().equals(name)) {
        return new ByteArrayInputStream(bytes(section));
      }
    }
    throw new IOException("the image has no section " + name);
  }

  private byte[] bytes(FileSummary.Section section) throws IOException {
    byte[] bytes = new byte[Math.toIntExact(section.getLength())];
    old.seek(section.getOffset());
    old.readFully(bytes);
    return bytes;
  }

  /** Returns the digest of the file. */
  private byte[] write(Path file, FileSummary summary) throws IOException {
    MessageDigest digest = md5();
    try (CountingStream counted = new CountingStream(Files.newOutputStream(file), digest)) {
      OutputStream out = new BufferedOutputStream(counted, BUFFER_BYTES);
      out.write(FSImageUtil.MAGIC_HEADER);
      FileSummary.Builder next = summary.toBuilder().clearSections();
      List<FileSummary.Section> sections = new ArrayList<>(summary.getSectionsList());
      // The inodes come first: with them, block ids are drawn that NS_INFO names.
      sections.sort(Comparator.comparing(section -> !section.getName().equals("INODE")));
      for (FileSummary.Section section : sections) {
        out.flush();
        long offset = counted.count;
        writeSection(section, out);
        out.flush();
        next.addSections(
            section.toBuilder().setOffset(offset).setLength(counted.count - offset).build());
      }
      writeSummary(next.build(), out);
      out.flush();
    }
    return digest.digest();
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("this Java lacks MD5, which every Java has", e);
    }
  }

  private void writeSection(FileSummary.Section section, OutputStream out) throws IOException {
    switch (section.getName()) {
      case "NS_INFO" -> numbers.writeDelimitedTo(out);
      case "INODE" -> writeInodes(out);
      case "INODE_DIR" -> writeEntries(out);
      default -> out.write(bytes(section));
    }
  }

  private void writeInodes(OutputStream out) throws IOException {
    long inodes = known.inodes().size() + lastInodeId - known.header().getLastInodeId();
    INodeSection.Builder header = known.header().toBuilder();
    header.setLastInodeId(lastInodeId).setNumInodes(inodes).build().writeDelimitedTo(out);
    for (INode inode : known.inodes()) {
      inode.writeDelimitedTo(out);
    }
    for (int number = 0; number < directories.size(); number++) {
      NewDirectory directory = directories.get(number);
      if (number > 0) {
        String name = CopiedTree.directoryName(number);
        renamed(known.firstDirectory(), directory.id(), name).writeDelimitedTo(out);
      }
      for (int file = directory.from(); file < directory.to(); file++) {
        long id = directory.firstId() + file - directory.from();
        copiedFile(id, CopiedTree.fileName(file)).writeDelimitedTo(out);
      }
    }
  }

  private static INode renamed(INode inode, long id, String name) {
    ByteString bytes = ByteString.copyFrom(name, StandardCharsets.US_ASCII);
    return inode.toBuilder().setId(id).setName(bytes).build();
  }

  private INode copiedFile(long id, String name) throws IOException {
    INode file = renamed(known.firstFile(), id, name);
    if (file.getFile().getBlocksCount() == 0) {
      return file;
    }
    numbers =
        numbers.toBuilder()
            .setGenstampV2(numbers.getGenstampV2() + 1)
            .setLastAllocatedBlockId(numbers.getLastAllocatedBlockId() + 1)
            .build();
    BlockProto.Builder block =
        file.getFile().getBlocks(0).toBuilder()
            .setBlockId(numbers.getLastAllocatedBlockId())
            .setGenStamp(numbers.getGenstampV2());
    blocks.add(block.getBlockId(), block.getGenStamp());
    INodeFile.Builder content = file.getFile().toBuilder().clearBlocks().addBlocks(block);
    return file.toBuilder().setFile(content).build();
  }

  private void writeEntries(OutputStream out) throws IOException {
    for (DirEntry entry : known.entries()) {
      if (entry.getParent() == directories.get(0).id()) {
        filled(entry.toBuilder(), directories.get(0)).writeDelimitedTo(out);
      } else if (entry.getParent() == known.top().getId()) {
        DirEntry.Builder top = entry.toBuilder();
        directories.stream().skip(1).forEach(directory -> top.addChildren(directory.id()));
        top.build().writeDelimitedTo(out);
      } else {
        entry.writeDelimitedTo(out);
      }
    }
    for (NewDirectory directory : directories.subList(1, directories.size())) {
      filled(DirEntry.newBuilder().setParent(directory.id()), directory).writeDelimitedTo(out);
    }
  }

  /** Children must be in the order of their names, and the numbers in the names rise. */
  private static Message filled(DirEntry.Builder entry, NewDirectory directory) {
    for (int i = 0; i < directory.files(); i++) {
      entry.addChildren(directory.firstId() + i);
    }
    return entry.build();
  }

  /** The file ends with the summary and the number of its bytes. */
  private static void writeSummary(FileSummary summary, OutputStream out) throws IOException {
    ByteArrayOutputStream delimited = new ByteArrayOutputStream();
    summary.writeDelimitedTo(delimited);
    delimited.writeTo(out);
    new DataOutputStream(out).writeInt(delimited.size());
  }

  /** Counts and digests what it writes. */
  private static final class CountingStream extends DigestOutputStream {
    private long count;

    CountingStream(OutputStream out, MessageDigest digest) {
      super(out, digest);
    }

    @Override
    public void write(int b) throws IOException {
      super.write(b);
      count++;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      super.write(bytes, offset, length);
      count += length;
    }
  }
}
