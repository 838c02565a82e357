/* A preloaded library that redirects to a folder of the test: the kernel's description of adapters, and the files by
 * which systemd is recognized. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEVICES "/dev/infiniband"
#define SYSTEMD "/run/systemd/"

static int device = -1;

static int is_device(const char *path)
{
	return !strncmp(path, DEVICES, strlen(DEVICES));
}

static const char *redirected(const char *path, char *room, size_t size)
{
	const char *folder = getenv("FABDECK_MACHINE");

	if (!folder || (strncmp(path, "/sys/class/infiniband", 21) && strncmp(path, SYSTEMD, strlen(SYSTEMD)) &&
			!is_device(path)))
		return path;
	snprintf(room, size, "%s%s", folder, path);
	return room;
}

int open(const char *path, int flags, ...)
{
	static int (*real)(const char *, int, ...);
	char room[4096];
	mode_t mode = 0;
	va_list rest;

	if (flags & O_CREAT) {
		va_start(rest, flags);
		mode = va_arg(rest, mode_t);
		va_end(rest);
	}
	/* Root ignores permissions, so the library refuses the call itself. */
	const char *refusal = is_device(path) ? getenv("FABDECK_DEVICE_ERRNO") : NULL;
	if (refusal) {
		errno = atoi(refusal);
		return -1;
	}
	if (!real)
		real = dlsym(RTLD_NEXT, "open");
	int fd = real(redirected(path, room, sizeof room), flags, mode);
	if (is_device(path))
		device = fd;
	return fd;
}

int statx(int from, const char *path, int flags, unsigned mask, struct statx *told)
{
	static int (*real)(int, const char *, int, unsigned, struct statx *);
	char room[4096];

	if (!real)
		real = dlsym(RTLD_NEXT, "statx");
	return real(from, path ? redirected(path, room, sizeof room) : path, flags, mask, told);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
	static ssize_t (*real)(int, const void *, size_t);
	const char *refusal = fd == device ? getenv("FABDECK_WRITE_ERRNO") : NULL;

	if (refusal) {
		errno = atoi(refusal);
		return -1;
	}
	if (!real)
		real = dlsym(RTLD_NEXT, "write");
	return real(fd, bytes, count);
}

DIR *opendir(const char *path)
{
	static DIR *(*real)(const char *);
	char room[4096];

	if (!real)
		real = dlsym(RTLD_NEXT, "opendir");
	return real(redirected(path, room, sizeof room));
}

int scandir(const char *path, struct dirent ***names, int (*filter)(const struct dirent *),
	    int (*compare)(const struct dirent **, const struct dirent **))
{
	static int (*real)(const char *, struct dirent ***, int (*)(const struct dirent *),
			   int (*)(const struct dirent **, const struct dirent **));
	char room[4096];

	if (!real)
		real = dlsym(RTLD_NEXT, "scandir");
	return real(redirected(path, room, sizeof room), names, filter, compare);
}

/* Without libibumad, dlopen fails with the loader's own message. */
void *dlopen(const char *name, int flags)
{
	static void *(*real)(const char *, int);

	if (!real)
		real = dlsym(RTLD_NEXT, "dlopen");
	if (name && getenv("FABDECK_NO_LIBRARY") && !strcmp(name, "libibumad.so.3"))
		name = "libibumad-absent.so.3";
	return real(name, flags);
}

/* A plain file in place of the device has no ioctls, so the library grants P_Keys, and agents if the test says so. */
int ioctl(int fd, unsigned long request, ...)
{
	static int (*real)(int, unsigned long, ...);
	va_list rest;
	void *argument;

	va_start(rest, request);
	argument = va_arg(rest, void *);
	va_end(rest);
	if (getenv("FABDECK_MACHINE") && (request >> 8 & 0xff) == 0x1b) {
		int number = request & 0xff;
		if (number == 3 && !getenv("FABDECK_OLD_KERNEL"))
			return 0;
		if (number != 3 && getenv("FABDECK_AGENTS")) {
			*(int *)argument = 1;
			return 0;
		}
		errno = EPERM;
		return -1;
	}
	if (!real)
		real = dlsym(RTLD_NEXT, "ioctl");
	return real(fd, request, argument);
}
