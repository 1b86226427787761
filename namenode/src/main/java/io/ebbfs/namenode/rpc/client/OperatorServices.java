package io.ebbfs.namenode.rpc.client;

import io.ebbfs.namenode.leader.ReadOnlyMark;

/**
 * What operators order by calls of ClientProtocol.
 *
 * @param readOnly what other namenodes know of the safe mode that an operator enters
 * @param longCalls limits those that read many rows
 */
public record OperatorServices(
    BackupTaker backups,
    ReadOnlyMark readOnly,
    ExcludedReader excluded,
    MetaSave metaSave,
    LongCalls longCalls) {}
