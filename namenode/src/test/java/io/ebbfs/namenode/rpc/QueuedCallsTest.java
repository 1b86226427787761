package io.ebbfs.namenode.rpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.ebbfs.namenode.datanodes.ClusterView.Disk;
import io.ebbfs.namenode.rpc.datanode.QueuedCalls;
import io.ebbfs.namenode.rpc.datanode.RecentErrors;
import io.ebbfs.namenode.rpc.server.ServerLimits;
import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol.HAServiceState;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.DatanodeRegistrationProto;
import org.apache.hadoop.hdfs.protocol.proto.DatanodeProtocolProtos.HeartbeatRequestProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeIDProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.DatanodeStorageProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.StorageReportProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsProtos.StorageTypeProto;
import org.apache.hadoop.hdfs.protocol.proto.HdfsServerProtos.StorageInfoProto;
import org.apache.hadoop.hdfs.protocolPB.DatanodeProtocolPB;
import org.apache.hadoop.hdfs.protocolPB.PBHelper;
import org.apache.hadoop.hdfs.security.token.block.ExportedBlockKeys;
import org.apache.hadoop.hdfs.server.protocol.DatanodeCommand;
import org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol;
import org.apache.hadoop.hdfs.server.protocol.HeartbeatResponse;
import org.apache.hadoop.hdfs.server.protocol.NNHAStatusHeartbeat;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.thirdparty.protobuf.UnknownFieldSet;
import org.junit.jupiter.api.Test;

/** Fields that HDFS does not know arrive through the RPC of the namenode. */
class QueuedCallsTest {
  @Test
  void heartbeatsTellOfTheQueuesAndErrorsOfDisks() throws Exception {
    List<Map<String, Double>> seen = new CopyOnWriteArrayList<>();
    List<Map<String, Double>> errors = new CopyOnWriteArrayList<>();
    RpcEndpoint endpoint = new RpcEndpoint(4, ServerLimits.DEFAULT, RpcEndpoint.newRetryAnswers());
    HeartbeatResponse answer =
        new HeartbeatResponse(
            new DatanodeCommand[0], new NNHAStatusHeartbeat(HAServiceState.ACTIVE, 1), null, 0);
    endpoint.addDatanodes(
        (DatanodeProtocol)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {DatanodeProtocol.class},
                (proxy, method, arguments) -> answer),
        heartbeat -> {
          seen.add(QueuedCalls.of(heartbeat));
          errors.add(RecentErrors.of(heartbeat));
        });
    endpoint.start("127.0.0.1", 0);
    Configuration conf = new Configuration();
    RPC.setProtocolEngine(conf, DatanodeProtocolPB.class, ProtobufRpcEngine2.class);
    DatanodeProtocolPB namenode =
        RPC.getProxy(
            DatanodeProtocolPB.class,
            RPC.getProtocolVersion(DatanodeProtocolPB.class),
            endpoint.address(),
            conf);
    try {
      namenode.sendHeartbeat(null, heartbeat());
    } finally {
      RPC.stopProxy(namenode);
      endpoint.close();
    }
    assertThat(seen)
        .containsExactly(Map.of("with", 2.5, "without", Disk.NOT_TOLD, "errs", Disk.NOT_TOLD));
    assertThat(errors).containsExactly(Map.of("with", 0.0, "without", 0.0, "errs", 1.75));
  }

  private static HeartbeatRequestProto heartbeat() {
    return HeartbeatRequestProto.newBuilder()
        .setRegistration(
            DatanodeRegistrationProto.newBuilder()
                .setDatanodeID(
                    DatanodeIDProto.newBuilder()
                        .setDatanodeUuid("server")
                        .setIpAddr("127.0.0.1")
                        .setHostName("localhost")
                        .setXferPort(1)
                        .setInfoPort(1)
                        .setIpcPort(1))
                .setStorageInfo(
                    StorageInfoProto.newBuilder()
                        .setLayoutVersion(-57)
                        .setNamespceID(1)
                        .setClusterID("CID")
                        .setCTime(0))
                .setKeys(PBHelper.convert(new ExportedBlockKeys()))
                .setSoftwareVersion("3.5.0"))
        .addReports(report("with", QueuedCalls.FIELD, List.of(100L, 250L)))
        .addReports(report("without", QueuedCalls.FIELD, List.of()))
        .addReports(report("errs", RecentErrors.FIELD, List.of(175L)))
        .build();
  }

  private static StorageReportProto report(String disk, int number, List<Long> hundredths) {
    UnknownFieldSet.Field.Builder field = UnknownFieldSet.Field.newBuilder();
    hundredths.forEach(field::addVarint);
    return StorageReportProto.newBuilder()
        .setStorageUuid(disk)
        .setStorage(
            DatanodeStorageProto.newBuilder()
                .setStorageUuid(disk)
                .setStorageType(StorageTypeProto.DISK))
        .setUnknownFields(UnknownFieldSet.newBuilder().addField(number, field.build()).build())
        .build();
  }
}
