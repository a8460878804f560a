/* Small functions of the kind that every program has. The tutorial on programs compares what a
   compiler makes of them. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void sort_insertion(int *a, int n) {
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i;
        while (j > 0 && a[j - 1] > x) {
            a[j] = a[j - 1];
            j--;
        }
        a[j] = x;
    }
}

static void sift(int *a, int i, int n) {
    for (;;) {
        int child = 2 * i + 1;
        if (child >= n) return;
        if (child + 1 < n && a[child + 1] > a[child]) child++;
        if (a[i] >= a[child]) return;
        int x = a[i];
        a[i] = a[child];
        a[child] = x;
        i = child;
    }
}

void sort_heap(int *a, int n) {
    for (int i = n / 2 - 1; i >= 0; i--) sift(a, i, n);
    while (n > 1) {
        int x = a[0];
        a[0] = a[--n];
        a[n] = x;
        sift(a, 0, n);
    }
}

int search_binary(const int *a, int n, int x) {
    int lo = 0, hi = n;
    while (lo < hi) {
        int mid = lo + (hi - lo) / 2;
        if (a[mid] < x) lo = mid + 1;
        else hi = mid;
    }
    return lo < n && a[lo] == x ? lo : -1;
}

uint32_t checksum(const unsigned char *p, size_t n) {
    uint32_t c = ~0u;
    while (n--) {
        c ^= *p++;
        for (int k = 0; k < 8; k++) c = c & 1 ? c >> 1 ^ 0xedb88320u : c >> 1;
    }
    return ~c;
}

int gcd(int a, int b) {
    while (b) {
        int r = a % b;
        a = b;
        b = r;
    }
    return a;
}

int is_prime(unsigned n) {
    if (n < 2) return 0;
    for (unsigned d = 2; d * d <= n; d++)
        if (n % d == 0) return 0;
    return 1;
}

long parse_number(const char *s, int *ok) {
    long x = 0;
    int negative = *s == '-';
    if (*s == '-' || *s == '+') s++;
    *ok = *s != 0;
    for (; *s; s++) {
        if (*s < '0' || *s > '9') {
            *ok = 0;
            return 0;
        }
        x = 10 * x + (*s - '0');
    }
    return negative ? -x : x;
}

size_t encode_base64(const unsigned char *in, size_t n, char *out) {
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *o = out;
    for (size_t i = 0; i < n; i += 3) {
        unsigned v = in[i] << 16;
        if (i + 1 < n) v |= in[i + 1] << 8;
        if (i + 2 < n) v |= in[i + 2];
        *o++ = set[v >> 18];
        *o++ = set[v >> 12 & 63];
        *o++ = i + 1 < n ? set[v >> 6 & 63] : '=';
        *o++ = i + 2 < n ? set[v & 63] : '=';
    }
    *o = 0;
    return o - out;
}

int valid_utf8(const unsigned char *s) {
    while (*s) {
        int more;
        if (*s < 0x80) more = 0;
        else if (*s >> 5 == 6) more = 1;
        else if (*s >> 4 == 14) more = 2;
        else if (*s >> 3 == 30) more = 3;
        else return 0;
        for (s++; more > 0; more--, s++)
            if (*s >> 6 != 2) return 0;
    }
    return 1;
}

struct cell {
    struct cell *next;
    const char *key;
    int value;
};

struct cell *list_reverse(struct cell *c) {
    struct cell *done = NULL;
    while (c) {
        struct cell *next = c->next;
        c->next = done;
        done = c;
        c = next;
    }
    return done;
}

struct map {
    struct cell *bucket[64];
};

static unsigned hash(const char *key) {
    unsigned h = 5381;
    while (*key) h = 33 * h + (unsigned char)*key++;
    return h % 64;
}

int *map_find(struct map *m, const char *key) {
    for (struct cell *c = m->bucket[hash(key)]; c; c = c->next)
        if (strcmp(c->key, key) == 0) return &c->value;
    return NULL;
}

int map_set(struct map *m, const char *key, int value) {
    int *have = map_find(m, key);
    if (have) {
        *have = value;
        return 1;
    }
    struct cell *c = malloc(sizeof *c);
    if (!c) return 0;
    unsigned h = hash(key);
    *c = (struct cell){m->bucket[h], key, value};
    m->bucket[h] = c;
    return 1;
}

struct tree {
    struct tree *left, *right;
    int key;
};

int tree_insert(struct tree **t, int key) {
    while (*t) {
        if (key == (*t)->key) return 0;
        t = key < (*t)->key ? &(*t)->left : &(*t)->right;
    }
    *t = calloc(1, sizeof **t);
    if (!*t) return -1;
    (*t)->key = key;
    return 1;
}

void matrix_product(int n, const double *a, const double *b, double *c) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
            c[i * n + j] = sum;
        }
}

int edit_distance(const char *a, const char *b) {
    int n = strlen(a), m = strlen(b), row[256];
    if (m > 255) return -1;
    for (int j = 0; j <= m; j++) row[j] = j;
    for (int i = 1; i <= n; i++) {
        int before = row[0];
        row[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = before + (a[i - 1] != b[j - 1]);
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            before = row[j];
            row[j] = best;
        }
    }
    return row[m];
}

int state_of(const char *s) {
    int state = 0;
    for (; *s; s++) switch (state) {
        case 0: state = *s == '"' ? 1 : *s == '/' ? 2 : 0; break;
        case 1: state = *s == '\\' ? 3 : *s == '"' ? 0 : 1; break;
        case 2: state = *s == '/' ? 4 : *s == '*' ? 5 : 0; break;
        case 3: state = 1; break;
        case 4: state = *s == '\n' ? 0 : 4; break;
        default: state = *s == '*' ? 6 : *s == '/' && state == 6 ? 0 : 5; break;
        }
    return state;
}
