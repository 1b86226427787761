package io.ebbfs.namenode.rpc;

import io.ebbfs.namenode.files.trash.TrashEmptier;
import io.ebbfs.namenode.rpc.server.OwnCalls;
import java.io.IOException;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.DeleteRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.DeleteResponseProto;
import org.apache.hadoop.hdfs.protocol.proto.ClientNamenodeProtocolProtos.Rename2RequestProto;

/** Changes the trash by calls of ClientProtocol. Thread-safe. */
public final class TrashCalls implements TrashEmptier.Calls {
  private final OwnCalls calls;

  public TrashCalls(OwnCalls calls) {
    this.calls = calls;
  }

  @Override
  public void rename(String from, String to) throws IOException {
    calls.run(
        "rename2",
        Rename2RequestProto.newBuilder()
            .setSrc(from)
            .setDst(to)
            .setOverwriteDest(false)
            .build()
            .toByteArray());
  }

  @Override
  public boolean delete(String path) throws IOException {
    byte[] request =
        DeleteRequestProto.newBuilder().setSrc(path).setRecursive(true).build().toByteArray();
    return DeleteResponseProto.parseFrom(calls.run("delete", request)).getResult();
  }
}
