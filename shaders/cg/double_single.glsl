// Numbers as the sum of two floats, about 48 bits (Dekker 1971). Everything is precise: a compiler
// that rearranged it would lose the low part. Products are split by hand, since fma() may be rounded
// twice.
vec2 two_sum(float a, float b)
{
    precise float sum = a + b;
    precise float b_seen = sum - a;
    precise float a_seen = sum - b_seen;
    precise float rest = (a - a_seen) + (b - b_seen);
    return vec2(sum, rest);
}

vec2 split(float a)
{
    precise float scaled = 4097.0 * a;
    precise float high = scaled - (scaled - a);
    precise float low = a - high;
    return vec2(high, low);
}

vec2 two_product(float a, float b)
{
    precise float product = a * b;
    vec2 as = split(a), bs = split(b);
    precise float rest =
        ((as.x * bs.x - product) + as.x * bs.y + as.y * bs.x) + as.y * bs.y;
    return vec2(product, rest);
}

vec2 ds_add(vec2 a, vec2 b)
{
    vec2 high = two_sum(a.x, b.x), low = two_sum(a.y, b.y);
    precise float carry = high.y + low.x;
    high = two_sum(high.x, carry);
    precise float rest = high.y + low.y;
    return two_sum(high.x, rest);
}

vec2 ds_multiply(vec2 a, vec2 b)
{
    vec2 product = two_product(a.x, b.x);
    precise float rest = product.y + (a.x * b.y + a.y * b.x);
    return two_sum(product.x, rest);
}
