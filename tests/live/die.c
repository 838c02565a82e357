/* A preloaded library that kills the process (SIGKILL) at a moment that a test names. Moments are counted before and
 * after each Set that is sent, each write to a journal, and each sync.
 *
 * FABDECK_DIE="WORD N"   a process with WORD among its arguments dies at its moment N; with 0 it lives
 * FABDECK_HANG=1         the process hangs forever at that moment instead
 * FABDECK_DIE_TOLD=FILE  receives the number of moments, a line for each such process that ends by itself
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAD 256

static int meant;
static long passed, last;

static void moment(void)
{
	if (!meant || ++passed != last)
		return;
	if (!getenv("FABDECK_HANG"))
		kill(getpid(), SIGKILL);
	for (;;)
		pause();
}

__attribute__((constructor)) static void begin(void)
{
	const char *wish = getenv("FABDECK_DIE");
	char word[64], line[4096];
	FILE *own;
	size_t length, at;

	if (!wish || sscanf(wish, "%63s %ld", word, &last) != 2)
		return;
	own = fopen("/proc/self/cmdline", "r");
	if (!own)
		return;
	length = fread(line, 1, sizeof line - 1, own);
	fclose(own);
	line[length] = 0;
	for (at = 0; at < length; at += strlen(line + at) + 1)
		meant |= !strcmp(line + at, word);
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FABDECK_DIE_TOLD");
	FILE *told = meant && path ? fopen(path, "a") : NULL;

	if (!told)
		return;
	fprintf(told, "%ld\n", passed);
	fclose(told);
}

/* Whether the datagram behind libibumad's header is a Set. */
static int is_set(const unsigned char *bytes, size_t count)
{
	const unsigned char *mad = bytes + count - MAD;

	return (count == 56 + MAD || count == 64 + MAD) && mad[0] == 1 && mad[1] == 0x81 && mad[3] == 2;
}

static int is_journal(int fd)
{
	char link[64], path[4096];
	ssize_t length;

	snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
	length = readlink(link, path, sizeof path);
	return length > 8 && !memcmp(path + length - 8, "/journal", 8);
}

ssize_t write(int fd, const void *bytes, size_t count)
{
	static ssize_t (*real)(int, const void *, size_t);
	int counts = meant && (is_set(bytes, count) || is_journal(fd));
	ssize_t written;

	if (!real)
		real = dlsym(RTLD_NEXT, "write");
	if (counts)
		moment();
	written = real(fd, bytes, count);
	if (counts)
		moment();
	return written;
}

int fdatasync(int fd)
{
	static int (*real)(int);
	int synced;

	if (!real)
		real = dlsym(RTLD_NEXT, "fdatasync");
	moment();
	synced = real(fd);
	moment();
	return synced;
}

int fsync(int fd)
{
	static int (*real)(int);
	int synced;

	if (!real)
		real = dlsym(RTLD_NEXT, "fsync");
	moment();
	synced = real(fd);
	moment();
	return synced;
}
