/* SPDX-License-Identifier: Apache-2.0
 *
 * A libibverbs for tests: presents the devices and ports of a captured machine to NCCL, far enough for NCCL to choose
 * among them and no further. NCCL_TUNE_FAKE_ROOT names the folder in which the machine is laid out:
 *   sys/class/infiniband_verbs/uverbsN/ibdev      the device of each uverbs node, in the kernel's order
 *   dev/infiniband/uverbsN                        there when the job's user can open it
 *   sys/class/infiniband/NAME/ports/N/{state,link_layer,rate}
 * The names and the layout of what it hands out are those of rdma-core's public header.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The header turns these into inline functions. */
#undef ibv_get_device_list
#undef ibv_query_port
#undef ibv_reg_mr
#undef ibv_reg_mr_iova

enum { kMostDevices = 256, kMostPorts = 8 };

struct device {
  struct ibv_device base; /* first: callers hold a pointer to it */
  int port_count;
};

static struct device devices[kMostDevices];
static int device_count = -1;

static const char* root(void) {
  const char* folder = getenv("NCCL_TUNE_FAKE_ROOT");
  return folder == NULL ? "/proc/nonexistent" : folder;
}

/* The first line of a file of the machine, without its end; 0 when there is none. */
static int read_line(const char* path, char* out, int size) {
  char full[4096];
  snprintf(full, sizeof full, "%s/%s", root(), path);
  FILE* file = fopen(full, "re");
  const int got = file != NULL && fgets(out, size, file) != NULL;
  if (file != NULL) fclose(file);
  if (got) out[strcspn(out, "\n")] = '\0';
  return got;
}

static int read_attribute(const struct ibv_device* device, int port, const char* name, char* out, int size) {
  char path[512];
  snprintf(path, sizeof path, "sys/class/infiniband/%s/ports/%d/%s", device->name, port, name);
  return read_line(path, out, size);
}

static int count_ports(const struct ibv_device* device) {
  char state[64];
  int most = 0;
  for (int port = 1; port <= kMostPorts; ++port) {
    if (read_attribute(device, port, "state", state, sizeof state)) most = port;
  }
  return most;
}

static void add_device(int node) {
  struct device* device = &devices[device_count];
  char path[128], name[64];
  snprintf(path, sizeof path, "sys/class/infiniband_verbs/uverbs%d/ibdev", node);
  if (!read_line(path, name, sizeof name)) return;
  device->base.node_type = IBV_NODE_CA;
  snprintf(device->base.name, sizeof device->base.name, "%s", name);
  snprintf(device->base.dev_name, sizeof device->base.dev_name, "uverbs%d", node);
  snprintf(device->base.dev_path, sizeof device->base.dev_path, "/sys/class/infiniband_verbs/uverbs%d", node);
  snprintf(device->base.ibdev_path, sizeof device->base.ibdev_path, "/sys/class/infiniband/%s", name);
  device->port_count = count_ports(&device->base);
  ++device_count;
}

static void load(void) {
  if (device_count >= 0) return;
  device_count = 0;
  for (int node = 0; node < kMostDevices && device_count < kMostDevices; ++node) add_device(node);
}

struct ibv_device** ibv_get_device_list(int* count) {
  load();
  struct ibv_device** list = calloc((size_t)device_count + 1, sizeof *list);
  for (int i = 0; i < device_count; ++i) list[i] = &devices[i].base;
  if (count != NULL) *count = device_count;
  return list;
}

void ibv_free_device_list(struct ibv_device** list) { free(list); }

const char* ibv_get_device_name(struct ibv_device* device) { return device->name; }

struct ibv_context* ibv_open_device(struct ibv_device* device) {
  char path[4096];
  snprintf(path, sizeof path, "%s/dev/infiniband/%s", root(), device->dev_name);
  if (access(path, F_OK) != 0) {
    errno = EACCES;
    return NULL;
  }
  struct verbs_context* context = calloc(1, sizeof *context);
  context->context.device = device;
  return &context->context;
}

int ibv_close_device(struct ibv_context* context) {
  free((char*)context - offsetof(struct verbs_context, context));
  return 0;
}

int ibv_query_device(struct ibv_context* context, struct ibv_device_attr* out) {
  const struct device* device = (const struct device*)context->device;
  memset(out, 0, sizeof *out);
  out->phys_port_cnt = (uint8_t)device->port_count;
  out->node_guid = out->sys_image_guid = 0x1000 + (uint64_t)(device - devices);
  out->max_qp = 1 << 17;
  out->max_mr = 1 << 20;
  return 0;
}

