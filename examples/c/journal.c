/*
 * Keeps a journal in EbbFS or HDFS: writes a file, adds to it, lists its directory and reads it.
 *
 *   cc journal.c $(pkg-config --cflags --libs ebbfs) -o journal
 *   ./journal default /tmp/journal
 *
 * "default" is the name node of core-site.xml, which the library finds as 'ebb fs' does.
 */
#include <fcntl.h>
#include <hdfs.h>
#include <stdio.h>
#include <string.h>

static int complain(const char* what) {
  const char* cause = hdfsGetLastExceptionRootCause();
  fprintf(stderr, "journal: %s: %s (%s)\n", what, strerror(errno),
          cause != NULL ? cause : "no more is known");
  return 1;
}

/* Writes a line; every reader that opens the file later sees it. */
static int write_line(hdfsFS fs, const char* path, int flags, const char* line) {
  const tSize length = (tSize)strlen(line);
  hdfsFile file = hdfsOpenFile(fs, path, flags, 0, 0, 0);
  if (file == NULL) return complain(path);
  if (hdfsWrite(fs, file, line, length) != length || hdfsHSync(fs, file) != 0) {
    const int failed = complain("hdfsWrite");
    hdfsCloseFile(fs, file);
    return failed;
  }
  /* The file is complete once it is closed. */
  return hdfsCloseFile(fs, file) == 0 ? 0 : complain("hdfsCloseFile");
}

static int print_file(hdfsFS fs, const char* path) {
  char buffer[4096];
  tSize read;
  hdfsFile file = hdfsOpenFile(fs, path, O_RDONLY, 0, 0, 0);
  if (file == NULL) return complain(path);
  while ((read = hdfsRead(fs, file, buffer, sizeof buffer)) > 0) {
    fwrite(buffer, 1, (size_t)read, stdout);
  }
  if (read < 0) complain("hdfsRead");
  hdfsCloseFile(fs, file);
  return read < 0 ? 1 : 0;
}

static int print_names(hdfsFS fs, const char* directory) {
  int count = 0;
  int i;
  hdfsFileInfo* infos = hdfsListDirectory(fs, directory, &count);
  if (infos == NULL) return errno == 0 ? 0 : complain(directory);
  for (i = 0; i < count; ++i) {
    printf("%c %lld %s\n", (char)infos[i].mKind, (long long)infos[i].mSize, infos[i].mName);
  }
  hdfsFreeFileInfo(infos, count);
  return 0;
}

static int keep_journal(hdfsFS fs, const char* directory) {
  char path[4096];
  snprintf(path, sizeof path, "%s/today", directory);
  if (hdfsCreateDirectory(fs, directory) != 0) return complain(directory);
  return write_line(fs, path, O_WRONLY, "the first line\n") ||
         write_line(fs, path, O_WRONLY | O_APPEND, "a second one\n") ||
         print_names(fs, directory) || print_file(fs, path);
}

int main(int argc, char** argv) {
  int failed;
  hdfsFS fs;
  struct hdfsBuilder* builder;
  if (argc != 3) {
    fprintf(stderr, "usage: journal NAMENODE DIRECTORY\n");
    return 2;
  }
  builder = hdfsNewBuilder();
  if (builder == NULL) return complain("hdfsNewBuilder");
  hdfsBuilderSetNameNode(builder, argv[1]);
  fs = hdfsBuilderConnect(builder);
  if (fs == NULL) return complain(argv[1]);
  failed = keep_journal(fs, argv[2]);
  return hdfsDisconnect(fs) != 0 || failed;
}
