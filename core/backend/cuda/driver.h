/* SPDX-License-Identifier: MIT
 *
 * The CUDA driver and NVRTC as this program sees them: types, constants and one table of entry points for each of the
 * two libraries, loaded at run time. No CUDA header is needed to build; tests/c/test_cuda_abi.c compares every
 * prototype, constant and struct here with NVIDIA's headers where those are installed.
 *
 * The names in the tables are the exported symbols (with _v2 where the driver has it), chosen so that the libraries of
 * CUDA 12.0 to 13.x all have them. Calls go through cuda_driver.cuXxx and cuda_nvrtc.nvrtcXxx. */
#ifndef MW_CUDA_DRIVER_H
#define MW_CUDA_DRIVER_H

#include <signal.h>

#include "core/backend/backend.h"

typedef unsigned cuda_result;            /* CUresult */
typedef int cuda_ordinal;                /* CUdevice */
typedef unsigned long long cuda_address; /* CUdeviceptr */
typedef struct CUctx_st *cuda_context;
typedef struct CUmod_st *cuda_code; /* CUmodule */
typedef struct CUfunc_st *cuda_function;
typedef struct CUstream_st *cuda_queue;  /* CUstream */
typedef struct CUevent_st *cuda_marker;  /* CUevent */
typedef struct CUgraph_st *cuda_drawing; /* CUgraph */
typedef struct CUgraphNode_st *cuda_node;
typedef struct CUgraphExec_st *cuda_replay; /* CUgraphExec */
typedef struct CUmemPoolHandle_st *cuda_pool;
typedef struct CUkern_st *cuda_library_kernel;

typedef struct cuda_uuid {
  char bytes[16];
} cuda_uuid;

typedef struct cuda_access { /* CUmemAccessDesc */
  struct {
    unsigned type; /* CUmemLocationType */
    int id;
  } location;
  unsigned flags;
} cuda_access;

typedef struct cuda_node_params { /* CUDA_KERNEL_NODE_PARAMS_v2 */
  cuda_function func;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared;
  void **params, **extra;
  cuda_library_kernel kernel;
  cuda_context context;
} cuda_node_params;

typedef struct CUarray_st *cuda_array;
typedef unsigned long long cuda_handle; /* CUtexObject, CUsurfObject */

typedef struct cuda_array_shape { /* CUDA_ARRAY3D_DESCRIPTOR */
  size_t width, height, depth;
  unsigned format, channels, flags;
} cuda_array_shape;

typedef struct cuda_copy_end { /* half of a CUDA_MEMCPY3D */
  size_t x, y, z, level;
  unsigned type;
  const void *host;
  cuda_address address;
  cuda_array array;
  void *reserved;
  size_t pitch, height;
} cuda_copy_end;

typedef struct cuda_copy_3d { /* CUDA_MEMCPY3D */
  cuda_copy_end from, to;
  size_t width, height, depth; /* width in bytes */
} cuda_copy_3d;

typedef struct cuda_resource { /* CUDA_RESOURCE_DESC */
  unsigned type;
  union {
    cuda_array array;
    struct {
      cuda_address address;
      unsigned format, channels;
      size_t width, height, pitch; /* of linear memory the first is its bytes; pitch in bytes */
    } memory;
    int reserved[32];
  };
  unsigned flags;
} cuda_resource;

typedef struct cuda_sampling { /* CUDA_TEXTURE_DESC */
  unsigned address[3], filter, flags, anisotropy, level_filter;
  float level_bias, least_level, greatest_level, border[4];
  int reserved[12];
} cuda_sampling;

