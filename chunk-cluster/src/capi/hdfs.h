/*
 * The C API of EbbFS. It has the names, types, constants and calling conventions of Hadoop's
 * libhdfs, so that a program of libhdfs is linked with this library without a change. No JVM is
 * started. What differs is told in docs/client.md.
 *
 * Rules of all functions:
 *
 * Errors      A function that fails returns -1 or NULL, unless its comment says otherwise, and sets
 *             errno. errno is EINTERNAL if the name node has answered with an exception that no
 *             errno stands for. hdfsGetLastExceptionRootCause tells more. Nothing is printed.
 * Paths       A path is absolute, relative to the working directory of its hdfsFS, or a URI of the
 *             file system that the hdfsFS is connected with. Paths are UTF-8.
 * Threads     Threads share an hdfsFS. They share an hdfsFile, too: hdfsPread and hdfsPreadFully
 *             run beside all other calls, and calls that move the position follow one another.
 *             Nobody may use a handle during or after the call that ends it. A process that forks
 *             connects anew in the child.
 * Ownership   What a function allocates is freed by the function that its comment names.
 */
#ifndef EBBFS_HDFS_H
#define EBBFS_HDFS_H

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define EBBFS_API __attribute__((visibility("default")))

/* errno without a better number. */
#ifndef EINTERNAL
#define EINTERNAL 255
#endif

/* The one pool of buffers that hadoopRzOptionsSetByteBufferPool knows. */
#define ELASTIC_BYTE_BUFFER_POOL_CLASS "org/apache/hadoop/io/ElasticByteBufferPool"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ---------------------------------------------------------------------------------- */

typedef int32_t tSize;   /* bytes that one call reads or writes */
typedef time_t tTime;    /* seconds since 1970 */
typedef int64_t tOffset; /* a place in a file, or a length */
typedef uint16_t tPort;

typedef enum tObjectKind {
  kObjectKindFile = 'F',
  kObjectKindDirectory = 'D'
} tObjectKind;

/* A connected file system. */
struct hdfs_internal;
typedef struct hdfs_internal* hdfsFS;

/* An open file. */
struct hdfsFile_internal;
typedef struct hdfsFile_internal* hdfsFile;

struct hdfsBuilder;
struct hdfsStreamBuilder;
struct hadoopRzOptions;
struct hadoopRzBuffer;
typedef struct hdfsOpenFileBuilder hdfsOpenFileBuilder;
typedef struct hdfsOpenFileFuture hdfsOpenFileFuture;

typedef enum javaConcurrentTimeUnit {
  DAYS,
  HOURS,
  MICROSECONDS,
  MILLISECONDS,
  MINUTES,
  NANOSECONDS,
  SECONDS
} javaConcurrentTimeUnit;

/* ---- Connecting ----------------------------------------------------------------------------- */

/* Parameters of a connection. Connecting frees the builder. Strings are copied. */
EBBFS_API struct hdfsBuilder* hdfsNewBuilder(void);
/* For a builder that does not connect. */
EBBFS_API void hdfsFreeBuilder(struct hdfsBuilder* builder);

/*
 * "default" is fs.defaultFS of core-site.xml. Other names are a host, HOST:PORT or a name service
 * of hdfs-site.xml, with or without "hdfs://" in front. With NULL, which is the local file system
 * in libhdfs, and with other schemes than hdfs, connecting fails with ENOTSUP.
 */
EBBFS_API void hdfsBuilderSetNameNode(struct hdfsBuilder* builder, const char* name_node);
/* EINVAL when connecting, if the name has a port, too. */
EBBFS_API void hdfsBuilderSetNameNodePort(struct hdfsBuilder* builder, tPort port);
/* Without it: HADOOP_USER_NAME, or else the user of the process. */
EBBFS_API void hdfsBuilderSetUserName(struct hdfsBuilder* builder, const char* user);
/* Without effect: the library speaks no Kerberos, and refuses a configuration that asks for it. */
EBBFS_API void hdfsBuilderSetKerbTicketCachePath(struct hdfsBuilder* builder, const char* path);
/* Own connections to name nodes. Otherwise handles with equal parameters share them. */
EBBFS_API void hdfsBuilderSetForceNewInstance(struct hdfsBuilder* builder);
/* Goes before the value of the configuration files. NULL sets nothing. Returns 0, or an error. */
EBBFS_API int hdfsBuilderConfSetStr(struct hdfsBuilder* builder, const char* key,
                                    const char* value);
