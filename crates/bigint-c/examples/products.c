/* Products and quotients of columns, on the GPU where there is one. */

#include <bigint.h>
#include <stdio.h>
#include <stdlib.h>

static void check(bigint_status status) {
    if (status != BIGINT_STATUS_OK) {
        fprintf(stderr, "error %d: %s\n", (int)status, bigint_error());
        exit(1);
    }
}

static void print(const char *name, const bigint_column *column) {
    printf("%s:", name);
    for (size_t i = 0; i < bigint_column_count(column); i++) {
        char *text;
        check(bigint_column_text(column, i, 10, &text));
        printf(" %s", text);
        bigint_text_free(text);
    }
    printf("\n");
}

int main(void) {
    bigint_engine *engine;
    check(bigint_engine_new("auto", &engine));

    /* Three numbers of two limbs, the lowest limb first; the second one is negative. */
    const uint32_t limbs[] = {7, 0, 0, 1, 0xffffffff, 0xffffffff};
    const uint8_t negative[] = {0, 1, 0};
    bigint_column *a, *b;
    check(bigint_column_from_limbs(limbs, 3, 2, negative, &a));
    const char *texts[] = {"1_000_000_000_000_000_000_000", "-0xff", "0"};
    check(bigint_column_from_texts(texts, 3, &b));

    const bigint_column *operands[] = {a, b};
    bigint_column *product;
    check(bigint_apply(engine, "mul", operands, 2, &product, 1, NULL));
    print("products", product);

    /* A row that is divided by zero is told by its flag. */
    bigint_column *quotient;
    uint8_t no_value[3];
    check(bigint_apply(engine, "div", operands, 2, &quotient, 1, no_value));
    print("quotients", quotient);
    printf("without a value: %d %d %d\n", no_value[0], no_value[1], no_value[2]);

    /* Back as limbs. */
    size_t width = bigint_column_width(product);
    uint32_t *fetched = malloc(bigint_column_count(product) * width * sizeof *fetched);
    check(bigint_column_limbs(product, fetched, width, NULL));
    printf("lowest limb of the first product: %08x\n", (unsigned)fetched[0]);
    free(fetched);

    /* Without flags it is an error, which says what happened. */
    bigint_column *none = NULL;
    if (bigint_apply(engine, "div", operands, 2, &none, 1, NULL) != BIGINT_STATUS_OK) {
        printf("refused: %s\n", bigint_error());
    }

    bigint_column_free(quotient);
    bigint_column_free(product);
    bigint_column_free(b);
    bigint_column_free(a);
    bigint_engine_free(engine);
    return 0;
}