/* CUresult: those that the program distinguishes */
enum {
  CUDA_OK = 0,
  CUDA_OUT_OF_MEMORY = 2,
  CUDA_DEINITIALIZED = 4,
  CUDA_NO_DEVICE = 100,
  CUDA_ECC_UNCORRECTABLE = 214,
  CUDA_PEER_ALREADY_ENABLED = 704,
  CUDA_INVALID_IMAGE = 200,
  CUDA_NO_BINARY_FOR_GPU = 209,
  CUDA_UNSUPPORTED_PTX_VERSION = 222,
  CUDA_NVLINK_UNCORRECTABLE = 220,
  CUDA_NOT_FOUND = 500,
  CUDA_NOT_READY = 600,
  CUDA_ILLEGAL_ADDRESS = 700,
  CUDA_LAUNCH_OUT_OF_RESOURCES = 701,
  CUDA_LAUNCH_TIMEOUT = 702,
  CUDA_CONTEXT_IS_DESTROYED = 709,
  CUDA_ASSERT = 710,
  CUDA_HARDWARE_STACK_ERROR = 714,
  CUDA_ILLEGAL_INSTRUCTION = 715,
  CUDA_MISALIGNED_ADDRESS = 716,
  CUDA_INVALID_ADDRESS_SPACE = 717,
  CUDA_INVALID_PC = 718,
  CUDA_LAUNCH_FAILED = 719,
  CUDA_COOPERATIVE_TOO_LARGE = 720,
  CUDA_TENSOR_MEMORY_LEAK = 721,
  CUDA_CAPTURE_UNJOINED = 904,
};

#define CUDA_CPU               (-1)             /* CU_DEVICE_CPU */
#define CUDA_STREAM_PER_THREAD ((cuda_queue)2) /* CU_STREAM_PER_THREAD */

/* CUdevice_attribute */
enum {
  CUDA_ATTR_MAX_THREADS_PER_BLOCK = 1,
  CUDA_ATTR_MAX_BLOCK_DIM_X = 2, /* y and z follow */
  CUDA_ATTR_MAX_GRID_DIM_X = 5,  /* y and z follow */
  CUDA_ATTR_MAX_SHARED_PER_BLOCK = 8,
  CUDA_ATTR_TOTAL_CONSTANT_MEMORY = 9,
  CUDA_ATTR_WARP_SIZE = 10,
  CUDA_ATTR_MAX_REGISTERS_PER_BLOCK = 12,
  CUDA_ATTR_CLOCK_RATE = 13, /* kHz */
  CUDA_ATTR_MULTIPROCESSOR_COUNT = 16,
  CUDA_ATTR_ECC_ENABLED = 32,
  CUDA_ATTR_MEMORY_CLOCK_RATE = 36, /* kHz */
  CUDA_ATTR_GLOBAL_MEMORY_BUS_WIDTH = 37,
  CUDA_ATTR_L2_CACHE_SIZE = 38,
  CUDA_ATTR_MAX_THREADS_PER_MP = 39,
  CUDA_ATTR_ASYNC_ENGINE_COUNT = 40,
  CUDA_ATTR_CAPABILITY_MAJOR = 75,
  CUDA_ATTR_CAPABILITY_MINOR = 76,
  CUDA_ATTR_MAX_SHARED_PER_MP = 81,
  CUDA_ATTR_MAX_REGISTERS_PER_MP = 82,
  CUDA_ATTR_MANAGED_MEMORY = 83,
  CUDA_ATTR_PAGEABLE_ACCESS = 88,
  CUDA_ATTR_CONCURRENT_MANAGED_ACCESS = 89,
  CUDA_ATTR_REGISTERED_AT_HOST_POINTER = 91,
  CUDA_ATTR_COOPERATIVE_LAUNCH = 95,
  CUDA_ATTR_MAX_SHARED_PER_BLOCK_OPTIN = 97,
  CUDA_ATTR_HOST_REGISTER = 99,
  CUDA_ATTR_MAX_BLOCKS_PER_MP = 106,
  CUDA_ATTR_RESERVED_SHARED_PER_BLOCK = 111,
  CUDA_ATTR_MEMORY_POOLS_SUPPORTED = 115,
};

/* CUfunction_attribute */
enum {
  CUDA_FUNC_MAX_THREADS_PER_BLOCK = 0,
  CUDA_FUNC_SHARED_SIZE = 1,
  CUDA_FUNC_CONST_SIZE = 2,
  CUDA_FUNC_LOCAL_SIZE = 3,
  CUDA_FUNC_NUM_REGS = 4,
  CUDA_FUNC_MAX_DYNAMIC_SHARED = 8,
  CUDA_FUNC_CARVEOUT = 9, /* per cent; -1: the driver's choice */
};

