/*
 * How long OpenSM's routing takes, told by OpenSM itself. It reports entry to and exit from its functions to
 * osm_log_v2 at the level of functions, whether that level is logged or not. Loaded before libopensm, this takes the
 * calls and notes the clock at three of them:
 *
 *   entry of osm_ucast_mgr_process     routing begins
 *   entry of ucast_mgr_set_fwd_top     tables are computed, the first is about to be sent
 *   exit of osm_ucast_mgr_process      with nothing computed: the engine has given up
 *
 * A line "begun", "computed CPU WALL" or "failed CPU WALL" is added to the file that ROUTING_TIME names. CPU is that of
 * the routing thread, so other work on the machine does not count.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FUNCTIONS = 0x10, LONGEST = 8192 };

typedef void (*log_function)(void *, int, int, const char *, ...);

static pthread_t router;
static int routing, computed;
static double cpu_begun, wall_begun;

static double seconds(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static void note(const char *word)
{
	double cpu = seconds(CLOCK_THREAD_CPUTIME_ID) - cpu_begun;
	double wall = seconds(CLOCK_MONOTONIC) - wall_begun;
	const char *path = getenv("ROUTING_TIME");
	FILE *out = path ? fopen(path, "a") : NULL;

	if (!out)
		return;
	fprintf(out, "%s %.6f %.6f\n", word, cpu, wall);
	fclose(out);
}

static void enter(const char *function)
{
	if (!strcmp(function, "osm_ucast_mgr_process")) {
		router = pthread_self();
		computed = 0;
		routing = 1;
		cpu_begun = seconds(CLOCK_THREAD_CPUTIME_ID);
		wall_begun = seconds(CLOCK_MONOTONIC);
		note("begun");
	} else if (routing && !computed && pthread_equal(router, pthread_self()) &&
		   !strcmp(function, "ucast_mgr_set_fwd_top")) {
		computed = 1;
		note("computed");
	}
}

static void leave(const char *function)
{
	if (routing && !strcmp(function, "osm_ucast_mgr_process")) {
		routing = 0;
		if (!computed)
			note("failed");
	}
}

void osm_log_v2(void *log, int level, int file, const char *format, ...)
{
	static log_function next;
	char text[LONGEST];
	va_list words;

	if (!next)
		next = (log_function)dlsym(RTLD_NEXT, "osm_log_v2");
	va_start(words, format);
	if (level == FUNCTIONS) {
		/* "%s: [" on entry, "%s: ]" on exit. */
		if (!strncmp(format, "%s: [", 5))
			enter(va_arg(words, const char *));
		else if (!strncmp(format, "%s: ]", 5))
			leave(va_arg(words, const char *));
	} else if (next) {
		vsnprintf(text, sizeof(text), format, words);
		next(log, level, file, "%s", text);
	}
	va_end(words);
}
