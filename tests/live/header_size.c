/* A preloaded library for programs that use ibsim without libibumad. ibsim's library asks libibumad for the size of the
 * header, and libibumad knows the current one only after it has opened a port itself. */
#include <stddef.h>

#define CURRENT_HEADER 64

size_t umad_size(void)
{
	return CURRENT_HEADER;
}

void *umad_get_mad(void *packet)
{
	return (char *)packet + CURRENT_HEADER;
}
