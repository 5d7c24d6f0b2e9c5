/* Splitting a text into pieces as the published patterns do: gpt2, gpt4, gpt4o, llama3, qwen2 and
   their like.

   All of them are one grammar with different sets of characters. At each place the first of these
   that matches is the next piece:

       contraction                   's 't 'm 'd 're 've 'll      (or at the end of a word, or
   nowhere) prefix? upper* lower+         a word prefix? upper+ number{1,n}                   or,
   where n is unlimited, " "? number+ " "? sign+ tail* space+ at the end of the text (where
   `end_first`) space* newline                up to the last newline of white space (where `lines`)
       space+                        but for its last character where another piece follows and
   there are several

   A pattern that does not tell upper from lower case has the same letters in both sets. Which
   characters are in which set is told from outside, by the module `regex`, so that there is one
   opinion about Unicode. */

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
    NEWLINE = 128
};

enum { N_CODE_POINTS = 0x110000 };

enum contractions { NO_CONTRACTIONS, LOWER_CASE_CONTRACTIONS, CONTRACTIONS, CONTRACTION_SUFFIXES };

typedef struct {
    enum contractions contractions;
    size_t max_digits; /* 0: any number, and a space may stand before them */
    bool lines;
    bool end_first;
    bool usual; /* ASCII is in the sets that it is in by the published patterns, as the windows take
                   it to be */
    uint8_t sets[N_CODE_POINTS]; /* of each code point; each is in one of UPPER, LOWER, NUMBER, SIGN
                                    and SPACE at least */
} scanner;

/* The end of the piece that begins at `at` in UTF-8 text of `n` bytes, at < n; greater than `at`,
   at most `n`.

   Linear in time over a whole text. A byte that is no UTF-8 counts as U+FFFD, alone. `text` must be
   a whole text or end where a piece surely ends. Needs no GIL; a scanner may be used by many
   threads. */
size_t piece_end(const scanner *scanner, const uint8_t *text, size_t at, size_t n);

/* Write the ends of pieces, the first of which begins at `at` < n, into `ends`, which has room for
   64 or more: how many there are, at least one. They are those that piece_end gives one by one, in
   less time. */
size_t piece_ends(const scanner *scanner, const uint8_t *text, size_t at, size_t n, size_t *ends,
                  size_t room);

/* The end of the contraction that begins at `at`, or `at`. */
size_t contraction_end(const scanner *scanner, const uint8_t *text, size_t at, size_t n);

/* The last place > 0 of a part of a text where it may be cut, since a piece ends there whatever
   else the text holds; 0 if none is seen. It is behind a newline that stands between two characters
   which no alternative of the grammar joins to white space. */
size_t last_cut(const scanner *scanner, const uint8_t *text, size_t n);

#endif
