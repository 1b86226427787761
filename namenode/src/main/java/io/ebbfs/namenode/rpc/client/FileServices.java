package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.files.acls.AclService;
import io.ebbfs.namenode.files.erasure.ErasureCodingService;
import io.ebbfs.namenode.files.io.ConcatService;
import io.ebbfs.namenode.files.io.FileAppendService;
import io.ebbfs.namenode.files.io.FileCreationService;
import io.ebbfs.namenode.files.io.FileReadService;
import io.ebbfs.namenode.files.io.FileWriteService;
import io.ebbfs.namenode.files.io.LeaseRecovery;
import io.ebbfs.namenode.files.io.ReplicationFactorService;
import io.ebbfs.namenode.files.io.TruncateService;
import io.ebbfs.namenode.files.leases.LeaseManager;
import io.ebbfs.namenode.files.policies.PolicySatisfier;
import io.ebbfs.namenode.files.policies.PolicyService;
import io.ebbfs.namenode.files.quotas.QuotaService;
import io.ebbfs.namenode.files.quotas.TreeCounter;
import io.ebbfs.namenode.files.tree.AttributeService;
import io.ebbfs.namenode.files.tree.ContentSummaryService;
import io.ebbfs.namenode.files.tree.DeleteService;
import io.ebbfs.namenode.files.tree.InodeLookup;
import io.ebbfs.namenode.files.tree.MkdirService;
import io.ebbfs.namenode.files.tree.RenameService;
import io.ebbfs.namenode.files.xattrs.XAttrService;

/** The services behind {@link ClientFrontEnd}. */
public record FileServices(
    MkdirService mkdirs,
    AttributeService attributes,
    AclService acls,
    XAttrService xattrs,
    QuotaService quotas,
    PolicyService policies,
    PolicySatisfier satisfier,
    ErasureCodingService erasureCoding,
    InodeLookup inodes,
    RenameService renames,
    DeleteService deletions,
    FileCreationService creation,
    FileAppendService appends,
    TruncateService truncation,
    ConcatService concat,
    FileWriteService writes,
    FileReadService reads,
    ReplicationFactorService replication,
    ContentSummaryService summaries,
    TreeCounter treeCounter,
    LeaseManager leases,
    LeaseRecovery recovery,
    Listings listings,
    SnapshotServices snapshots) {}
