// The low-level API of libfuse, at the version that this code is written for.
#pragma once

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
