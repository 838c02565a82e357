/* Debian's ibtopodiff writes a GUID of 18 signs and its end into 18 bytes, and the checked sprintf aborts it, even on its own
 * example. This one cuts the text to the room that it has. */
#include <stdarg.h>
#include <stdio.h>

int __sprintf_chk(char *text, int flag, size_t room, const char *format, ...) {
    va_list args;
    (void)flag;
    va_start(args, format);
    int length = vsnprintf(text, room, format, args);
    va_end(args);
    return length;
}