/* Asks no name node: the first call does. The handle is for hdfsDisconnect. */
EBBFS_API hdfsFS hdfsBuilderConnect(struct hdfsBuilder* builder);

/* The same in one call. */
EBBFS_API hdfsFS hdfsConnect(const char* name_node, tPort port);
EBBFS_API hdfsFS hdfsConnectAsUser(const char* name_node, tPort port, const char* user);
EBBFS_API hdfsFS hdfsConnectNewInstance(const char* name_node, tPort port);
EBBFS_API hdfsFS hdfsConnectAsUserNewInstance(const char* name_node, tPort port,
                                              const char* user);

/* Frees the handle, also on errors. Files that are open stay usable, and must be closed. */
EBBFS_API int hdfsDisconnect(hdfsFS fs);

/*
 * A value of core-site.xml and hdfs-site.xml; *value is NULL if they have none, which is no error.
 * Free it with hdfsConfStrFree. Returns 0, or an error number.
 */
EBBFS_API int hdfsConfGetStr(const char* key, char** value);
/* Leaves *value alone if the files have no such key. */
EBBFS_API int hdfsConfGetInt(const char* key, int32_t* value);
EBBFS_API void hdfsConfStrFree(char* value);

/* ---- Open files ----------------------------------------------------------------------------- */

/*
 * `flags` is O_RDONLY; O_WRONLY, which makes the file or replaces it; O_WRONLY | O_APPEND; or
 * O_WRONLY | O_CREAT | O_EXCL, which fails with EEXIST if there is such a file. O_RDWR is ENOTSUP.
 * 0 stands for the configured replication and block size. `bufferSize` has no effect.
 */
EBBFS_API hdfsFile hdfsOpenFile(hdfsFS fs, const char* path, int flags, int bufferSize,
                                short replication, tSize blockSize);

/* The same in steps, for blocks of any size. Building frees the builder. */
EBBFS_API struct hdfsStreamBuilder* hdfsStreamBuilderAlloc(hdfsFS fs, const char* path, int flags);
EBBFS_API void hdfsStreamBuilderFree(struct hdfsStreamBuilder* builder);
/* These three fail with EINVAL for a file that is not opened for writing. */
EBBFS_API int hdfsStreamBuilderSetBufferSize(struct hdfsStreamBuilder* builder,
                                             int32_t bufferSize);
EBBFS_API int hdfsStreamBuilderSetReplication(struct hdfsStreamBuilder* builder,
                                              int16_t replication);
EBBFS_API int hdfsStreamBuilderSetDefaultBlockSize(struct hdfsStreamBuilder* builder,
                                                   int64_t blockSize);
EBBFS_API hdfsFile hdfsStreamBuilderBuild(struct hdfsStreamBuilder* builder);

/*
 * Opens a file for reading while the caller does something else. Building frees the builder.
 * Options have no effect; a key of hdfsOpenFileBuilderMust that does not begin with
 * "fs.option.openfile." makes the build fail with EINVAL.
 */
EBBFS_API hdfsOpenFileBuilder* hdfsOpenFileBuilderAlloc(hdfsFS fs, const char* path);
EBBFS_API hdfsOpenFileBuilder* hdfsOpenFileBuilderMust(hdfsOpenFileBuilder* builder,
                                                       const char* key, const char* value);
EBBFS_API hdfsOpenFileBuilder* hdfsOpenFileBuilderOpt(hdfsOpenFileBuilder* builder,
                                                      const char* key, const char* value);
EBBFS_API hdfsOpenFileFuture* hdfsOpenFileBuilderBuild(hdfsOpenFileBuilder* builder);
EBBFS_API void hdfsOpenFileBuilderFree(hdfsOpenFileBuilder* builder);
/* Waits for the file, which the caller closes. One call gets it; later calls fail with EINVAL. */
EBBFS_API hdfsFile hdfsOpenFileFutureGet(hdfsOpenFileFuture* future);
/* ETIMEDOUT if it is not open in time; a later call may get it. */
EBBFS_API hdfsFile hdfsOpenFileFutureGetWithTimeout(hdfsOpenFileFuture* future, int64_t timeout,
                                                    javaConcurrentTimeUnit timeUnit);
/* 0 if nobody gets the file any more, -1 if it was open already. */
EBBFS_API int hdfsOpenFileFutureCancel(hdfsOpenFileFuture* future, int mayInterruptIfRunning);
/* Waits until the file is open, and closes it if nobody has got it. */
EBBFS_API void hdfsOpenFileFutureFree(hdfsOpenFileFuture* future);

