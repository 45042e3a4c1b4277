#pragma once
#include <stddef.h>

// How many bytes the C heap has handed out and not got back, over all arenas; 0 where that is not
// known (only glibc says it).
size_t heap_bytes_in_use(void);
