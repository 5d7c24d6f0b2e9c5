/* Split a text into pieces as the published patterns do: gpt2, gpt4, gpt4o, llama3, qwen2 and
   similar ones.

   They share one grammar, with different sets of characters. At each place, the first line that
   matches is the next piece:

       contraction                's 't 'm 'd 're 've 'll (or at the end of a word, or nowhere)
       prefix? upper* lower+      a word
       prefix? upper+
       number{1,n}                or, if n is unlimited, " "? number+
       " "? sign+ tail*
       space+                     at the end of the text (if `end_first`)
       space* newline             up to the last newline of white space (if `lines`)
       space+                     without the last of several, if another piece follows

   A pattern that ignores case has the same letters in UPPER and LOWER. The caller fills the sets
   with the module `regex`, so that the kernel and Python use the same version of Unicode.

   scan.c finds one piece at a time, windows.c many pieces of ASCII at a time. */

#ifndef BPESCOPE_SCAN_H
#define BPESCOPE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The sets of characters; a character is in any number of them. */
enum {
    UPPER = 1,
    LOWER = 2,
    PREFIX = 4,
    NUMBER = 8,
    SIGN = 16,
    TAIL = 32,
    SPACE = 64,
    NEWLINE = 128,
};

enum { N_CODE_POINTS = 0x110000 };

enum contractions { NO_CONTRACTIONS, LOWER_CASE_CONTRACTIONS, CONTRACTIONS, CONTRACTION_SUFFIXES };

typedef struct {
    enum contractions contractions;
    size_t max_digits; /* 0: any number, and a space may precede them */
    bool lines;        /* see the grammar */
    bool end_first;    /* see the grammar */
    bool usual; /* ASCII characters have the sets of published patterns, as windows.c assumes */
    /* The sets of each code point: at least one of UPPER, LOWER, NUMBER, SIGN and SPACE. */
    uint8_t sets[N_CODE_POINTS];
} scanner;

/* Return the end of the piece that begins at `at` < n, in UTF-8 text of `n` bytes. It is greater
   than `at` and at most `n`.

   Takes linear time over a whole text. An invalid byte counts as one U+FFFD. `text` must be a whole
   text, or end where a piece ends for certain. Needs no GIL; a scanner may be used by many threads.
 */
size_t piece_end(const scanner *scanner, const uint8_t *text, size_t at, size_t n);

/* Write the ends of pieces, from `at` < n on, into `ends`, which has room for at least 64. Return
   their number, at least one. Gives the same ends as piece_end, but faster. */
size_t piece_ends(const scanner *scanner, const uint8_t *text, size_t at, size_t n, size_t *ends,
                  size_t room);

/* Return the end of the contraction that begins at `at`; `at` if none does. */
size_t contraction_end(const scanner *scanner, const uint8_t *text, size_t at, size_t n);

/* Return the last place where a part of a text may be cut, because a piece ends there for any text
   around it; 0 if none is found. The place is after a newline between two characters that no line
   of the grammar joins to white space. */
size_t last_cut(const scanner *scanner, const uint8_t *text, size_t n);

#endif