/* Frees the handle, also on errors. A file that was written is complete if 0 is returned. */
EBBFS_API int hdfsCloseFile(hdfsFS fs, hdfsFile file);

/* 1 or 0. */
EBBFS_API int hdfsFileIsOpenForRead(hdfsFile file);
EBBFS_API int hdfsFileIsOpenForWrite(hdfsFile file);

/* ---- Reading -------------------------------------------------------------------------------- */

/*
 * Fills the buffer unless the end of the file or an error comes first, and moves the position:
 * returns the number of bytes, 0 only at the end. The next call meets the error again. Every byte agrees with the checksums of its writer. A file that is being
 * written has the length that it had when it was opened.
 */
EBBFS_API tSize hdfsRead(hdfsFS fs, hdfsFile file, void* buffer, tSize length);
/* The same from `position` on. The position of the file stays. */
EBBFS_API tSize hdfsPread(hdfsFS fs, hdfsFile file, tOffset position, void* buffer, tSize length);
/* 0 if all bytes were read; EINTERNAL if the file ends before. */
EBBFS_API int hdfsPreadFully(hdfsFS fs, hdfsFile file, tOffset position, void* buffer,
                             tSize length);
/* For reading only. EINVAL beyond the end. */
EBBFS_API int hdfsSeek(hdfsFS fs, hdfsFile file, tOffset position);
/* The bytes between the position and the end, at most INT_MAX. */
EBBFS_API int hdfsAvailable(hdfsFS fs, hdfsFile file);
/* Ends connections that reading keeps open. 0, or an error number. */
EBBFS_API int hdfsUnbufferFile(hdfsFile file);

struct hdfsReadStatistics {
  uint64_t totalBytesRead;
  uint64_t totalLocalBytesRead;        /* from servers on this machine */
  uint64_t totalShortCircuitBytesRead; /* always 0 */
  uint64_t totalZeroCopyBytesRead;     /* always 0 */
};
/* Free them with hdfsFileFreeReadStatistics. EINVAL for a file that is written. */
EBBFS_API int hdfsFileGetReadStatistics(hdfsFile file, struct hdfsReadStatistics** statistics);
EBBFS_API int64_t
hdfsReadStatisticsGetRemoteBytesRead(const struct hdfsReadStatistics* statistics);
/* 0, or an error number. */
EBBFS_API int hdfsFileClearReadStatistics(hdfsFile file);
EBBFS_API void hdfsFileFreeReadStatistics(struct hdfsReadStatistics* statistics);

struct hdfsHedgedReadMetrics {
  uint64_t hedgedReadOps;
  uint64_t hedgedReadOpsWin;
  uint64_t hedgedReadOpsInCurThread;
};
/* Zeros: no read is sent to two servers. Free them with hdfsFreeHedgedReadMetrics. */
EBBFS_API int hdfsGetHedgedReadMetrics(hdfsFS fs, struct hdfsHedgedReadMetrics** metrics);
EBBFS_API void hdfsFreeHedgedReadMetrics(struct hdfsHedgedReadMetrics* metrics);

/*
 * Reads into a buffer of the library. Bytes are copied, therefore a read without a pool of buffers
 * fails with EPROTONOSUPPORT. Checksums are verified, whatever the options say.
 */
EBBFS_API struct hadoopRzOptions* hadoopRzOptionsAlloc(void);
EBBFS_API int hadoopRzOptionsSetSkipChecksum(struct hadoopRzOptions* options, int skip);
/* ELASTIC_BYTE_BUFFER_POOL_CLASS, or NULL for none. */
EBBFS_API int hadoopRzOptionsSetByteBufferPool(struct hadoopRzOptions* options,
                                               const char* class_name);
EBBFS_API void hadoopRzOptionsFree(struct hadoopRzOptions* options);
EBBFS_API struct hadoopRzBuffer* hadoopReadZero(hdfsFile file, struct hadoopRzOptions* options,
                                                int32_t maxLength);
EBBFS_API int32_t hadoopRzBufferLength(const struct hadoopRzBuffer* buffer);
/* NULL at the end of the file. */
EBBFS_API const void* hadoopRzBufferGet(const struct hadoopRzBuffer* buffer);
EBBFS_API void hadoopRzBufferFree(hdfsFile file, struct hadoopRzBuffer* buffer);

