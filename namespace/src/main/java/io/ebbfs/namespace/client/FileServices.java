package io.ebbfs.namespace.client;

import io.ebbfs.namespace.inode.Deletions;
import io.ebbfs.namespace.inode.FileAppends;
import io.ebbfs.namespace.inode.FileCreation;
import io.ebbfs.namespace.inode.FileReads;
import io.ebbfs.namespace.inode.FileWrites;
import io.ebbfs.namespace.inode.LeaseRecovery;
import io.ebbfs.namespace.inode.Namespace;
import io.ebbfs.namespace.inode.Renames;
import io.ebbfs.namespace.inode.Replication;
import io.ebbfs.namespace.inode.Summaries;
import io.ebbfs.namespace.lease.Leases;

/** What the client front end stands on. */
public record FileServices(
    Namespace namespace,
    Renames renames,
    Deletions deletions,
    FileCreation creation,
    FileAppends appends,
    FileWrites writes,
    FileReads reads,
    Replication replication,
    Summaries summaries,
    Leases leases,
    LeaseRecovery recovery) {}
