package io.ebbfs.workloads.metadata;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.INodeDirectorySection.DirEntry;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.INodeSection;
import org.apache.hadoop.hdfs.server.namenode.FsImageProto.INodeSection.INode;

/**
 * The inodes of a small image, and where in it the first file of a tree is.
 *
 * @param entries the children of each directory
 * @param top the directory of the tree
 * @param firstDirectory the directory of the first file; {@code top} if the tree has no others
 */
record HdfsImageTree(
    INodeSection header,
    List<INode> inodes,
    List<DirEntry> entries,
    INode top,
    INode firstDirectory,
    INode firstFile) {

  static HdfsImageTree read(InputStream inodeSection, InputStream entrySection, CopiedTree tree)
      throws IOException {
    INodeSection header = INodeSection.parseDelimitedFrom(inodeSection);
    List<INode> inodes = new ArrayList<>();
    for (INode inode; (inode = INode.parseDelimitedFrom(inodeSection)) != null; ) {
      inodes.add(inode);
    }
    List<DirEntry> entries = new ArrayList<>();
    for (DirEntry entry; (entry = DirEntry.parseDelimitedFrom(entrySection)) != null; ) {
      entries.add(entry);
    }
    INode top = root(inodes);
    for (String name : tree.directory().substring(1).split("/")) {
      top = child(inodes, entries, top, name);
    }
    INode directory =
        tree.hasDirectories() ? child(inodes, entries, top, CopiedTree.directoryName(0)) : top;
    INode file = child(inodes, entries, directory, CopiedTree.fileName(0));
    return new HdfsImageTree(header, inodes, entries, top, directory, file);
  }

  private static INode root(List<INode> inodes) throws IOException {
    return inodes.stream()
        .filter(inode -> inode.getName().isEmpty())
        .findFirst()
        .orElseThrow(() -> new IOException("the image has no root"));
  }

  private static INode child(List<INode> inodes, List<DirEntry> entries, INode parent, String name)
      throws IOException {
    List<Long> children =
        entries.stream()
            .filter(entry -> entry.getParent() == parent.getId())
            .flatMap(entry -> entry.getChildrenList().stream())
            .toList();
    return inodes.stream()
        .filter(inode -> children.contains(inode.getId()))
        .filter(inode -> inode.getName().toStringUtf8().equals(name))
        .findFirst()
        .orElseThrow(
            () ->
                new IOException(
                    "the image has no '%s' in '%s'; its file was not made before the image"
                        .formatted(name, parent.getName().toStringUtf8())));
  }
}