/* ---- Writing -------------------------------------------------------------------------------- */

/* Writes all bytes and returns their number. After an error the file accepts no more. */
EBBFS_API tSize hdfsWrite(hdfsFS fs, hdfsFile file, const void* buffer, tSize length);
/* Promises nothing, as in libhdfs: use one of the next two. */
EBBFS_API int hdfsFlush(hdfsFS fs, hdfsFile file);
/* Readers that open the file from now on see what was written. */
EBBFS_API int hdfsHFlush(hdfsFS fs, hdfsFile file);
/* Returns when all servers of the pipeline have the written bytes on their disks. */
EBBFS_API int hdfsHSync(hdfsFS fs, hdfsFile file);

/* Where the next byte is read or written. */
EBBFS_API tOffset hdfsTell(hdfsFS fs, hdfsFile file);

/*
 * EbbFS's own: the length of a file that is read, as it was when it was opened, or that of a file
 * that is written, with all that was written so far.
 */
EBBFS_API tOffset ebbfsFileLength(hdfsFile file);

/* ---- Record append -------------------------------------------------------------------------- */

/*
 * EbbFS's own: many writers append records to one file at the same time. Each record lands in the
 * file as a whole and once, in no order between writers, and in order for one writer. Readers see a
 * record some time after it is stored; docs/record-append.md tells when. Threads share an appender.
 */
struct ebbfs_appender;

/* How records are appended. 0 stands for the default. */
struct ebbfs_append_options {
  int32_t lanes;                /* blocks that take records at a time, for all writers alike: 4 */
  int32_t replication;          /* of a new file: as configured */
  int64_t block_bytes;          /* of a new file: as configured */
  int32_t batch_bytes;          /* bytes that are sent at a time: 256 KiB */
  int32_t unacknowledged_bytes; /* beyond so many bytes without an answer calls wait: 4 MiB */
  int32_t idle_millis;          /* a lane that gets no record for so long is sealed: 5 s */
  int32_t age_millis;           /* a lane is sealed so long after its first record: 60 s */
  int64_t patience_millis;      /* after so long without a lane, appends fail: 120 s */
};

/*
 * Tells of a record, on a thread of the appender, in the order of the records: `error` is 0 if the
 * record is stored, that is, if all servers of its block have it; else it is an errno, and the
 * record may be in the file or not. May append, but not close the appender.
 */
typedef void (*ebbfs_stored)(void* context, int error);

/*
 * Opens a file for record appends, and creates it if it does not exist. `options` may be NULL. ENOTSUP
 * if clients encode or encrypt the file; EINVAL below a snapshottable directory. The handle is for
 * ebbfs_append_close.
 */
EBBFS_API struct ebbfs_appender* ebbfs_append_open(hdfsFS fs, const char* path,
                                                   const struct ebbfs_append_options* options);
/*
 * Takes a copy of a record of 1 byte to 1 MiB; waits while too many bytes have no answer. `stored` is
 * called with `context` later, unless -1 is returned, and may be NULL.
 */
EBBFS_API int ebbfs_append(struct ebbfs_appender* appender, const void* record, tSize length,
                           ebbfs_stored stored, void* context);
/* Returns when all records that were appended before are stored. */
EBBFS_API int ebbfs_append_flush(struct ebbfs_appender* appender);
/*
 * The same; then calls what is to be called, and makes the records visible unless other writers use
 * the lane. Frees the handle, also on errors, but not in a call of an ebbfs_stored: EDEADLK there.
 */
EBBFS_API int ebbfs_append_close(struct ebbfs_appender* appender);
/* Makes all stored records of the file visible. Writers go on. */
EBBFS_API int ebbfs_append_seal_all(hdfsFS fs, const char* path);
/* The same, and removes what record appends have left beside the file. All writers must have closed. */
EBBFS_API int ebbfs_append_finish(hdfsFS fs, const char* path);

/* ---- Names ---------------------------------------------------------------------------------- */

/*
 * 0 if it exists; -1 with ENOENT if not. With ebbfs.client.status.cache.millis this call and
 * hdfsGetPathInfo may tell what was true so long ago.
 */
