/* The recovery of merges from ranks. */

#include "recovery.h"

/* Make every two tokens that join to `whole` a pair. */
static bool add_splits(const token_table *tokens, const token *whole, rule_table *rules)
{
    const uint8_t *bytes = tokens->bytes + whole->start;
    for (size_t n = 1; n < whole->n; n++) {
        const token *left = tokens_find(tokens, bytes, n);
        const token *right = left ? tokens_find(tokens, bytes + n, whole->n - n) : NULL;
        if (right && !rules_add(rules, left->id, right->id, (merge_rule){whole->rank, whole->id}))
            return false;
    }
    return true;
}

static bool in_order(const token_table *tokens)
{
    for (size_t i = 1; i < tokens->n_tokens; i++)
        if (tokens->tokens[i].rank <= tokens->tokens[i - 1].rank)
            return false;
    return true;
}

outcome recover(const token_table *tokens, const symbol_set *symbols, rule_table *rules, workspace *space)
{
    bool is_in_order = in_order(tokens);
    id_list parts = {0};
    outcome outcome = ENCODED;
    for (const token *whole = tokens->tokens; whole < tokens->tokens + tokens->n_tokens; whole++) {
        if (whole->n < 2)
            continue;
        parts.n = 0;
        outcome = merge_piece(rules, symbols, NO_RANK, tokens->bytes + whole->start, whole->n, space, &parts);
        if (outcome != ENCODED)
            break;
        bool is_added = is_in_order && parts.n == 2
                            ? rules_add(rules, parts.at[0], parts.at[1], (merge_rule){whole->rank, whole->id})
                            : add_splits(tokens, whole, rules);
        if (!is_added) {
            outcome = OUT_OF_MEMORY;
            break;
        }
    }
    PyMem_RawFree(parts.at);
    return outcome;
}