enum {
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_EVENT_DISABLE_TIMING = 2,
  CUDA_HOST_PORTABLE = 1,
  CUDA_HOST_DEVICEMAP = 2,
  CUDA_MANAGED_GLOBAL = 1,
  CUDA_ADVISE_SET_READ_MOSTLY = 1, /* CUmem_advise: to take it back follows, then the others in mw_advice's order */
  CUDA_CAPTURE_RELAXED = 2,
  CUDA_CAPTURE_ACTIVE = 1,
  CUDA_POOL_RELEASE_THRESHOLD = 4,
  CUDA_LOCATION_DEVICE = 1,
  CUDA_ACCESS_READ_WRITE = 3,
  CUDA_P2P_NATIVE_ATOMICS = 3, /* CUdevice_P2PAttribute */
  CUDA_JIT_ERROR_LOG = 5,
  CUDA_JIT_ERROR_LOG_SIZE = 6,
  CUDA_FORMAT_U8 = 1, /* CUarray_format */
  CUDA_FORMAT_U16 = 2,
  CUDA_FORMAT_U32 = 3,
  CUDA_FORMAT_I8 = 8,
  CUDA_FORMAT_I16 = 9,
  CUDA_FORMAT_I32 = 10,
  CUDA_FORMAT_F16 = 16,
  CUDA_FORMAT_F32 = 32,
  CUDA_ARRAY_LAYERED = 1,
  CUDA_ARRAY_WRITABLE = 2, /* by surfaces */
  CUDA_ARRAY_CUBE = 4,
  CUDA_ARRAY_GATHER = 8,
  CUDA_MEMORY_ARRAY = 3, /* CUmemorytype */
  CUDA_MEMORY_UNIFIED = 4,
  CUDA_RESOURCE_ARRAY = 0,
  CUDA_RESOURCE_LINEAR = 2,
  CUDA_RESOURCE_PITCHED = 3,
  CUDA_READ_AS_INTEGER = 1,
  CUDA_READ_NORMALISED = 2,
  CUDA_NODE_KERNEL = 0,
  CUDA_NODE_MEMCPY = 1,
  CUDA_NODE_MEMSET = 2,
  CUDA_NODE_HOST = 3,
  CUDA_NODE_EMPTY = 5,
};

