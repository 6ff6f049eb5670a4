/* Big integers for C: opaque columns, operations by name. README.md has an example.
 *
 * Made of src/lib.rs by cbindgen; `BIGINT_WRITE=1 cargo test -p bigint-c` writes it again. */

#ifndef BIGINT_H
#define BIGINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 How a call went. After any but `BIGINT_STATUS_OK` nothing was handed over.
 */
typedef enum bigint_status {
  /*
   It was done.
   */
  BIGINT_STATUS_OK = 0,
  /*
   An argument is null or means nothing, or columns do not go together.
   */
  BIGINT_STATUS_ARGUMENT = 1,
  /*
   A row has no value: it is divided by zero, has no inverse, or the like.
   */
  BIGINT_STATUS_NO_VALUE = 2,
  /*
   Memory ran out. Operands are as they were.
   */
  BIGINT_STATUS_OUT_OF_MEMORY = 3,
  /*
   A GPU, its driver, or the way to it.
   */
  BIGINT_STATUS_DEVICE = 4,
  /*
   A defect of the library.
   */
  BIGINT_STATUS_PANIC = 5,
} bigint_status;

/*
 Signed integers of any lengths, which never change. Calls of several threads may use one column
 at a time.
 */
typedef struct bigint_column bigint_column;

/*
 Who computes. Calls of several threads may use one engine at a time.
 */
typedef struct bigint_engine bigint_engine;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 What the last call of this thread that did not go well has to say. Never null; the text stays
 until the thread's next such call.
 */
const char *bigint_error(void);

/*
 Makes an engine: `"auto"` or null for the GPUs that there are and else the CPU, `"cpu"`,
 `"cuda:0"`, or `"cuda:0,1"` for several.

 # Safety
 `back_end` is null or a text that ends with 0; `engine` is null or takes a pointer.
 */
enum bigint_status bigint_engine_new(const char *back_end, struct bigint_engine **engine);

/*
 Gives an engine back; null is none. Columns do not need it any more.

 # Safety
 `engine` is null or an engine that is not used any more.
 */
void bigint_engine_free(struct bigint_engine *engine);

/*
 Makes a column of `count` numbers of `width` limbs of 32 bits each, number after number, the
 lowest limb first. Where `negative` is not null, a number is negative whose byte there is not 0.

 # Safety
 `limbs` has `count * width` limbs, `negative` is null or has `count` bytes, `column` is null or
 takes a pointer.
 */
enum bigint_status bigint_column_from_limbs(const uint32_t *limbs,
                                            size_t count,
                                            size_t width,
                                            const uint8_t *negative,
                                            struct bigint_column **column);

/*
 Makes a column of `count` texts: decimal digits, or those of another base after `0x`, `0o` or
 `0b`; `-` or `+` before them or not, `_` between two of them or not.

 # Safety
 `texts` has `count` texts that end with 0; `column` is null or takes a pointer.
 */
enum bigint_status bigint_column_from_texts(const char *const *texts,
                                            size_t count,
                                            struct bigint_column **column);

/*
 Makes a column of `count` machine integers.

 # Safety
 `numbers` has `count` of them; `column` is null or takes a pointer.
 */
enum bigint_status bigint_column_from_int64(const int64_t *numbers,
                                            size_t count,
                                            struct bigint_column **column);

/*
 Gives a column back; null is none.

 # Safety
 `column` is null or a column that is not used any more.
 */
void bigint_column_free(struct bigint_column *column);

/*
 How many numbers a column has; 0 of null.

 # Safety
 `column` is null or a column.
 */
size_t bigint_column_count(const struct bigint_column *column);

/*
 The limbs of the longest number of a column, 1 at least; 0 of null.

 # Safety
 `column` is null or a column.
 */
size_t bigint_column_width(const struct bigint_column *column);

/*
 Copies the magnitudes out, `width` limbs to each number, zeros on top, and which are negative.

 # Safety
 `column` is null or a column; `limbs` takes `width` limbs for each of its numbers, and `negative`
 is null or takes a byte for each.
 */
enum bigint_status bigint_column_limbs(const struct bigint_column *column,
                                       uint32_t *limbs,
                                       size_t width,
                                       uint8_t *negative);

/*
 Writes number `index` in decimal digits, or in hexadecimal ones after `0x` where `base` is 16.
 The text goes back to `bigint_text_free`.

 # Safety
 `column` is null or a column; `text` is null or takes a pointer.
 */
enum bigint_status bigint_column_text(const struct bigint_column *column,
                                      size_t index,
                                      uint32_t base,
                                      char **text);

/*
 Gives a text of `bigint_column_text` back; null is none.

 # Safety
 `text` is null or such a text, which is not used any more.
 */
void bigint_text_free(char *text);

/*
 Tells operation `index`, counted from 0: its name, its operands and its results. False past the
 last.

 # Safety
 `name`, `operands` and `results` are null or take what is told; the name stays forever.
 */
bool bigint_operation(size_t index, const char **name, size_t *operands, size_t *results);

/*
 Computes an operation, row by row: its name is as `bigint_operation` tells it, or as the
 command writes it (`powmod`). Operands are columns of as many numbers each, or one number that
 stands for all; quotients are rounded down. `results` takes as many columns as the operation
 has results.

 Where `no_value` is not null, it takes a byte for each row: 1 where the row has no value, as a
 division by zero has none, and 0 else; the row's results are zero then. Where it is null, such
 a row is `BIGINT_STATUS_NO_VALUE`.

 # Safety
 `engine` is null or an engine, `operands` has `operand_count` columns, `results` takes
 `result_count` pointers, and `no_value` is null or takes a byte for each row.
 */
enum bigint_status bigint_apply(const struct bigint_engine *engine,
                                const char *operation,
                                const struct bigint_column *const *operands,
                                size_t operand_count,
                                struct bigint_column **results,
                                size_t result_count,
                                uint8_t *no_value);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* BIGINT_H */