EBBFS_API int hdfsExists(hdfsFS fs, const char* path);
/* EIO if there is no such path; ENOTEMPTY for a directory with entries, unless `recursive`. */
EBBFS_API int hdfsDelete(hdfsFS fs, const char* path, int recursive);
/* Into `newPath` if that is a directory. EIO if the name node refuses. */
EBBFS_API int hdfsRename(hdfsFS fs, const char* oldPath, const char* newPath);
/*
 * EbbFS's own: gives a file or directory another name. A file or an empty directory that has the
 * name is replaced, in one step.
 */
EBBFS_API int ebbfsReplace(hdfsFS fs, const char* oldPath, const char* newPath);
/* Makes missing parents, too. 0 if there is such a directory already. */
EBBFS_API int hdfsCreateDirectory(hdfsFS fs, const char* path);
/* Copies a file or a tree, into `target` if that is a directory; files are replaced. */
EBBFS_API int hdfsCopy(hdfsFS sourceFs, const char* source, hdfsFS targetFs, const char* target);
/* The same; the source is deleted once all is copied. */
EBBFS_API int hdfsMove(hdfsFS sourceFs, const char* source, hdfsFS targetFs, const char* target);
/* 1 if the file has its new length; 0 if it gets it soon, and cannot be written until then. */
EBBFS_API int hdfsTruncateFile(hdfsFS fs, const char* path, tOffset length);

/* A URI. Returns `buffer`; ENAMETOOLONG if it is too small. */
EBBFS_API char* hdfsGetWorkingDirectory(hdfsFS fs, char* buffer, size_t bufferSize);
/* Of this handle. The directory need not exist. */
EBBFS_API int hdfsSetWorkingDirectory(hdfsFS fs, const char* path);

/* ---- Attributes ----------------------------------------------------------------------------- */

typedef struct {
  tObjectKind mKind;
  char* mName; /* a URI */
  tTime mLastMod;
  tOffset mSize; /* 0 for a directory */
  short mReplication;
  tOffset mBlockSize;
  char* mOwner;
  char* mGroup;
  short mPermissions;
  tTime mLastAccess;
} hdfsFileInfo;

/*
 * The entries of a directory, in the order of their names, or a file itself. NULL with errno 0 for
 * an empty directory. Free them with hdfsFreeFileInfo.
 */
EBBFS_API hdfsFileInfo* hdfsListDirectory(hdfsFS fs, const char* path, int* numEntries);
/* One entry. Free it with hdfsFreeFileInfo. */
EBBFS_API hdfsFileInfo* hdfsGetPathInfo(hdfsFS fs, const char* path);
EBBFS_API void hdfsFreeFileInfo(hdfsFileInfo* infos, int numEntries);
/* 1 or 0, for an entry of the two functions above. Such a file can be listed, but not read. */
EBBFS_API int hdfsFileIsEncrypted(hdfsFileInfo* info);

/* NULL keeps the owner or the group. */
EBBFS_API int hdfsChown(hdfsFS fs, const char* path, const char* owner, const char* group);
EBBFS_API int hdfsChmod(hdfsFS fs, const char* path, short mode);
/* -1 keeps a time. */
EBBFS_API int hdfsUtime(hdfsFS fs, const char* path, tTime modified, tTime accessed);
/* ENOENT if there is no such file. */
EBBFS_API int hdfsSetReplication(hdfsFS fs, const char* path, int16_t replication);

/*
 * For each block of the range the names of the servers that hold it; the last element of each list
 * is NULL. Free them with hdfsFreeHosts.
 */
EBBFS_API char*** hdfsGetHosts(hdfsFS fs, const char* path, tOffset start, tOffset length);
EBBFS_API void hdfsFreeHosts(char*** hosts);

/* What a new file gets if its writer names no block size. */
EBBFS_API tOffset hdfsGetDefaultBlockSize(hdfsFS fs);
EBBFS_API tOffset hdfsGetDefaultBlockSizeAtPath(hdfsFS fs, const char* path);
/* Bytes of all disks, and those that are used. */
EBBFS_API tOffset hdfsGetCapacity(hdfsFS fs);
EBBFS_API tOffset hdfsGetUsed(hdfsFS fs);

/* ---- Errors --------------------------------------------------------------------------------- */

/*
 * The last error of this thread: the exception without its package, and its message; the second
 * function names the exception in full, and the name node that threw it. NULL if no call has
 * failed. Valid until the next call of this thread; not to be freed.
 */
EBBFS_API char* hdfsGetLastExceptionRootCause(void);
EBBFS_API char* hdfsGetLastExceptionStackTrace(void);

#ifdef __cplusplus
}
#endif

#endif