/* clang-format off */
#define CUDA_DRIVER_CALLS(X) \
  X(cuInit,                            (unsigned flags)) \
  X(cuDriverGetVersion,                (int *version)) \
  X(cuGetErrorName,                    (cuda_result, const char **)) \
  X(cuGetErrorString,                  (cuda_result, const char **)) \
  X(cuDeviceGetCount,                  (int *)) \
  X(cuDeviceGet,                       (cuda_ordinal *, int)) \
  X(cuDeviceGetName,                   (char *, int, cuda_ordinal)) \
  X(cuDeviceGetUuid_v2,                (cuda_uuid *, cuda_ordinal)) \
  X(cuDeviceGetPCIBusId,               (char *, int, cuda_ordinal)) \
  X(cuDeviceTotalMem_v2,               (size_t *, cuda_ordinal)) \
  X(cuDeviceGetAttribute,              (int *, unsigned attribute, cuda_ordinal)) \
  X(cuDeviceGetDefaultMemPool,         (cuda_pool *, cuda_ordinal)) \
  X(cuDeviceCanAccessPeer,             (int *, cuda_ordinal, cuda_ordinal)) \
  X(cuDeviceGetP2PAttribute,           (int *, unsigned attribute, cuda_ordinal, cuda_ordinal)) \
  X(cuDevicePrimaryCtxRetain,          (cuda_context *, cuda_ordinal)) \
  X(cuDevicePrimaryCtxRelease_v2,      (cuda_ordinal)) \
  X(cuCtxSetCurrent,                   (cuda_context)) \
  X(cuCtxGetStreamPriorityRange,       (int *least, int *greatest)) \
  X(cuCtxEnablePeerAccess,             (cuda_context, unsigned flags)) \
  X(cuMemGetInfo_v2,                   (size_t *free, size_t *total)) \
  X(cuMemAlloc_v2,                     (cuda_address *, size_t)) \
  X(cuMemFree_v2,                      (cuda_address)) \
  X(cuMemAllocAsync,                   (cuda_address *, size_t, cuda_queue)) \
  X(cuMemFreeAsync,                    (cuda_address, cuda_queue)) \
  X(cuMemHostAlloc,                    (void **, size_t, unsigned flags)) \
  X(cuMemFreeHost,                     (void *)) \
  X(cuMemAllocManaged,                 (cuda_address *, size_t, unsigned flags)) \
  X(cuMemHostRegister_v2,              (void *, size_t, unsigned flags)) \
  X(cuMemHostUnregister,               (void *)) \
  X(cuMemPrefetchAsync,                (cuda_address, size_t, cuda_ordinal to, cuda_queue)) \
  X(cuMemAdvise,                       (cuda_address, size_t, unsigned advice, cuda_ordinal)) \
  X(cuMemPoolSetAttribute,             (cuda_pool, unsigned attribute, void *)) \
  X(cuMemPoolSetAccess,                (cuda_pool, const cuda_access *, size_t count)) \
  X(cuMemPoolTrimTo,                   (cuda_pool, size_t keep)) \
  X(cuMemcpyHtoDAsync_v2,              (cuda_address, const void *, size_t, cuda_queue)) \
  X(cuMemcpyDtoHAsync_v2,              (void *, cuda_address, size_t, cuda_queue)) \
  X(cuMemcpyDtoDAsync_v2,              (cuda_address, cuda_address, size_t, cuda_queue)) \
  X(cuMemcpyAsync,                     (cuda_address, cuda_address, size_t, cuda_queue)) \
  X(cuMemcpyPeerAsync,                 (cuda_address, cuda_context, cuda_address, cuda_context, size_t, cuda_queue)) \
  X(cuMemsetD8Async,                   (cuda_address, unsigned char, size_t, cuda_queue)) \
  X(cuMemsetD16Async,                  (cuda_address, unsigned short, size_t, cuda_queue)) \
  X(cuMemsetD32Async,                  (cuda_address, unsigned, size_t, cuda_queue)) \
  X(cuMemsetD2D32Async,                (cuda_address, size_t pitch, unsigned, size_t width, size_t height, cuda_queue)) \
  X(cuArray3DCreate_v2,                (cuda_array *, const cuda_array_shape *)) \
  X(cuArrayDestroy,                    (cuda_array)) \
  X(cuMemcpy3DAsync_v2,                (const cuda_copy_3d *, cuda_queue)) \
  X(cuTexObjectCreate,                 (cuda_handle *, const cuda_resource *, const cuda_sampling *, const void *view)) \
  X(cuTexObjectDestroy,                (cuda_handle)) \
  X(cuSurfObjectCreate,                (cuda_handle *, const cuda_resource *)) \
  X(cuSurfObjectDestroy,               (cuda_handle)) \
  X(cuModuleLoadDataEx,                (cuda_code *, const void *, unsigned, unsigned *options, void **values)) \
  X(cuModuleUnload,                    (cuda_code)) \
  X(cuModuleGetFunction,               (cuda_function *, cuda_code, const char *)) \
  X(cuModuleGetGlobal_v2,              (cuda_address *, size_t *, cuda_code, const char *)) \
  X(cuFuncGetAttribute,                (int *, unsigned attribute, cuda_function)) \
  X(cuFuncSetAttribute,                (cuda_function, unsigned attribute, int)) \
  X(cuFuncSetCacheConfig,              (cuda_function, unsigned prefer)) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, cuda_function, int threads, size_t shared)) \
  X(cuLaunchKernel,                    (cuda_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                                        unsigned shared, cuda_queue, void **params, void **extra)) \
  X(cuLaunchCooperativeKernel,         (cuda_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                                        unsigned shared, cuda_queue, void **params)) \
  X(cuLaunchHostFunc,                  (cuda_queue, void (*)(void *), void *)) \
  X(cuStreamCreateWithPriority,        (cuda_queue *, unsigned flags, int priority)) \
  X(cuStreamDestroy_v2,                (cuda_queue)) \
  X(cuStreamWaitEvent,                 (cuda_queue, cuda_marker, unsigned flags)) \
  X(cuStreamQuery,                     (cuda_queue)) \
  X(cuStreamBeginCapture_v2,           (cuda_queue, unsigned mode)) \
  X(cuStreamEndCapture,                (cuda_queue, cuda_drawing *)) \
  X(cuStreamGetCaptureInfo_v2,         (cuda_queue, unsigned *status, unsigned long *id, cuda_drawing *, \
                                        const cuda_node **, size_t *)) \
  X(cuEventCreate,                     (cuda_marker *, unsigned flags)) \
  X(cuEventDestroy_v2,                 (cuda_marker)) \
  X(cuEventRecord,                     (cuda_marker, cuda_queue)) \
  X(cuEventQuery,                      (cuda_marker)) \
  X(cuEventElapsedTime,                (float *milliseconds, cuda_marker, cuda_marker)) \
  X(cuGraphInstantiateWithFlags,       (cuda_replay *, cuda_drawing, unsigned long long flags)) \
  X(cuGraphLaunch,                     (cuda_replay, cuda_queue)) \
  X(cuGraphExecKernelNodeSetParams_v2, (cuda_replay, cuda_node, const cuda_node_params *)) \
  X(cuGraphGetNodes,                   (cuda_drawing, cuda_node *, size_t *)) \
  X(cuGraphGetEdges,                   (cuda_drawing, cuda_node *, cuda_node *, size_t *)) \
  X(cuGraphNodeGetType,                (cuda_node, unsigned *)) \
  X(cuGraphExecDestroy,                (cuda_replay)) \
  X(cuGraphDestroy,                    (cuda_drawing))

