/* What makes two problems alike enough that one's best values suit the other: family, type and
 * classes of size and shape. The one file that knows what is in a wfi_problem. */
#ifndef WFI_CHOOSE_KEY_H
#define WFI_CHOOSE_KEY_H

#include "plan/family.h"

#define WFI_MAX_CLASSES 16
#define WFI_CLASS_NAME 16

typedef struct wfi_class {
    char name[WFI_CLASS_NAME];
    int32_t value; /* sizes: half octaves, so 2 log2(size) rounded */
} wfi_class;

typedef struct wfi_key {
    wf_family family;
    wf_type type;
    uint32_t count;
    wfi_class classes[WFI_MAX_CLASSES];
} wfi_key;

#define WFI_KEY_FARTHEST 4 /* half octaves over all classes that may lie between like problems */
/* As many may lie between a problem and the row that is chosen for it untried: the row of 1000 x 2000 x 3000, 3 away,
 * took 433 us at 2048^3 on an H100, the model's point 375. */
#define WFI_KEY_CHOSEN 2

wfi_key wfi_key_of(const wfi_problem *problem);

bool wfi_key_equal(const wfi_key *a, const wfi_key *b);

/* How far distance two problems are, in half octaves over all classes; < 0: what is best for one says
 * nothing about the other (a different family, type or kind, or a size over twice the other). */
int wfi_key_distance(const wfi_key *a, const wfi_key *b);

/* The problem in a few characters, "1000x2000x3000". */
void wfi_problem_text(const wfi_problem *problem, char *text, size_t bytes);

#endif
