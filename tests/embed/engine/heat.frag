#version 450
// Temperature to colour: black, red, yellow, white.
layout(location = 0) in vec2 uv;
layout(location = 0) out vec4 colour;
layout(binding = 0) uniform sampler2D temperature;

void main()
{
    float t = clamp(texture(temperature, uv).r, 0.0, 1.0);
    colour = vec4(clamp(3.0 * t, 0.0, 1.0), clamp(3.0 * t - 1.0, 0.0, 1.0),
                  clamp(3.0 * t - 2.0, 0.0, 1.0), 1.0);
}
