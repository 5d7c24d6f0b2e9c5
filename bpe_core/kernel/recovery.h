/* Merges found again where only ranks are known: two neighbors join if their joined bytes are a token.

   What a token is made of is what its bytes become under the smaller ranks. If that is two parts, no text ever joins it
   from another two: until it is made, the same merges happen inside of it whatever stands around it. If it is more, or
   if ranks are equal, any two tokens that join to it may make it. */

#ifndef BPESCOPE_RECOVERY_H
#define BPESCOPE_RECOVERY_H

#include "merge.h"
#include "tokens.h"

/* Fill `rules` so that merging by them is merging by ranks. `tokens` are in the order of their ranks. */
outcome recover(const token_table *tokens, const symbol_set *symbols, rule_table *rules, workspace *space);

#endif
