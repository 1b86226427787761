import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.thirdparty.protobuf.DescriptorProtos.FileDescriptorSet;
import org.apache.hadoop.thirdparty.protobuf.Descriptors.FileDescriptor;

/**
 * Writes the descriptors of the HDFS protocols, as the Hadoop jars on the class path carry them, to
 * a FileDescriptorSet that protoc accepts with --descriptor_set_in. Run by the build from source:
 * {@code java -cp <hadoop jars> HdfsDescriptors.java OUTPUT}. Besides the set it writes
 * OUTPUT.files: the names of the files in it, dependencies first, for CMake to compile; and
 * OUTPUT.classpath: the class path of Hadoop, for the C++ tests that run against Hadoop's classes.
 */
public final class HdfsDescriptors {
  private static final String HDFS = "org.apache.hadoop.hdfs.protocol.proto.";
  private static final String IPC = "org.apache.hadoop.ipc.protobuf.";

  private static final List<String> OUTER_CLASSES =
      List.of(
          "org.apache.hadoop.security.proto.SecurityProtos",
          HDFS + "AclProtos",
          HDFS + "HdfsProtos",
          HDFS + "XAttrProtos",
          HDFS + "EncryptionZonesProtos",
          HDFS + "InotifyProtos",
          HDFS + "ErasureCodingProtos",
          "org.apache.hadoop.ha.proto.HAServiceProtocolProtos",
          HDFS + "ClientNamenodeProtocolProtos",
          HDFS + "HdfsServerProtos",
          HDFS + "DatanodeProtocolProtos",
          HDFS + "DataTransferProtos",
          HDFS + "InterDatanodeProtocolProtos",
          HDFS + "ReconfigurationProtocolProtos",
          HDFS + "ClientDatanodeProtocolProtos",
          IPC + "RpcHeaderProtos",
          IPC + "IpcConnectionContextProtos",
          IPC + "ProtobufRpcEngine2Protos");

  public static void main(String[] arguments) throws Exception {
    Path output = Path.of(arguments[0]);
    Map<String, FileDescriptor> files = new LinkedHashMap<>();
    for (String name : OUTER_CLASSES) {
      add((FileDescriptor) Class.forName(name).getMethod("getDescriptor").invoke(null), files);
    }
    FileDescriptorSet.Builder set = FileDescriptorSet.newBuilder();
    files.values().forEach(file -> set.addFile(file.toProto()));
    Files.createDirectories(output.toAbsolutePath().getParent());
    write(output, set.build().toByteArray());
    write(Path.of(output + ".files"), (String.join("\n", files.keySet()) + "\n").getBytes(UTF_8));
    write(Path.of(output + ".classpath"), System.getProperty("java.class.path").getBytes(UTF_8));
  }

  /** Only what changed, and at once: another build may be reading it. */
  private static void write(Path path, byte[] bytes) throws IOException {
    if (!Files.exists(path) || !Arrays.equals(Files.readAllBytes(path), bytes)) {
      Path fresh = Path.of(path + ".new");
      Files.write(fresh, bytes);
      Files.move(fresh, path, StandardCopyOption.ATOMIC_MOVE);
    }
  }

  private static void add(FileDescriptor file, Map<String, FileDescriptor> files) {
    if (files.containsKey(file.getName())) {
      return;
    }
    file.getDependencies().forEach(dependency -> add(dependency, files));
    files.put(file.getName(), file);
  }
}
