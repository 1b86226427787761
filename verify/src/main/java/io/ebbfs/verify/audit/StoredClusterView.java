package io.ebbfs.verify.audit;

import io.ebbfs.namenode.datanodes.ClusterView;
import io.ebbfs.namenode.store.Row;
import io.ebbfs.namenode.store.Tables;
import io.ebbfs.protocol.proto.StoreProtos.ServerRow;
import io.ebbfs.protocol.proto.StoreProtos.StorageRow;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The servers and disks as the rows of a store have them. All of them count as live. */
final class StoredClusterView implements ClusterView {
  private final List<Server> servers;

  private StoredClusterView(List<Server> servers) {
    this.servers = servers;
  }

  static StoredClusterView of(StoreCopy copy) throws IOException {
    List<Server> servers = new ArrayList<>();
    for (Row<ServerRow> row : copy.all(Tables.SERVER)) {
      ServerRow server = row.value();
      List<Disk> disks = new ArrayList<>();
      for (StorageRow storage : server.getStoragesList()) {
        disks.add(
            new Disk(storage.getUuid(), storage.getNumber(), server.getUuid(), false, 0, 0, 0));
      }
      servers.add(
          new Server(
              server.getUuid(),
              server.getHostName(),
              server.getIpAddress(),
              server.getTransferPort(),
              0,
              server.getIpcPort(),
              server.getRack(),
              true,
              0,
              0,
              disks));
    }
    return new StoredClusterView(servers);
  }

  @Override
  public List<Server> liveServers() {
    return servers;
  }

  @Override
  public Optional<Server> server(String uuid) {
    return servers.stream().filter(s -> s.uuid().equals(uuid)).findFirst();
  }

  @Override
  public Optional<Disk> disk(String uuid) {
    return servers.stream()
        .flatMap(s -> s.disks().stream())
        .filter(d -> d.storageUuid().equals(uuid))
        .findFirst();
  }

  @Override
  public boolean inSafeMode() {
    return false;
  }
}
