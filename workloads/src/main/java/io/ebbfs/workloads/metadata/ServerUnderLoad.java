package io.ebbfs.workloads.metadata;

/** A namenode to which a load generator sends calls. */
interface ServerUnderLoad {
  /** For messages. */
  String name();

  String host();

  int port();

  /** The process id of the namenode. */
  long pid();
}