/* 4 lanes at the verbs code nearest to a quarter of the rate. */
static uint8_t speed_code(double gbit) {
  static const struct {
    double lane;
    int code;
  } table[] = {{3, 1}, {6, 2}, {12, 4}, {20, 16}, {40, 32}, {70, 64}};
  for (size_t i = 0; i < sizeof table / sizeof *table; ++i) {
    if (gbit / 4 < table[i].lane) return (uint8_t)table[i].code;
  }
  return 128;
}

int ibv_query_port(struct ibv_context* context, uint8_t port, struct _compat_ibv_port_attr* compat) {
  struct ibv_port_attr* out = (struct ibv_port_attr*)compat;
  char text[128];
  memset(out, 0, offsetof(struct ibv_port_attr, link_layer) + sizeof out->link_layer);
  out->state = IBV_PORT_DOWN;
  out->gid_tbl_len = 16;
  out->active_mtu = out->max_mtu = IBV_MTU_4096;
  out->active_width = 2;
  out->lid = 1;
  if (read_attribute(context->device, port, "state", text, sizeof text))
    out->state = (enum ibv_port_state)(text[0] - '0');
  if (read_attribute(context->device, port, "rate", text, sizeof text))
    out->active_speed = speed_code(strtod(text, NULL));
  if (read_attribute(context->device, port, "link_layer", text, sizeof text)) {
    if (strcmp(text, "InfiniBand") == 0) out->link_layer = IBV_LINK_LAYER_INFINIBAND;
    if (strcmp(text, "Ethernet") == 0) out->link_layer = IBV_LINK_LAYER_ETHERNET;
  }
  return 0;
}

int ibv_query_gid(struct ibv_context* context, uint8_t port, int index, union ibv_gid* out) {
  (void)context, (void)port, (void)index;
  memset(out, 0, sizeof *out);
  return 0;
}

int ibv_fork_init(void) { return 0; }

const char* ibv_event_type_str(enum ibv_event_type event) {
  (void)event;
  return "event";
}

/* No event ever comes: a thread of NCCL waits here. */
int ibv_get_async_event(struct ibv_context* context, struct ibv_async_event* event) {
  (void)context, (void)event;
  for (;;) pause();
}

void ibv_ack_async_event(struct ibv_async_event* event) { (void)event; }

static struct ibv_pd only_domain;

struct ibv_pd* ibv_alloc_pd(struct ibv_context* context) {
  only_domain.context = context;
  return &only_domain;
}

int ibv_dealloc_pd(struct ibv_pd* domain) {
  (void)domain;
  return 0;
}

/* Everything that would move data says that it cannot. */
struct ibv_mr* ibv_reg_mr(struct ibv_pd* domain, void* start, size_t size, int access_flags) {
  (void)domain, (void)start, (void)size, (void)access_flags;
  errno = ENOSYS;
  return NULL;
}

struct ibv_mr* ibv_reg_mr_iova2(struct ibv_pd* domain, void* start, size_t size, uint64_t iova, unsigned access_flags) {
  (void)domain, (void)start, (void)size, (void)iova, (void)access_flags;
  errno = EINVAL;
  return NULL;
}

struct ibv_mr* ibv_reg_dmabuf_mr(struct ibv_pd* domain, uint64_t offset, size_t size, uint64_t iova, int fd,
                                 int access_flags) {
  (void)domain, (void)offset, (void)size, (void)iova, (void)fd, (void)access_flags;
  errno = EOPNOTSUPP;
  return NULL;
}

int ibv_dereg_mr(struct ibv_mr* region) {
  (void)region;
  return 0;
}

struct ibv_cq* ibv_create_cq(struct ibv_context* context, int size, void* data, struct ibv_comp_channel* channel,
                             int vector) {
  (void)context, (void)size, (void)data, (void)channel, (void)vector;
  errno = ENOSYS;
  return NULL;
}

int ibv_destroy_cq(struct ibv_cq* queue) {
  (void)queue;
  return 0;
}

struct ibv_qp* ibv_create_qp(struct ibv_pd* domain, struct ibv_qp_init_attr* attributes) {
  (void)domain, (void)attributes;
  errno = ENOSYS;
  return NULL;
}

int ibv_modify_qp(struct ibv_qp* pair, struct ibv_qp_attr* attributes, int mask) {
  (void)pair, (void)attributes, (void)mask;
  return ENOSYS;
}

int ibv_query_qp(struct ibv_qp* pair, struct ibv_qp_attr* attributes, int mask, struct ibv_qp_init_attr* init) {
  (void)pair, (void)attributes, (void)mask, (void)init;
  return ENOSYS;
}

int ibv_destroy_qp(struct ibv_qp* pair) {
  (void)pair;
  return 0;
}
