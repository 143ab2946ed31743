// Numbers as the sum of two floats, about 48 bits (Dekker 1971). Everything is `precise`, since the
// low float would be lost if a compiler rearranged sums. Factors are halved into shorter ones
// (Veltkamp), since fma() may be rounded twice.
vec2 two_sum(float a, float b)
{
    precise float sum = a + b;
    precise float b_seen = sum - a;
    precise float a_seen = sum - b_seen;
    precise float error = (a - a_seen) + (b - b_seen);
    return vec2(sum, error);
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
    precise float error =
        ((as.x * bs.x - product) + as.x * bs.y + as.y * bs.x) + as.y * bs.y;
    return vec2(product, error);
}

vec2 ds_add(vec2 a, vec2 b)
{
    vec2 high = two_sum(a.x, b.x), low = two_sum(a.y, b.y);
    precise float carry = high.y + low.x;
    high = two_sum(high.x, carry);
    precise float error = high.y + low.y;
    return two_sum(high.x, error);
}

vec2 ds_multiply(vec2 a, vec2 b)
{
    vec2 product = two_product(a.x, b.x);
    precise float error = product.y + (a.x * b.y + a.y * b.x);
    return two_sum(product.x, error);
}
