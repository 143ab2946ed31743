#include "lines.c"
