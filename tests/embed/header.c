#include <wavefit/wavefit.h>