typedef struct _nvrtcProgram *cuda_program; /* NVRTC's own tag */

#define CUDA_NVRTC_CALLS(X) \
  X(nvrtcGetErrorString,      const char *, (unsigned)) \
  X(nvrtcVersion,             unsigned, (int *, int *)) \
  X(nvrtcGetNumSupportedArchs, unsigned, (int *)) \
  X(nvrtcGetSupportedArchs,   unsigned, (int *)) \
  X(nvrtcCreateProgram,       unsigned, (cuda_program *, const char *text, const char *name, int, \
                                         const char *const *headers, const char *const *names)) \
  X(nvrtcDestroyProgram,      unsigned, (cuda_program *)) \
  X(nvrtcCompileProgram,      unsigned, (cuda_program, int, const char *const *options)) \
  X(nvrtcAddNameExpression,   unsigned, (cuda_program, const char *)) \
  X(nvrtcGetLoweredName,      unsigned, (cuda_program, const char *, const char **)) \
  X(nvrtcGetProgramLogSize,   unsigned, (cuda_program, size_t *)) \
  X(nvrtcGetProgramLog,       unsigned, (cuda_program, char *)) \
  X(nvrtcGetCUBINSize,        unsigned, (cuda_program, size_t *)) \
  X(nvrtcGetCUBIN,            unsigned, (cuda_program, char *)) \
  X(nvrtcGetPTXSize,          unsigned, (cuda_program, size_t *)) \
  X(nvrtcGetPTX,              unsigned, (cuda_program, char *))
/* clang-format on */

/* Since CUDA 12.8; NULL before. */
typedef unsigned nvrtc_set_flow_callback(cuda_program, int (*ask)(void *, void *), void *);

typedef struct cuda_driver_table {
#define CUDA_FIELD(name, arguments) cuda_result(*name) arguments;
  CUDA_DRIVER_CALLS(CUDA_FIELD)
#undef CUDA_FIELD
  int devices; /* as the driver counts them */
  int version; /* 1000 * major + 10 * minor */
} cuda_driver_table;

typedef struct cuda_nvrtc_table {
#define CUDA_FIELD(name, result, arguments) result(*name) arguments;
  CUDA_NVRTC_CALLS(CUDA_FIELD)
#undef CUDA_FIELD
  nvrtc_set_flow_callback *nvrtcSetFlowCallback;
  int major, minor;
  int archs[64], narchs; /* 75, 80, ...; ascending */
  char path[512];        /* of the library */
  char toolkit[512];     /* the folder that has include/cuda_fp16.h; "" where none was found */
} cuda_nvrtc_table;

extern cuda_driver_table cuda_driver;
extern cuda_nvrtc_table cuda_nvrtc;

typedef struct cuda_symbol { /* where its address goes in a table; a NULL name ends a list */
  const char *name;
  size_t offset;
} cuda_symbol;

/* Fills the table with the addresses, NULL for missing ones; returns the first that is, or NULL. */
const char *cuda_resolve(void *library, const cuda_symbol *, void *table);

/* Loads the library on the first call; true where it can be used. Else reason says what was looked for and where;
 * reason may be NULL. The driver with no device is not usable. */
bool cuda_driver_load(char *reason, size_t size);
bool cuda_nvrtc_load(char *reason, size_t size);

/* Around what starts threads of the driver: these take no signal then. Else one of them may take Ctrl-C while NVRTC has
 * its own handler for it, which ends the process. */
void cuda_signals_block(sigset_t *before);
void cuda_signals_restore(const sigset_t *before);

#endif
